"""Matches of table entries and value sets, as plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from narrows.schema import switch


@dataclass(frozen=True)
class Exact:
    """The field has this value."""

    value: int

    def as_json(self) -> switch.MatchExact:
        """The match in the plan's format."""
        return {"exact": hex(self.value)}

    def __str__(self) -> str:
        return hex(self.value)


@dataclass(frozen=True)
class Lpm:
    """The field's first `prefix_bits` bits are those of `value`."""

    value: int
    prefix_bits: int

    def as_json(self) -> switch.MatchLpm:
        """The match in the plan's format."""
        return {"lpm": [hex(self.value), self.prefix_bits]}

    def __str__(self) -> str:
        return f"{self.value:#x}/{self.prefix_bits}"


@dataclass(frozen=True)
class Ternary:
    """The field equals `value` in the bits where `mask` has ones."""

    value: int
    mask: int

    def as_json(self) -> switch.MatchTernary:
        """The match in the plan's format."""
        return {"ternary": [hex(self.value), hex(self.mask)]}

    def __str__(self) -> str:
        return f"{self.value:#x}&&&{self.mask:#x}"


@dataclass(frozen=True)
class Range:
    """The field is between `low` and `high`, inclusive."""

    low: int
    high: int

    def as_json(self) -> switch.MatchRange:
        """The match in the plan's format."""
        return {"range": [hex(self.low), hex(self.high)]}

    def __str__(self) -> str:
        return f"{self.low:#x}..{self.high:#x}"


Match = Exact | Lpm | Ternary | Range


def match_from_json(content: switch.Match) -> Match:
    """The inverse of a match's `as_json`. Raises `ValueError`."""
    match cast("dict[str, Any]", content):
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
    """A value in the plan's format: text, hexadecimal after 0x."""
    return text if isinstance(text, int) else int(text, 0)
