"""The engine's records: variants, senders of datagrams, recoveries, profiles, workloads, queue
disciplines.

Help, scenario checks, docs and tests iterate these lists; nothing here repeats a name.
"""

from __future__ import annotations

import difflib
import functools
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from narrows.testbed.paths import ROOT

if TYPE_CHECKING:
    from narrows.schema.profile import ProfileRecord
    from narrows.schema.records import (
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


@functools.cache
def records(kind: str) -> tuple[Any, ...]:
    """The engine's records of a kind (one of `KINDS`); each has at least `name` and `title`.
    Raises `EngineMissingError`.
    """
    from narrows.testbed import engine

    return tuple(getattr(engine, kind)())


def record(kind: str, name: str) -> Any:
    """The record with this name. Raises `ValueError`, naming the most similar one."""
    for found in records(kind):
        if found["name"] == name:
            return found
    singular = {"recoveries": "recovery"}.get(kind, kind.removesuffix("s"))
    raise ValueError(unknown(singular, name, (str(found["name"]) for found in records(kind))))


def profile(name: str) -> ProfileRecord:
    """The record of a profile. Raises `ValueError`."""
    found: ProfileRecord = record("profiles", name)
    return found


def discipline(name: str) -> DisciplineRecord:
    """The record of a queue discipline. Raises `ValueError`."""
    found: DisciplineRecord = record("disciplines", name)
    return found


def workload(kind: str) -> WorkloadRecord:
    """The record of a workload. Raises `ValueError`."""
    found: WorkloadRecord = record("workloads", kind)
    return found


def is_agent(name: str) -> bool:
    """True for the name of an ns-2 source."""
    return _by_ns2(name, "agents") is not None


def variant(name: str) -> VariantRecord | SenderRecord:
    """The record of a variant or datagram sender, by our name or ns-2's. Raises `ValueError`."""
    agent = _by_ns2(name, "agents")
    return sender(name) or record("variants", name if agent is None else agent["variant"])


def sender(name: str) -> SenderRecord | None:
    """The record of a sender of datagrams; `None` for a variant of TCP."""
    return next((found for found in records("senders") if found["name"] == name), None)


def recovery(name: str) -> RecoveryRecord:
    """The record of a recovery, by our name or ns-2's. Raises `ValueError`."""
    agent = _by_ns2(name, "agents")
    found: RecoveryRecord = record("recoveries", name if agent is None else agent["recovery"])
    return found


LINUX = "linux"
"""The profile whose recovery is Linux's; that of Linux 2.6.18 is none of ours."""


def default_recovery(variant: str, profile: str) -> str:
    """The recovery of a flow that names none, by its profile; `none` for datagrams."""
    if sender(variant):
        return "none"
    agent = _by_ns2(variant, "agents")
    if agent is not None:
        return str(agent["recovery"])
    return "linux" if profile == LINUX else "sack"


def segment_bytes(variant: str) -> int | None:
    """The segment size of an ns-2 source; `None` if the profile decides."""
    agent = _by_ns2(variant, "agents")
    return None if agent is None else agent["segment_bytes"]


def sink(name: str) -> SinkRecord:
    """The record of an ns-2 sink. Raises `ValueError`."""
    found: SinkRecord = _by_ns2(name, "sinks") or record("sinks", name)
    return found


def _by_ns2(name: str, kind: str) -> Any:
    found = (r for r in records(kind) if name == r["name"] or name in r["aliases"])
    return next(found, None)


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
