"""Queue disciplines that are stages of the P4 program (`p4/aqm/`), behind a DropTail queue.

Each has a record as the traffic manager's disciplines have, so scenarios and lists treat them
alike, and an entry that the controller writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from narrows.controller.aqm.codel import CODEL
from narrows.controller.aqm.record import PortDiscipline
from narrows.controller.stages import PortStage
from narrows.controller.state import SwitchState

if TYPE_CHECKING:
    from narrows.schema.records import DisciplineRecord

QUEUE: Final = "drop-tail"
"""The traffic manager's discipline before such a stage."""

DISCIPLINES: Final[tuple[PortDiscipline, ...]] = (CODEL,)
RECORDS: Final[tuple[DisciplineRecord, ...]] = tuple(each.record for each in DISCIPLINES)


def is_stage(discipline: str) -> bool:
    """True for the name of a discipline that is a stage."""
    return any(record["name"] == discipline for record in RECORDS)


def stages(discipline: str, parameters: Mapping[str, float]) -> dict[PortStage, float]:
    """The stages of a discipline, with all parameters in base units, and their values; none if the
    traffic manager has it.
    """
    for each in DISCIPLINES:
        if each.record["name"] == discipline:
            constants = each.encode(parameters)
            return {PortStage(each.table, each.action, None, constants=constants): 1}
    return {}


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
