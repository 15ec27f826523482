"""RED in the P4 program (`p4/aqm/red.p4`)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

from narrows.controller.aqm.record import (
    DROPS,
    MARKS,
    MOST_32,
    MOST_40,
    NS_PER_S,
    PortDiscipline,
    ecn,
    fixed,
    flag,
    parameter,
    whole_ns,
)

MOST_HALVINGS: Final = 2**30 - 1
"""The program multiplies it by up to 2^34 ticks in 64 bits."""

TARGET_MARGIN: Final = 0.4
"""The average of an adaptive queue is kept within this share of the thresholds' distance from both
(Floyd, Gummadi and Shenker 2001).
"""


def encode(parameters: Mapping[str, float], rate_bps: int) -> dict[str, int]:
    """See `PortDiscipline`."""
    min_th, max_p, weight = (parameters[name] for name in ("min-th", "max-p", "weight"))
    max_th = max(parameters["max-th"], min_th)
    packets_per_s = rate_bps / (8 * parameters["mean-packet"])
    weight = weight or 1 - math.exp(-1 / packets_per_s)
    # With a weight of 1 the average is what the next packet leaves behind.
    halvings = -math.log2(1 - weight) * packets_per_s / NS_PER_S if weight < 1 else 1
    margin = TARGET_MARGIN * (max_th - min_th)
    slope = max_p / (max_th - min_th) if max_th > min_th else 0
    gentle = (1 - max_p) / max_th if max_th else 0
    return {
        "red_min_th": fixed(min_th, 16, MOST_40),
        "red_max_th": fixed(max_th, 16, MOST_40),
        "red_forced_th": fixed(max_th * (1 + parameters["gentle"]), 16, MOST_40),
        "red_max_p": fixed(max_p, 32, MOST_32),
        "red_slope": fixed(slope, 32, MOST_32),
        "red_gentle_slope": fixed(gentle, 32, MOST_32),
        "red_weight": max(fixed(weight, 16, MOST_32), 1),
        "red_idle_halvings": fixed(halvings, 40, MOST_HALVINGS),
        "red_ecn": int(parameters["ecn"]),
        "red_interval": whole_ns(parameters["interval"]) if parameters["adaptive"] else 0,
        "red_target_low": fixed(min_th + margin, 16, MOST_40),
        "red_target_high": fixed(max_th - margin, 16, MOST_40),
        "red_inverse_range": fixed(1 / max(max_th - min_th, 1), 32, MOST_32),
        "red_inverse_max_th": fixed(1 / max(max_th, 1), 32, MOST_32),
    }


RED: Final = PortDiscipline(
    {
        "name": "p4-red",
        "title": "random early detection in the P4 program: drops after the queue by its average "
        "length",
        "reference": "Floyd, Jacobson 1993; Floyd 2000 (gentle); "
        "Floyd, Gummadi, Shenker 2001 (adaptive)",
        "parameters": [
            parameter(
                "min-th", "number", 5.0, 0.0, 1e6,
                "average in packets above which drops begin; 5: Floyd and Jacobson 1993",
            ),
            parameter(
                "max-th", "number", 15.0, 0.0, 1e6,
                "average in packets at which the probability is max-p; 15: three times min-th, "
                "Floyd's recommendation of 1997",
            ),
            parameter(
                "max-p", "number", 0.1, 1e-4, 1.0,
                "probability at max-th, where an adaptive queue begins; 0.1: Floyd 1997",
            ),
            parameter(
                "weight", "number", 0.002, 0.0, 1.0,
                "share of a packet in the average, a multiple of 2^-16; 0.002: Floyd and Jacobson "
                "1993; 0: 1 - exp(-1/C) of the link's C packets a second (Floyd et al. 2001)",
            ),
            parameter(
                "mean-packet", "size", 500.0, 40.0, 65536.0,
                "packet by which idle time and C are counted, at the port's first rate; "
                "500 bytes: ns-2.35",
            ),
            flag(
                "gentle", 1.0,
                "the probability rises to 1 at twice max-th, not at once; on: Floyd 2000",
            ),
            flag("adaptive", 0.0, "max-p follows the average; off: Floyd and Jacobson 1993"),
            parameter(
                "interval", "duration", 5e11, 1e6, 1e14,
                "least time between changes of max-p, in whole nanoseconds (bmv2: microseconds); "
                "0.5 s: Floyd et al. 2001",
            ),
            ecn("off: ns-2.35"),
        ],
        "drops": [DROPS],
        "marks": [MARKS],
        "is_fifo": True,
        "not_implemented": [
            "thresholds in bytes",
            "the direction of the ACKs, which has the DropTail queue alone",
        ],
    },
    "red",
    "detect",
    encode,
    frozenset({"red_interval"}),
    {"red_idle_halvings": MOST_HALVINGS},
)  # fmt: skip
