"""Queue disciplines that are stages of the P4 program (`p4/aqm/`), behind a DropTail queue.

Each has a record as the traffic manager's disciplines have, so scenarios and lists treat them
alike, and a `PortStage` that the controller writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from narrows.controller.stages import PortStage

if TYPE_CHECKING:
    from narrows.schema.records import DisciplineRecord

QUEUE: Final = "drop-tail"
"""The traffic manager's discipline before such a stage."""
PS_PER_NS: Final = 1000

CODEL: Final = PortStage("NarrowsEgress.codel.codel", "control_delay", "codel_target")
"""The stage of `p4-codel`, without its other parameters."""

CODEL_RECORD: Final[DisciplineRecord] = {
    "name": "p4-codel",
    "title": "controlled delay in the P4 program: drops after the queue while its delay exceeds "
    "a target",
    "reference": "RFC 8289; Kundel et al., P4-CoDel, IEEE NFV-SDN 2018",
    "parameters": [
        {
            "name": "target",
            "unit": "duration",
            "default": 5e9,
            "min": 1e3,
            "max": 4e12,
            "origin": "acceptable sojourn time of a standing queue, in whole nanoseconds; "
            "5 ms: RFC 8289 section 4.2",
        },
        {
            "name": "interval",
            "unit": "duration",
            "default": 1e11,
            "min": 1e3,
            "max": 1e14,
            "origin": "time above target before the first drop, in whole nanoseconds; "
            "100 ms: RFC 8289 section 4.3",
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
}

RECORDS: Final[tuple[DisciplineRecord, ...]] = (CODEL_RECORD,)


def is_stage(discipline: str) -> bool:
    """True for the name of a discipline that is a stage."""
    return any(record["name"] == discipline for record in RECORDS)


def stages(discipline: str, parameters: Mapping[str, float]) -> dict[PortStage, float]:
    """The stages of a discipline, with all parameters in base units, and their values; none if the
    traffic manager has it.
    """
    if discipline != CODEL_RECORD["name"]:
        return {}
    others = {
        "codel_interval": int(parameters["interval"]) // PS_PER_NS,
        "mark_instead": int(parameters["ecn"]),
    }
    return {replace(CODEL, constants=others): int(parameters["target"]) // PS_PER_NS}
