"""What a scenario's values are: quantities with their units, names, and the tables of them.

A quantity's type knows its base unit. `in_base_units` makes a plan's keys of a scenario's:
`min_rto`, a `Duration`, is `min_rto_ps` there, and a key that is no quantity keeps its name.
"""

from __future__ import annotations

import re
import typing
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    WithJsonSchema,
)

from narrows.schema import units
from narrows.testbed import catalogue


@dataclass(frozen=True)
class BaseUnit:
    """The unit that a quantity has in a plan, where it ends the key's name."""

    name: str


def known(find: Callable[[str], object]) -> AfterValidator:
    """Accepts a name that the engine's records have."""

    def check(name: str) -> str:
        find(name)
        return name

    return AfterValidator(check)


def registered(kind: str) -> AfterValidator:
    """Accepts the name of one of the engine's records of this kind."""
    return known(lambda name: catalogue.record(kind, name))


def matching(pattern: str, expected: str) -> AfterValidator:
    """Accepts text that the whole of the pattern matches."""

    def check(text: str) -> str:
        if re.fullmatch(pattern, text) is None:
            raise ValueError(f"expected {expected}")
        return text

    return AfterValidator(check)


def _text(example: str) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "examples": [example]})


Rate = Annotated[
    int,
    BaseUnit("bps"),
    BeforeValidator(units.parse_rate),
    PlainSerializer(units.format_rate),
    _text("5Mbps"),
]
Duration = Annotated[
    int,
    BaseUnit("ps"),
    BeforeValidator(units.parse_duration),
    PlainSerializer(units.format_duration),
    _text("50ms"),
]
Size = Annotated[
    int,
    BaseUnit("bytes"),
    BeforeValidator(units.parse_size),
    PlainSerializer(units.format_size),
    _text("20000KB"),
]
Queue = Annotated[
    units.Queue,
    BeforeValidator(units.parse_queue),
    PlainSerializer(str),
    _text("100packets"),
]
Window = Annotated[
    units.Window,
    BaseUnit("bytes"),
    BeforeValidator(units.parse_window),
    PlainSerializer(str),
    _text("200packets"),
]
Probability = Annotated[float, BeforeValidator(units.parse_share), Field(ge=0, lt=1)]
Counts = Literal["ip", "frame", "wire"]
Name = Annotated[str, matching(r"[A-Za-z][A-Za-z0-9_-]*", "a name of letters, digits, - and _")]
Names = Annotated[list[Name], Field(min_length=1)]
Every = Annotated[int, Field(ge=0, lt=2**32)]


def or_duration(*words: str) -> Callable[[object], object]:
    """Takes one of the words, or a duration."""

    def parse(value: object) -> object:
        if isinstance(value, str) and value in words:
            return value
        try:
            return units.parse_duration(value)
        except ValueError as error:
            raise ValueError(f"{error}, or {' or '.join(map(repr, words))}") from None

    return parse


def format_or_duration(value: int | str) -> str:
    """Writes one of the words, or a duration."""
    return value if isinstance(value, str) else units.format_duration(value)


def number(value: object) -> object:
    """Takes a number; true and false are 1 and 0."""
    if isinstance(value, bool | int | float):
        return float(value)
    raise ValueError("expected a number or a boolean")


def _whole(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError("is no whole number above 0")
    return value


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError("is neither true nor false")
    return value


def _word(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("is no text")
    return value


RECORD_UNITS: dict[str, tuple[Callable[[object], Any], Callable[[Any], object]]] = {
    "rate": (units.parse_rate, units.format_rate),
    "size": (units.parse_size, units.format_size),
    "duration": (units.parse_duration, units.format_duration),
    "count": (_whole, int),
    "number": (number, float),
    "flag": (_flag, bool),
    "word": (_word, str),
    "trace": (_word, str),
}
"""How the value of a key is read and written, by the unit that an engine's record names."""


def read_key(name: str, value: object, unit: str) -> Any:
    """The value of a key whose unit a record names, in base units. Raises `ValueError`."""
    try:
        return RECORD_UNITS[unit][0](value)
    except ValueError as error:
        raise ValueError(f"{name} = {value!r}: {error}") from None


class Model(BaseModel):
    """A table of the file: typed strictly, unknown keys refused, its values fixed once read."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        allow_inf_nan=False,
        arbitrary_types_allowed=True,
        validate_by_name=True,
        validate_by_alias=True,
    )


def in_base_units(table: Model, without: frozenset[str] = frozenset()) -> dict[str, Any]:
    """A table's values under their names in a plan; `without` these keys of the scenario."""
    planned = dict[str, Any]()
    for name, field in type(table).model_fields.items():
        if name in without:
            continue
        unit = next(base_units((field.annotation, *field.metadata)), None)
        value = getattr(table, name)
        planned[f"{name}_{unit.name}" if unit else name] = (
            in_base_units(value) if isinstance(value, Model) else value
        )
    return planned


def base_units(parts: tuple[Any, ...]) -> Iterator[BaseUnit]:
    """The base units that a type names."""
    for part in parts:
        if isinstance(part, BaseUnit):
            yield part
        yield from base_units(typing.get_args(part))
