"""The engine's records: variants, senders of datagrams, recoveries, profiles, workloads, queue
disciplines.

Help, scenario checks, docs and tests iterate these lists; nothing here repeats a name.
"""

from __future__ import annotations

import difflib
import functools
from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, TypedDict, TypeVar, overload

from narrows.controller import aqm
from narrows.testbed.paths import ROOT

if TYPE_CHECKING:
    from narrows.schema.profile import ProfileRecord
    from narrows.schema.records import (
        AgentRecord,
        DisciplineRecord,
        RecoveryRecord,
        SenderRecord,
        SinkRecord,
        VariantRecord,
        WorkloadRecord,
    )

KINDS = (
    "variants", "senders", "recoveries", "profiles", "workloads", "disciplines", "agents",
    "sinks",
)  # fmt: skip
VALIDATION = ROOT / "docs/reports/validation.md"


class NamedRecord(TypedDict):
    """What each record has."""

    name: str
    title: str


class AliasedRecord(NamedRecord):
    """What the records of ns-2's sources and sinks have."""

    aliases: list[str]


Record = TypeVar("Record", bound=NamedRecord)
Aliased = TypeVar("Aliased", bound=AliasedRecord)


@overload
def records(kind: Literal["variants"]) -> tuple[VariantRecord, ...]: ...
@overload
def records(kind: Literal["senders"]) -> tuple[SenderRecord, ...]: ...
@overload
def records(kind: Literal["recoveries"]) -> tuple[RecoveryRecord, ...]: ...
@overload
def records(kind: Literal["profiles"]) -> tuple[ProfileRecord, ...]: ...
@overload
def records(kind: Literal["workloads"]) -> tuple[WorkloadRecord, ...]: ...
@overload
def records(kind: Literal["disciplines"]) -> tuple[DisciplineRecord, ...]: ...
@overload
def records(kind: Literal["agents"]) -> tuple[AgentRecord, ...]: ...
@overload
def records(kind: Literal["sinks"]) -> tuple[SinkRecord, ...]: ...
@overload
def records(kind: str) -> tuple[NamedRecord, ...]: ...
def records(kind: str) -> tuple[NamedRecord, ...]:
    """The engine's records of a kind (one of `KINDS`). Raises `EngineMissingError`."""
    return _records(kind)


@functools.cache
def _records(kind: str) -> tuple[NamedRecord, ...]:
    from narrows.testbed import engine

    return (*getattr(engine, kind)(), *(aqm.RECORDS if kind == "disciplines" else ()))


def names(kind: str) -> list[str]:
    """The names of all records of a kind, ns-2's other names included."""
    found = []
    for each in records(kind):
        aliases = each.get("aliases")
        found += [each["name"], *(aliases if isinstance(aliases, list) else ())]
    return found


def record(kind: str, name: str) -> NamedRecord:
    """The record with this name. Raises `ValueError`, naming the most similar one."""
    return _named(records(kind), kind, name)


def _named(among: tuple[Record, ...], kind: str, name: str) -> Record:
    for found in among:
        if found["name"] == name:
            return found
    singular = {"recoveries": "recovery"}.get(kind, kind.removesuffix("s"))
    raise ValueError(unknown(singular, name, (found["name"] for found in among)))


def profile(name: str) -> ProfileRecord:
    """The record of a profile. Raises `ValueError`."""
    return _named(records("profiles"), "profiles", name)


def discipline(name: str) -> DisciplineRecord:
    """The record of a queue discipline. Raises `ValueError`."""
    return _named(records("disciplines"), "disciplines", name)


def workload(kind: str) -> WorkloadRecord:
    """The record of a workload. Raises `ValueError`."""
    return _named(records("workloads"), "workloads", kind)


def is_agent(name: str) -> bool:
    """True for the name of an ns-2 source."""
    return _by_ns2(name, records("agents")) is not None


def variant(name: str) -> VariantRecord | SenderRecord:
    """The record of a variant or datagram sender, by our name or ns-2's. Raises `ValueError`."""
    agent = _by_ns2(name, records("agents"))
    if (found := sender(name)) is not None:
        return found
    ours = name if agent is None else agent["variant"]
    return _named(records("variants"), "variants", ours)


def sender(name: str) -> SenderRecord | None:
    """The record of a sender of datagrams; `None` for a variant of TCP."""
    return next((found for found in records("senders") if found["name"] == name), None)


def recovery(name: str) -> RecoveryRecord:
    """The record of a recovery, by our name or ns-2's. Raises `ValueError`."""
    agent = _by_ns2(name, records("agents"))
    ours = name if agent is None else agent["recovery"]
    return _named(records("recoveries"), "recoveries", ours)


LINUX = "linux"
"""The profile whose recovery is Linux's; that of Linux 2.6.18 is none of ours."""


def default_recovery(variant: str, profile: str) -> str:
    """The recovery of a flow that names none, by its profile; `none` for datagrams."""
    if sender(variant):
        return "none"
    agent = _by_ns2(variant, records("agents"))
    if agent is not None:
        return agent["recovery"]
    return "linux" if profile == LINUX else "sack"


def segment_bytes(variant: str) -> int | None:
    """The segment size of an ns-2 source; `None` if the profile decides."""
    agent = _by_ns2(variant, records("agents"))
    return None if agent is None else agent["segment_bytes"]


def sink(name: str) -> SinkRecord:
    """The record of an ns-2 sink. Raises `ValueError`."""
    return _by_ns2(name, records("sinks")) or _named(records("sinks"), "sinks", name)


def _by_ns2(name: str, among: tuple[Aliased, ...]) -> Aliased | None:
    """The record with ns-2's name, or with one of its aliases."""
    return next((each for each in among if name == each["name"] or name in each["aliases"]), None)


@functools.cache
def checks(kind: str) -> dict[str, list[str]]:
    """The checks of each record of a kind (`variant`, `recovery`, `source`), by name.

    These are the columns of `docs/reports/validation.md` in which the record's row has an entry.
    Entries in brackets are shown for comparison and do not count as checks.
    """
    found: dict[str, list[str]] = {}
    columns: list[str] | None = None
    for line in VALIDATION.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line[:1] == "|" else []
        if not cells:
            columns = None
        elif cells[0] == kind:
            columns = cells[1:]
        elif columns and cells[0].startswith("`"):
            row = zip(columns, cells[1:], strict=True)
            held = [column for column, cell in row if cell and not cell.startswith("(")]
            found.setdefault(cells[0].strip("`"), []).extend(held)
    return found


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """`is an unknown <what>; did you mean …`, with the nearest known name or all of them."""
    names = list(known)
    near = difflib.get_close_matches(name, names, 1, 0.6)
    if near:
        return f'is an unknown {what}; did you mean "{near[0]}"?'
    return f"is an unknown {what}; expected one of {', '.join(names)}"
