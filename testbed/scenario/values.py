"""Types of a scenario's values: quantities with units, names, and tables of them.

A quantity's type knows its base unit. `in_base_units` converts scenario keys to plan keys:
`min_rto`, a `Duration`, becomes `min_rto_ps`. Keys of other types keep their names.
"""

from __future__ import annotations

import dataclasses
import functools
import re
import typing
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    PlainSerializer,
    WithJsonSchema,
)
from pydantic_core import CoreSchema, core_schema

from narrows.schema import units
from narrows.testbed import catalogue


@dataclass(frozen=True)
class BaseUnit:
    """The unit of a quantity in a plan, which is the suffix of the key's name."""

    name: str


@dataclass(frozen=True)
class Check:
    """A check of text once it is read, and what a JSON Schema says of it."""

    check: Callable[[str], str]
    schema: dict[str, Any] = dataclasses.field(hash=False)
    """`x-names`: the kinds of records whose names it takes (`narrows list`)."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self.check, handler(source))

    def __get_pydantic_json_schema__(
        self, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {**handler(core), **self.schema}


def known(find: Callable[[str], object], *kinds: str) -> Check:
    """Accepts a name that `find` knows: one of the records of these kinds, or another."""

    def check(name: str) -> str:
        find(name)
        return name

    return Check(check, {"x-names": list(kinds)})


def registered(kind: str) -> Check:
    """Accepts the name of one of the engine's records of this kind."""
    return known(lambda name: catalogue.record(kind, name), kind)


def matching(pattern: str, expected: str, example: str) -> Check:
    """Accepts text that matches the whole pattern."""

    def check(text: str) -> str:
        if re.fullmatch(pattern, text) is None:
            raise ValueError(f"expected {expected}")
        return text

    return Check(check, {"pattern": f"^{pattern}$", "examples": [example]})


def quantity(kind: str, *examples: str) -> dict[str, Any]:
    """The JSON Schema of text with a unit; `kind` is one of `QUANTITIES`."""
    return {"type": "string", "x-type": kind, "examples": list(examples)}


def _text(kind: str, example: str) -> WithJsonSchema:
    return WithJsonSchema(quantity(kind, example))


def duration_or(*words: str) -> WithJsonSchema:
    """The JSON Schema of a duration, or one of the words in its place."""
    return WithJsonSchema({"anyOf": [{"enum": list(words)}, quantity("duration", "60s")]})


def _share(example: str) -> WithJsonSchema:
    number = {"type": "number", "minimum": 0, "exclusiveMaximum": 1}
    return WithJsonSchema(
        {"anyOf": [number, {"type": "string"}], "x-type": "share", "examples": [example]}
    )


def unit(name: str) -> Any:
    """Says the unit of a number that has none in a scenario."""
    return Field(json_schema_extra={"x-unit": name})


QUANTITIES = {
    "rate": ("bit/s", units.A_RATE),
    "duration": ("s", units.A_DURATION),
    "size": ("bytes", units.A_SIZE),
    "queue limit": ("packets, bytes, s, bdp", units.A_QUEUE),
    "window": ("packets, bytes", units.A_WINDOW),
    "share": ("1 or %", units.A_SHARE),
}
"""What text with a unit is a quantity of, and how a scenario writes it."""

Rate = Annotated[
    int,
    BaseUnit("bps"),
    BeforeValidator(units.parse_rate),
    PlainSerializer(units.format_rate),
    _text("rate", "5Mbps"),
]
Duration = Annotated[
    int,
    BaseUnit("ps"),
    BeforeValidator(units.parse_duration),
    PlainSerializer(units.format_duration),
    _text("duration", "50ms"),
]
Size = Annotated[
    int,
    BaseUnit("bytes"),
    BeforeValidator(units.parse_size),
    PlainSerializer(units.format_size),
    _text("size", "1460B"),
]
Queue = Annotated[
    units.Queue,
    BeforeValidator(units.parse_queue),
    PlainSerializer(str),
    _text("queue limit", "100packets"),
]
Window = Annotated[
    units.Window,
    BaseUnit("bytes"),
    BeforeValidator(units.parse_window),
    PlainSerializer(str),
    _text("window", "200packets"),
]
Probability = Annotated[float, BeforeValidator(units.parse_share), Field(ge=0, lt=1), _share("1%")]
Name = Annotated[
    str, matching(r"[A-Za-z][A-Za-z0-9_-]*", "a name of letters, digits, - and _", "s1")
]
Names = Annotated[list[Name], Field(min_length=1)]
Every = Annotated[int, Field(ge=0, lt=2**32, examples=[10]), unit("packets")]

A_THRESHOLD = 'packets such as 20, or "20packets", "30kB" or "5ms"'


def _threshold(value: object) -> int | units.Queue:
    if isinstance(value, int) and not isinstance(value, bool):
        if not 0 <= value < 2**24:
            raise ValueError(f"is not in 0 to {2**24 - 1}; expected {A_THRESHOLD}")
        return value
    try:
        queue = units.parse_queue(value)
    except ValueError:
        raise ValueError(f"expected {A_THRESHOLD}") from None
    if queue.unit == "bdp":
        raise ValueError(f"is a multiple of a BDP; expected {A_THRESHOLD}")
    return queue


Threshold = Annotated[
    int | units.Queue,
    BeforeValidator(_threshold),
    PlainSerializer(lambda value: value if isinstance(value, int) else str(value)),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 0, "exclusiveMaximum": 2**24},
                quantity("queue limit", "5ms"),
            ],
            "x-unit": "packets",
            "examples": [20, "5ms"],
        }
    ),
]
"""Packets in a queue, as a number or by another unit; `packets.to_packets` counts them."""


def or_duration(*words: str) -> Callable[[object], object]:
    """Parses one of the words, or a duration."""

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
    """Parses a number; true and false mean 1 and 0. Raises `ValueError` for other values."""
    if isinstance(value, bool | int | float):
        return float(value)
    raise ValueError("expected a number or a boolean")


def _whole(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError("is not a whole number above 0")
    return value


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError("is neither true nor false")
    return value


def _word(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("is not text")
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
"""Functions that parse and format a key's value, by the unit in the engine's record."""


def read_key(name: str, value: object, unit: str) -> Any:
    """Parses a key's value in the unit of its record, to base units. Raises `ValueError`."""
    try:
        return RECORD_UNITS[unit][0](value)
    except ValueError as error:
        raise ValueError(f"{name} = {value!r}: {error}") from None


class Model(BaseModel):
    """A table of the file: strictly typed, without unknown keys, immutable."""

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
    """A table's values by their names in a plan, `without` these scenario keys."""
    planned = dict[str, Any]()
    for name, planned_name in planned_names(type(table)).items():
        if name not in without:
            value = getattr(table, name)
            planned[planned_name] = in_base_units(value) if isinstance(value, Model) else value
    return planned


@functools.cache
def planned_names(model: type[Model]) -> dict[str, str]:
    """The names of a table's keys in a plan, which end in their base units."""
    names = dict[str, str]()
    for name, field in model.model_fields.items():
        unit = next(base_units((field.annotation, *field.metadata)), None)
        names[name] = f"{name}_{unit.name}" if unit else name
    return names


def base_units(parts: tuple[Any, ...]) -> Iterator[BaseUnit]:
    """The base units that a type names."""
    for part in parts:
        if isinstance(part, BaseUnit):
            yield part
        yield from base_units(typing.get_args(part))
