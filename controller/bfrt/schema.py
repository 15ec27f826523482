"""Tables of a program and a device from bfrt.json, and the encoding of BfRuntime values.

Integers are big-endian, in the fewest bytes that hold their width. Text, booleans and lists have
their own message fields. Source: the output of p4c's `--bf-rt-schema` (schema version 1.0.0) and
the open SDE's client.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from narrows.controller.bfrt import bfruntime_pb2 as pb
from narrows.controller.matches import Exact, Lpm, Match, Range, Ternary

Value: TypeAlias = int | str | bool | list[int]
"""A data field's value: an integer, text, a boolean, or a list of integers."""

INTEGERS = {f"uint{bits}": bits for bits in (8, 16, 32, 64)}
PRIORITY = "$MATCH_PRIORITY"


class SchemaError(ValueError):
    """A name or a value that bfrt.json does not have."""


@dataclass(frozen=True)
class Field:
    """A key field or data field. `width` is in bits, 0 for types without a width."""

    id: int
    name: str
    type: str
    width: int
    choices: tuple[str, ...] = ()
    repeated: bool = False
    match_type: str = ""

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Field:
        """Reads a field of bfrt.json. Raises `KeyError`."""
        # A group of fields (a hash's polynomial) has no type; the controller writes none.
        group: dict[str, Any] = {"type": "container"}
        kind = group if "container" in content else content["type"]
        return cls(
            content["id"],
            content["name"],
            kind["type"],
            kind.get("width") or INTEGERS.get(kind["type"], 0),
            tuple(kind.get("choices", ())),
            content.get("repeated", False),
            content.get("match_type", ""),
        )

    def stream(self, value: int) -> bytes:
        """Encodes an integer. Raises `SchemaError` if it does not fit the width."""
        if not 0 <= value < 1 << self.width:
            raise SchemaError(f"{self.name} = {value}: expected {self.width} bits")
        return value.to_bytes((self.width + 7) // 8, "big")

    def data(self, value: Value) -> pb.DataField:
        """Encodes a value. Raises `SchemaError` for a value of another type."""
        match self.type, value:
            case "bool", bool():
                return pb.DataField(field_id=self.id, bool_val=value)
            case "string", str() if not self.choices or value in self.choices:
                return pb.DataField(field_id=self.id, str_val=value)
            case kind, list() if self.repeated and kind in INTEGERS:
                return pb.DataField(field_id=self.id, int_arr_val=pb.DataField.IntArray(val=value))
            case kind, int() if not isinstance(value, bool) and (kind == "bytes" or self.width):
                return pb.DataField(field_id=self.id, stream=self.stream(value))
        expected = " or ".join(self.choices) or self.type
        raise SchemaError(f"{self.name} = {value!r}: expected {expected}")

    def value(self, found: pb.DataField) -> Value:
        """Decodes a value."""
        match found.WhichOneof("value"):
            case "bool_val":
                return found.bool_val
            case "str_val":
                return found.str_val
            case "int_arr_val":
                return list(found.int_arr_val.val)
            case _:
                return int.from_bytes(found.stream, "big")

    def key(self, match: Match) -> pb.KeyField:
        """Encodes a match. Raises `SchemaError` for another match kind."""
        key = pb.KeyField(field_id=self.id)
        match self.match_type, match:
            case "Exact", Exact():
                key.exact.value = self.stream(match.value)
            case "LPM", Lpm():
                key.lpm.value = self.stream(match.value)
                key.lpm.prefix_len = match.prefix_bits
            case "Ternary", Ternary():
                key.ternary.value = self.stream(match.value)
                key.ternary.mask = self.stream(match.mask)
            case "Range", Range():
                key.range.low = self.stream(match.low)
                key.range.high = self.stream(match.high)
            case _:
                raise SchemaError(f"{self.name}: {match}: expected {self.match_type}")
        return key

    def match(self, found: pb.KeyField) -> Match:
        """Decodes a match."""

        def number(stream: bytes) -> int:
            return int.from_bytes(stream, "big")

        match found.WhichOneof("match_type"):
            case "lpm":
                return Lpm(number(found.lpm.value), found.lpm.prefix_len)
            case "ternary":
                return Ternary(number(found.ternary.value), number(found.ternary.mask))
            case "range":
                return Range(number(found.range.low), number(found.range.high))
            case _:
                return Exact(number(found.exact.value))


@dataclass(frozen=True)
class Action:
    """An action and its data fields."""

    id: int
    name: str
    data: Mapping[str, Field]


@dataclass(frozen=True)
class Table:
    """A table of any kind: match-action, register, counter, or fixed-function."""

    id: int
    name: str
    type: str
    key: Mapping[str, Field]
    data: Mapping[str, Field]
    actions: Mapping[str, Action]
    is_constant: bool

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Table:
        """Reads a table of bfrt.json. Raises `KeyError`."""
        actions = (
            Action(one["id"], one["name"], by_name(map(Field.from_json, one["data"])))
            for one in content.get("action_specs", ())
        )
        # The tables used here have no other kind of common data than singletons.
        data = (Field.from_json(one["singleton"]) for one in content["data"] if "singleton" in one)
        return cls(
            content["id"],
            content["name"],
            content["table_type"],
            by_name(map(Field.from_json, content["key"])),
            by_name(data),
            by_name(actions),
            "ConstTable" in content.get("attributes", ()),
        )

    @property
    def is_match_action(self) -> bool:
        """True for a match-action table of the program."""
        return self.type.startswith("MatchAction")

    def fields(self, action: str | None) -> dict[str, Field]:
        """Data fields of an entry with this action. Raises `SchemaError`."""
        own = self.actions[self.known(action, self.actions)].data if action else {}
        return {**self.data, **own}

    def known(self, name: str, names: Iterable[str]) -> str:
        """Returns the name if it is one of these. Raises `SchemaError`."""
        if name not in names:
            raise SchemaError(f"{self.name}: {unknown(name, names)}")
        return name


class Schema:
    """The tables of a program and of its device, by name and by id."""

    def __init__(self, tables: Iterable[Table]) -> None:
        self.tables: dict[str, Table] = by_name(tables)
        self.by_id = {table.id: table for table in self.tables.values()}

    @classmethod
    def from_texts(cls, texts: Iterable[bytes]) -> Schema:
        """Reads the contents of bfrt.json files. Raises `SchemaError`."""
        try:
            return cls(Table.from_json(one) for text in texts for one in json.loads(text)["tables"])
        except (KeyError, TypeError, ValueError) as error:
            raise SchemaError(f"bfrt.json: {error!r}") from None

    def table(self, name: str) -> Table:
        """The table with this name. Raises `SchemaError`."""
        if name not in self.tables:
            raise SchemaError(f"no table {unknown(name, self.tables)}")
        return self.tables[name]


def by_name(items: Iterable[Any]) -> dict[str, Any]:
    """Indexes items by name."""
    return {item.name: item for item in items}


def unknown(name: str, names: Iterable[str]) -> str:
    """The unknown name, with the most similar known name."""
    near = difflib.get_close_matches(name, list(names), 1)
    return f"'{name}'" + (f"; did you mean '{near[0]}'?" if near else "")
