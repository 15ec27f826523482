"""The state of a switch, as plain data and as a set of lines for comparison.

Every target uses the same values: the plan of a `sim` run has `TableEntry.as_json`, and a P4Runtime
client writes the same fields. A line is `table key=value -> action(parameter=value)`, so a set
difference compares two states.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, TypeVar

from narrows.controller.matches import Match, match_from_json, number
from narrows.controller.objects import (
    CloneSession,
    MeterCell,
    MulticastGroup,
    ProfileGroup,
    ProfileMember,
    RegisterCell,
    ValueSet,
)

if TYPE_CHECKING:
    from narrows.schema import switch

T = TypeVar("T")
MEMBER, GROUP = "$member", "$group"
"""The actions of an entry that refers to a member or group of its table's action profile."""


@dataclass(frozen=True)
class TableEntry:
    """One entry of a match-action table. Only ternary tables use `priority`: above zero, the
    highest first (P4Runtime). In a table with an action profile the action is `$member` or
    `$group`, with the parameter `id`.
    """

    table: str
    matches: Mapping[str, Match]
    action: str
    params: Mapping[str, int]
    priority: int = 0

    def as_json(self) -> switch.TableEntry:
        """The entry in the plan's format: values as text, hexadecimal after 0x."""
        return {
            "table": self.table,
            "matches": {name: match.as_json() for name, match in self.matches.items()},
            "priority": self.priority,
            "action": self.action,
            "params": {name: hex(value) for name, value in self.params.items()},
        }

    @classmethod
    def from_json(cls, content: switch.TableEntry) -> TableEntry:
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
        """Identity of the entry within its table, independent of its action."""
        return self.table, frozenset(self.matches.items()), self.priority

    def __str__(self) -> str:
        keys = " ".join(f"{name}={match}" for name, match in self.matches.items())
        params = ", ".join(f"{name}={value:#x}" for name, value in self.params.items())
        priority = f" priority={self.priority}" if self.priority else ""
        return f"{self.table} {keys}{priority} -> {self.action}({params})"


@dataclass(frozen=True)
class SwitchState:
    """Everything that the controller writes to one switch."""

    entries: tuple[TableEntry, ...] = ()
    clone_sessions: tuple[CloneSession, ...] = ()
    registers: tuple[RegisterCell, ...] = ()
    multicast_groups: tuple[MulticastGroup, ...] = ()
    profile_members: tuple[ProfileMember, ...] = ()
    profile_groups: tuple[ProfileGroup, ...] = ()
    meters: tuple[MeterCell, ...] = ()
    value_sets: tuple[ValueSet, ...] = ()

    def lines(self) -> frozenset[str]:
        """The state as a set of lines; equal sets mean equal states."""
        return frozenset(str(one) for kind in fields(self) for one in getattr(self, kind.name))

    def as_json(self) -> dict[str, Any]:
        """The state as JSON; entries, sessions and registers in the plan's format."""
        return {
            kind.name: [one.as_json() for one in getattr(self, kind.name)] for kind in fields(self)
        }

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> SwitchState:
        """The inverse of `as_json`; a missing key means an empty part. Raises `KeyError`,
        `TypeError` or `ValueError`.
        """

        def each(name: str, read: Callable[[Any], T]) -> tuple[T, ...]:
            return tuple(map(read, content.get(name, ())))

        return cls(
            each("entries", TableEntry.from_json),
            each("clone_sessions", CloneSession.from_json),
            each("registers", RegisterCell.from_json),
            each("multicast_groups", MulticastGroup.from_json),
            each("profile_members", ProfileMember.from_json),
            each("profile_groups", ProfileGroup.from_json),
            each("meters", MeterCell.from_json),
            each("value_sets", ValueSet.from_json),
        )
