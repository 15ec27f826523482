"""The state of a switch as plain data, and as a set of lines for comparison.

The same values serve every target: the plan of a `sim` run takes `TableEntry.as_json`, and a
P4Runtime client writes the same fields. A line reads
`table key=value -> action(parameter=value)`, so two states differ by a set difference.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Exact:
    """The field has this value."""

    value: int

    def as_json(self) -> dict[str, Any]:
        """The match as the plan has it."""
        return {"exact": hex(self.value)}

    def __str__(self) -> str:
        return hex(self.value)


@dataclass(frozen=True)
class Lpm:
    """The field's first `prefix_bits` bits are those of `value`."""

    value: int
    prefix_bits: int

    def as_json(self) -> dict[str, Any]:
        """The match as the plan has it."""
        return {"lpm": [hex(self.value), self.prefix_bits]}

    def __str__(self) -> str:
        return f"{self.value:#x}/{self.prefix_bits}"


@dataclass(frozen=True)
class Ternary:
    """The field has `value`'s bits where `mask` has ones."""

    value: int
    mask: int

    def as_json(self) -> dict[str, Any]:
        """The match as the plan has it."""
        return {"ternary": [hex(self.value), hex(self.mask)]}

    def __str__(self) -> str:
        return f"{self.value:#x}&&&{self.mask:#x}"


Match = Exact | Lpm | Ternary


@dataclass(frozen=True)
class TableEntry:
    """One entry of a match-action table. `priority` counts in ternary tables only, the highest
    first; there it is above zero, as P4Runtime asks.
    """

    table: str
    matches: Mapping[str, Match]
    action: str
    params: Mapping[str, int]
    priority: int = 0

    def as_json(self) -> dict[str, Any]:
        """The entry as the plan has it: values as text, hexadecimal after 0x."""
        return {
            "table": self.table,
            "matches": {name: match.as_json() for name, match in self.matches.items()},
            "priority": self.priority,
            "action": self.action,
            "params": {name: hex(value) for name, value in self.params.items()},
        }

    def __str__(self) -> str:
        keys = " ".join(f"{name}={match}" for name, match in self.matches.items())
        params = ", ".join(f"{name}={value:#x}" for name, value in self.params.items())
        priority = f" priority={self.priority}" if self.priority else ""
        return f"{self.table} {keys}{priority} -> {self.action}({params})"


@dataclass(frozen=True)
class CloneSession:
    """Where the clones of a session go, and to how many bytes they are cut (None: not)."""

    id: int
    ports: tuple[int, ...]
    truncate_bytes: int | None = None

    def as_json(self) -> dict[str, Any]:
        """The session as the plan has it."""
        replicas = [{"port": port, "rid": 0} for port in self.ports]
        return {"id": self.id, "replicas": replicas, "truncate_bytes": self.truncate_bytes}

    def __str__(self) -> str:
        cut = f" truncate={self.truncate_bytes}" if self.truncate_bytes is not None else ""
        return f"clone session {self.id} -> {','.join(map(str, self.ports))}{cut}"


@dataclass(frozen=True)
class RegisterCell:
    """A register's cell that does not begin at zero."""

    register: str
    index: int
    value: int

    def as_json(self) -> dict[str, Any]:
        """The cell as the plan has it."""
        return {"register": self.register, "index": self.index, "value": hex(self.value)}

    def __str__(self) -> str:
        return f"{self.register}[{self.index}] = {self.value:#x}"


@dataclass(frozen=True)
class SwitchState:
    """All that the controller puts on one switch."""

    entries: tuple[TableEntry, ...] = ()
    clone_sessions: tuple[CloneSession, ...] = ()
    registers: tuple[RegisterCell, ...] = field(default=())

    def lines(self) -> frozenset[str]:
        """The state as a set of lines: two states are equal when their lines are."""
        return frozenset(map(str, (*self.entries, *self.clone_sessions, *self.registers)))
