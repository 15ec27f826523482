"""PIE in the P4 program (`p4/aqm/pie.p4`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from narrows.controller.aqm.record import (
    DROPS,
    LONGEST_PS,
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

DECAY: Final = 0.02
"""RFC 8033 section 4.2: share of the probability that is lost in an update without delay."""


def encode(parameters: Mapping[str, float], rate_bps: int) -> dict[str, int]:
    """See `PortDiscipline`."""
    update = whole_ns(parameters["update"])
    return {
        "pie_target": whole_ns(parameters["target"]),
        "pie_update": update,
        "pie_alpha": fixed(parameters["alpha"] / NS_PER_S, 48, MOST_40),
        "pie_beta": fixed(parameters["beta"] / NS_PER_S, 48, MOST_40),
        "pie_idle_decay": fixed(DECAY / update, 48, MOST_32),
        "pie_max_burst": whole_ns(parameters["max-burst"]),
        "pie_mark_below": int(parameters["ecn"]) * fixed(parameters["mark-below"], 32, 2**32),
        "pie_spread": int(parameters["spread"]),
    }


PIE: Final = PortDiscipline(
    {
        "name": "p4-pie",
        "title": "proportional integral controller in the P4 program: drops after the queue by its "
        "delay",
        "reference": "RFC 8033; Kunze et al., Tofino + P4, 2021",
        "parameters": [
            parameter(
                "target", "duration", 1.5e10, 1e3, LONGEST_PS,
                "queueing delay that the controller aims at, in whole nanoseconds; "
                "15 ms: RFC 8033 section 4.2",
            ),
            parameter(
                "update", "duration", 1.5e10, 1e8, 1e13,
                "time between updates of the probability, in whole nanoseconds; "
                "15 ms: RFC 8033 section 4.2",
            ),
            parameter(
                "alpha", "number", 0.125, 0.0, 1000.0,
                "weight of the distance from the target, in Hz; 1/8: RFC 8033 section 4.2",
            ),
            parameter(
                "beta", "number", 1.25, 0.0, 1000.0,
                "weight of the change since the last update, in Hz; "
                "1 1/4: RFC 8033 section 4.2",
            ),
            parameter(
                "max-burst", "duration", 1.5e11, 0.0, 1e13,
                "time without early drops after a calm, in whole nanoseconds; "
                "150 ms: RFC 8033 section 4.4",
            ),
            ecn("RFC 8033 section 5.1"),
            parameter(
                "mark-below", "number", 0.1, 0.0, 1.0,
                "probability from which on packets are dropped even so; "
                "10 %: RFC 8033 section 5.1",
            ),
            flag(
                "spread", 1.0,
                "spreads drops by the accumulated probability; on: RFC 8033 section 5.4",
            ),
        ],
        "drops": [DROPS],
        "marks": [MARKS],
        "is_fifo": True,
        "not_implemented": [
            "updates while no packet leaves",
            "a threshold that turns PIE on (section 5.3)",
            "the direction of the ACKs, which has the DropTail queue alone",
        ],
    },
    "pie",
    "control_delay",
    encode,
    frozenset({"pie_target", "pie_update", "pie_max_burst"}),
    {"pie_alpha": MOST_40, "pie_beta": MOST_40, "pie_idle_decay": MOST_32},
)  # fmt: skip
