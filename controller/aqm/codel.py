"""CoDel in the P4 program (`p4/aqm/codel.p4`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from narrows.controller.aqm.record import PortDiscipline, whole_ns


def encode(parameters: Mapping[str, float]) -> dict[str, int]:
    """See `PortDiscipline`."""
    return {
        "codel_target": whole_ns(parameters["target"]),
        "codel_interval": whole_ns(parameters["interval"]),
        "mark_instead": int(parameters["ecn"]),
    }


CODEL: Final = PortDiscipline(
    {
        "name": "p4-codel",
        "title": "controlled delay in the P4 program: drops after the queue while its delay "
        "exceeds a target",
        "reference": "RFC 8289; Kundel et al., P4-CoDel, IEEE NFV-SDN 2018",
        "parameters": [
            {
                "name": "target",
                "unit": "duration",
                "default": 5e9,
                "min": 1e3,
                "max": 4e12,
                "origin": "acceptable sojourn time of a standing queue, in whole nanoseconds "
                "(bmv2: microseconds); 5 ms: RFC 8289 section 4.2",
            },
            {
                "name": "interval",
                "unit": "duration",
                "default": 1e11,
                "min": 1e3,
                "max": 1e14,
                "origin": "time above target before the first drop, in whole nanoseconds (bmv2: "
                "microseconds); 100 ms: RFC 8289 section 4.3",
            },
            {
                "name": "ecn",
                "unit": "flag",
                "default": 0.0,
                "min": 0.0,
                "max": 1.0,
                "origin": "marks packets that can be marked instead of dropping them; "
                "RFC 8289 section 3.1",
            },
        ],
        "drops": [
            {"name": "egress-program", "meaning": "the program's egress marked the packet to drop"}
        ],
        "marks": [],
        "is_fifo": True,
        "not_implemented": [
            "rows of the ledger for marks: the program's counter `codel_marks` has their number",
            "a bound in bytes: no drop with at most one packet behind, of any length",
            "the direction of the ACKs, which has the DropTail queue alone",
        ],
    },
    "codel",
    "control_delay",
    encode,
    frozenset({"codel_target", "codel_interval"}),
)
