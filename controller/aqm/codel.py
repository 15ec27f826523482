"""CoDel in the P4 program (`p4/aqm/codel.p4`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from narrows.controller.aqm.record import (
    DROPS,
    LONGEST_PS,
    MARKS,
    PortDiscipline,
    ecn,
    parameter,
    whole_ns,
)


def encode(parameters: Mapping[str, float], rate_bps: int) -> dict[str, int]:
    """See `PortDiscipline`."""
    return {
        "codel_target": whole_ns(parameters["target"]),
        "codel_interval": whole_ns(parameters["interval"]),
        "codel_ecn": int(parameters["ecn"]),
    }


CODEL: Final = PortDiscipline(
    {
        "name": "p4-codel",
        "title": "controlled delay in the P4 program: drops after the queue while its delay "
        "exceeds a target",
        "reference": "RFC 8289; Kundel et al., P4-CoDel, IEEE NFV-SDN 2018",
        "parameters": [
            parameter(
                "target", "duration", 5e9, 1e3, LONGEST_PS,
                "acceptable sojourn time of a standing queue, in whole nanoseconds "
                "(bmv2: microseconds); 5 ms: RFC 8289 section 4.2",
            ),
            parameter(
                "interval", "duration", 1e11, 1e3, 1e14,
                "time above target before the first drop, in whole nanoseconds (bmv2: "
                "microseconds); 100 ms: RFC 8289 section 4.3",
            ),
            ecn("RFC 8289 section 3.1"),
        ],
        "drops": [DROPS],
        "marks": [MARKS],
        "is_fifo": True,
        "not_implemented": [
            "a bound in bytes: no drop with at most one packet behind, of any length",
            "the direction of the ACKs, which has the DropTail queue alone",
        ],
    },
    "codel",
    "control_delay",
    encode,
    frozenset({"codel_target", "codel_interval"}),
)  # fmt: skip
