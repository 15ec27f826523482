"""Queue disciplines that are stages of the P4 program (`p4/aqm/`), behind a DropTail queue.

Each has a record as the traffic manager's disciplines have, so scenarios and lists treat them
alike, and entries that the controller writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from narrows.controller.aqm.codel import CODEL
from narrows.controller.aqm.dualpi2 import DUALPI2, with_copies
from narrows.controller.aqm.pie import PIE
from narrows.controller.aqm.record import CONTROL, PortDiscipline
from narrows.controller.aqm.red import RED
from narrows.controller.stages import PortStage
from narrows.controller.state import SwitchState

if TYPE_CHECKING:
    from narrows.schema.records import DisciplineRecord
    from narrows.schema.switch import QueueConfig

QUEUE: Final = "drop-tail"
"""The traffic manager's discipline before such a stage."""

DISCIPLINES: Final[tuple[PortDiscipline, ...]] = (CODEL, RED, PIE, DUALPI2)
RECORDS: Final[tuple[DisciplineRecord, ...]] = tuple(each.record for each in DISCIPLINES)
BY_NAME: Final = {each.record["name"]: each for each in DISCIPLINES}

__all__ = [
    "BY_NAME", "DISCIPLINES", "ON", "QUEUE", "RECORDS", "in_longer_ticks", "is_stage", "queues",
    "stages", "with_copies",
]  # fmt: skip

ON: Final = PortStage(f"{CONTROL}.discipline", "act", None)
"""The entry of a port that has one of them."""


def is_stage(discipline: str) -> bool:
    """True for the name of a discipline that is a stage."""
    return discipline in BY_NAME


def stages(
    discipline: str, parameters: Mapping[str, float], rate_bps: int
) -> dict[PortStage, float]:
    """The stages of a discipline at a port of this rate, with all parameters in base units, and
    their values; none if the traffic manager has it.
    """
    if discipline not in BY_NAME:
        return {}
    chosen = BY_NAME[discipline]
    constants = chosen.encode(parameters, rate_bps)
    acts = PortStage(chosen.table, chosen.action, None, constants=constants)
    return dict.fromkeys((ON, acts, *chosen.at_ingress(parameters)), 1.0)


def queues(discipline: str, parameters: Mapping[str, float]) -> list[QueueConfig]:
    """The traffic manager's queues of a port with this discipline; empty for a single one."""
    return BY_NAME[discipline].queues(parameters) if discipline in BY_NAME else []


def in_longer_ticks(state: SwitchState, tick_ns: int) -> SwitchState:
    """The state for a switch whose time stamps and delays are not in nanoseconds."""
    tables = {each.table: each for each in DISCIPLINES}
    entries = (
        replace(entry, params=tables[entry.table].in_longer_ticks(entry.params, tick_ns))
        if entry.table in tables
        else entry
        for entry in state.entries
    )
    return replace(state, entries=tuple(entries))
