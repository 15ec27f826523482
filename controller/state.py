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


@dataclass(frozen=True)
class Range:
    """The field is from `low` to `high`, both included."""

    low: int
    high: int

    def as_json(self) -> dict[str, Any]:
        """The match as the plan has it."""
        return {"range": [hex(self.low), hex(self.high)]}

    def __str__(self) -> str:
        return f"{self.low:#x}..{self.high:#x}"


Match = Exact | Lpm | Ternary | Range


def match_from_json(content: Mapping[str, Any]) -> Match:
    """The inverse of a match's `as_json`. Raises `ValueError`."""
    match dict(content):
        case {"exact": value}:
            return Exact(number(value))
        case {"lpm": [value, int(prefix_bits)]}:
            return Lpm(number(value), prefix_bits)
        case {"ternary": [value, mask]}:
            return Ternary(number(value), number(mask))
        case {"range": [low, high]}:
            return Range(number(low), number(high))
    raise ValueError(f"match {content}: expected exact, lpm, ternary or range")


def number(text: str | int) -> int:
    """A value as the plan has it: text, hexadecimal after 0x."""
    return text if isinstance(text, int) else int(text, 0)


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

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> TableEntry:
        """The inverse of `as_json`. Raises `KeyError` or `ValueError`."""
        return cls(
            content["table"],
            {name: match_from_json(match) for name, match in content["matches"].items()},
            content["action"],
            {name: number(value) for name, value in content["params"].items()},
            content.get("priority", 0),
        )

    @property
    def key(self) -> tuple[str, frozenset[tuple[str, Match]], int]:
        """What makes it this entry of its table, whatever its action."""
        return self.table, frozenset(self.matches.items()), self.priority

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

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> CloneSession:
        """The inverse of `as_json`. Raises `KeyError`."""
        ports = tuple(replica["port"] for replica in content["replicas"])
        return cls(content["id"], ports, content.get("truncate_bytes"))

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

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> RegisterCell:
        """The inverse of `as_json`. Raises `KeyError` or `ValueError`."""
        return cls(content["register"], content["index"], number(content["value"]))

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

    def as_json(self) -> dict[str, Any]:
        """The state as a switch of the plan has it."""
        return {
            "entries": [entry.as_json() for entry in self.entries],
            "clone_sessions": [session.as_json() for session in self.clone_sessions],
            "registers": [cell.as_json() for cell in self.registers],
        }

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> SwitchState:
        """The inverse of `as_json`. Raises `KeyError` or `ValueError`."""
        return cls(
            tuple(map(TableEntry.from_json, content.get("entries", ()))),
            tuple(map(CloneSession.from_json, content.get("clone_sessions", ()))),
            tuple(map(RegisterCell.from_json, content.get("registers", ()))),
        )
