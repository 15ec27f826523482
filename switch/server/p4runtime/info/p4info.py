"""A P4Info, indexed by number and name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Protocol, TypeVar

from finsy.proto import p4i, p4t

from narrows.switch.server.p4runtime.info.convert import decode, encode
from narrows.switch.server.p4runtime.info.translation import Names
from narrows.switch.server.target import TargetError, invalid

MatchKind = Literal["exact", "lpm", "ternary", "range", "optional"]
MATCH_KINDS: dict[int, MatchKind] = {
    p4i.MatchField.EXACT: "exact",
    p4i.MatchField.LPM: "lpm",
    p4i.MatchField.TERNARY: "ternary",
    p4i.MatchField.RANGE: "range",
    p4i.MatchField.OPTIONAL: "optional",
}


@dataclass(frozen=True, kw_only=True)
class Value:
    """A field, parameter or metadata. `names` translates strings of controllers; `label` names it
    in errors.
    """

    id: int
    name: str
    width: int
    label: str
    names: Names | None = None

    def decode(self, data: bytes) -> int:
        """Decodes a controller's bytes. Raises if the number exceeds `width` bits."""
        if self.names is not None:
            return self.names.number(data, self.width, self.label)
        return decode(data, self.width, self.label)

    def encode(self, value: int) -> bytes:
        """Encodes a number for a controller."""
        return encode(value) if self.names is None else self.names.text(value)


@dataclass(frozen=True, kw_only=True)
class Field(Value):
    """A match field, or a field of a value set's key."""

    kind: MatchKind


@dataclass(frozen=True)
class Action:
    """An action and its parameters, by number."""

    id: int
    name: str
    params: Mapping[int, Value]


@dataclass(frozen=True)
class Table:
    """A table. Entries may run `actions`; a miss may run `default_actions`."""

    id: int
    name: str
    fields: Mapping[int, Field]
    actions: frozenset[int]
    default_actions: frozenset[int]
    has_counter: bool
    has_meter: bool
    size: int
    is_const: bool
    const_default: bool
    profile: int = 0
    """Its action profile's number; 0 for none."""
    idle: bool = False
    meter_kind: int = p4i.MeterSpec.TWO_RATE_THREE_COLOR

    @cached_property
    def by_priority(self) -> bool:
        """True if entries have a priority."""
        return any(field.kind in ("ternary", "range", "optional") for field in self.fields.values())


@dataclass(frozen=True)
class Array:
    """A counter, meter or register; `unit` is for counters and meters, `kind` for meters, `width`
    for registers.
    """

    id: int
    name: str
    size: int
    unit: int = 0
    kind: int = p4i.MeterSpec.TWO_RATE_THREE_COLOR
    width: int = 0


@dataclass(frozen=True)
class Profile:
    """An action profile, or action selector; `actions` are the actions of its tables."""

    id: int
    name: str
    with_selector: bool
    actions: frozenset[int]
    by_members: bool = False
    """True if a group's size counts members, false if it sums weights."""


@dataclass(frozen=True)
class Named:
    """A digest or value set."""

    id: int
    name: str
    widths: tuple[int, ...] = ()
    fields: tuple[Field, ...] = ()
    size: int = 0
    is_struct: bool = False


@dataclass(frozen=True, kw_only=True)
class PacketField(Value):
    """A field of a controller header; a padding field may be absent."""

    padding: bool


class HasName(Protocol):
    """An object of the P4Info."""

    @property
    def id(self) -> int:
        """Its number."""

    @property
    def name(self) -> str:
        """Its name in the program."""


class Declared(Protocol):
    """A field, parameter or metadata of the P4Info."""

    @property
    def bitwidth(self) -> int:
        """Width of a controller's values in bits; 0 for strings."""

    @property
    def type_name(self) -> p4t.P4NamedType:
        """The program's name of its type."""


class Widths(Protocol):
    """Widths of the values in the program, where known."""

    def field(self, table: str, name: str) -> int | None:
        """A key's field."""

    def param(self, action: str, name: str) -> int | None:
        """An action's parameter."""

    def header(self, fields: Sequence[str]) -> Mapping[str, int]:
        """Widths of the header type with exactly these fields."""


T = TypeVar("T", bound=HasName)


def wrong(message: str) -> TargetError:
    """Builds the error for an invalid P4Info."""
    return invalid(f"P4Info: {message}")


def by_id(objects: Iterable[T], kind: str) -> dict[int, T]:
    """Objects by number. Raises if a number is repeated."""
    found: dict[int, T] = {}
    for one in objects:
        if one.id in found:
            names = f"'{found[one.id].name}' and '{one.name}'"
            raise wrong(f"two objects of kind {kind} have the number {one.id:#x}: {names}")
        found[one.id] = one
    return found


class Schema:
    """Reads a P4Info. Raises `TargetError` if it is inconsistent.

    `widths` come from the program, since the P4Info lacks those of translated values.
    """

    def __init__(self, info: p4i.P4Info, widths: Widths) -> None:
        self._info = info
        self._widths = widths
        self._names: dict[str, Names] = {}
        self.actions = by_id(map(self._action, info.actions), "action")
        self.action_ids = {action.name: action.id for action in self.actions.values()}
        counters = {one.preamble.id for one in info.direct_counters}
        meters = {one.preamble.id: one.spec.type for one in info.direct_meters}
        self.tables = by_id((self._table(one, counters, meters) for one in info.tables), "table")
        self.counters = by_id(
            (Array(o.preamble.id, o.preamble.name, o.size, o.spec.unit) for o in info.counters),
            "counter",
        )
        self.direct_counter_units = {
            one.direct_table_id: one.spec.unit for one in info.direct_counters
        }
        self.meters = by_id(
            (
                Array(o.preamble.id, o.preamble.name, o.size, o.spec.unit, o.spec.type)
                for o in info.meters
            ),
            "meter",
        )
        self.registers = by_id(map(self._register, info.registers), "register")
        self.value_sets = by_id(map(self._value_set, info.value_sets), "value set")
        self.digests = by_id(map(self._digest, info.digests), "digest")
        self.profiles = by_id(map(self._profile, info.action_profiles), "action profile")
        for table in self.tables.values():
            if table.profile and table.profile not in self.profiles:
                raise wrong(f"table '{table.name}': action profile {table.profile:#x} is missing")
        self.packet_in = self._packet_header("packet_in")
        self.packet_out = self._packet_header("packet_out")

    # Values

    def direct_counter_unit(self, table_id: int) -> int:
        """The unit of a table's direct counter, a `CounterSpec.Unit`."""
        unit: int = self.direct_counter_units.get(table_id, p4i.CounterSpec.BOTH)
        return unit

    def _names_of(self, type_name: str) -> Names | None:
        """The strings of a translated type; None if controllers write numbers."""
        new_type = self._info.type_info.new_types.get(type_name)
        if new_type is None or not new_type.translated_type.HasField("sdn_string"):
            return None
        return self._names.setdefault(type_name, Names(type_name))

    def _width(self, label: str, declared: Declared, in_program: int | None) -> int:
        """The width of a value in the program; the P4Info has it unless the type is translated."""
        new_type = self._info.type_info.new_types.get(declared.type_name.name)
        translated = new_type is not None and new_type.HasField("translated_type")
        width = in_program if translated and in_program else declared.bitwidth
        if width <= 0:
            raise wrong(f"{label}: {width} bits")
        return width

    def _field(self, field: p4i.MatchField, label: str, in_program: int | None) -> Field:
        kind = MATCH_KINDS.get(field.match_type)
        label = f"{label}, field '{field.name}'"
        if kind is None:
            what = field.other_match_type or f"number {field.match_type}"
            raise TargetError("unimplemented", f"{label}: match type {what}")
        names = self._names_of(field.type_name.name)
        if names is not None and kind not in ("exact", "optional"):
            raise wrong(f"{label}: {kind}: expected exact or optional for strings")
        width = self._width(label, field, in_program)
        return Field(id=field.id, name=field.name, width=width, label=label, names=names, kind=kind)

    # Objects

    def _action(self, action: p4i.Action) -> Action:
        name = action.preamble.name
        params = {}
        for param in action.params:
            label = f"action '{name}', parameter '{param.name}'"
            width = self._width(label, param, self._widths.param(name, param.name))
            names = self._names_of(param.type_name.name)
            params[param.id] = Value(
                id=param.id, name=param.name, width=width, label=label, names=names
            )
        return Action(action.preamble.id, name, params)

    def _table(self, table: p4i.Table, counters: set[int], meters: Mapping[int, int]) -> Table:
        name = table.preamble.name
        for ref in table.action_refs:
            if ref.id not in self.actions:
                raise wrong(f"table '{name}' has action {ref.id:#x}, which is not declared")
        default_only, table_only = p4i.ActionRef.DEFAULT_ONLY, p4i.ActionRef.TABLE_ONLY
        fields = (
            self._field(one, f"table '{name}'", self._widths.field(name, one.name))
            for one in table.match_fields
        )
        meter_kinds = [meters[one] for one in table.direct_resource_ids if one in meters]
        return Table(
            table.preamble.id,
            name,
            by_id(fields, "field"),
            frozenset(ref.id for ref in table.action_refs if ref.scope != default_only),
            frozenset(ref.id for ref in table.action_refs if ref.scope != table_only),
            bool(counters & set(table.direct_resource_ids)),
            bool(meter_kinds),
            table.size,
            # p4c-bm2-ss does not mark mutable entries, so all entries of a program are constant.
            table.is_const_table or table.has_initial_entries,
            bool(table.const_default_action_id),
            table.implementation_id,
            table.idle_timeout_behavior == p4i.Table.NOTIFY_CONTROL,
            meter_kinds[0] if meter_kinds else p4i.MeterSpec.TWO_RATE_THREE_COLOR,
        )

    def _profile(self, profile: p4i.ActionProfile) -> Profile:
        number, name = profile.preamble.id, profile.preamble.name
        tables = [table for table in self.tables.values() if table.profile == number]
        actions = frozenset[int]().union(*(table.actions for table in tables))
        by_members = profile.HasField("sum_of_members")
        return Profile(number, name, profile.with_selector, actions, by_members)

    def _register(self, register: p4i.Register) -> Array:
        width = self._bit_width(register.type_spec)
        if width is None:
            message = f"register '{register.preamble.name}': expected cells of type bit<N>"
            raise TargetError("unimplemented", message)
        return Array(register.preamble.id, register.preamble.name, register.size, width=width)

    def _value_set(self, value_set: p4i.ValueSet) -> Named:
        name = value_set.preamble.name
        fields = tuple(self._field(one, f"value set '{name}'", None) for one in value_set.match)
        return Named(value_set.preamble.id, name, fields=fields, size=value_set.size)

    def _digest(self, digest: p4i.Digest) -> Named:
        spec, name = digest.type_spec, digest.preamble.name
        match spec.WhichOneof("type_spec"):
            case "struct":
                struct = self._info.type_info.structs.get(spec.struct.name)
                if struct is None:
                    raise wrong(f"digest '{name}': struct '{spec.struct.name}' is not declared")
                members = [member.type_spec for member in struct.members]
            case "tuple":
                members = list(spec.tuple.members)
            case _:
                members = [spec]
        widths = tuple(self._bit_width(member) for member in members)
        known = tuple(width for width in widths if width is not None)
        if len(known) != len(widths):
            message = f"digest '{name}': expected members of type bit<N>"
            raise TargetError("unimplemented", message)
        is_struct = spec.WhichOneof("type_spec") in ("struct", "tuple")
        return Named(digest.preamble.id, name, widths=known, is_struct=is_struct)

    def _bit_width(self, spec: Any) -> int | None:
        """The width of a `P4DataTypeSpec` that is a bit string, also through type aliases."""
        match spec.WhichOneof("type_spec"):
            case "bitstring":
                which = spec.bitstring.WhichOneof("type_spec")
                if which not in ("bit", "int"):
                    return None
                return int(getattr(spec.bitstring, which).bitwidth)
            case "bool":
                return 1
            case "new_type":
                new_type = self._info.type_info.new_types.get(spec.new_type.name)
                if new_type is None or not new_type.HasField("original_type"):
                    return None
                return self._bit_width(new_type.original_type)
            case _:
                return None

    def _packet_header(self, name: str) -> tuple[PacketField, ...]:
        """The fields of the controller header `packet_in` or `packet_out`."""
        for header in self._info.controller_packet_metadata:
            if header.preamble.name == name:
                in_program = self._widths.header([one.name for one in header.metadata])
                return tuple(
                    self._packet_field(name, one, in_program.get(one.name))
                    for one in header.metadata
                )
        return ()

    def _packet_field(
        self, header: str, field: p4i.ControllerPacketMetadata.Metadata, in_program: int | None
    ) -> PacketField:
        label = f"{header.replace('_', '-')}: metadata '{field.name}'"
        return PacketField(
            id=field.id,
            name=field.name,
            width=self._width(label, field, in_program),
            label=label,
            names=self._names_of(field.type_name.name),
            padding=any("@padding" in text for text in field.annotations),
        )
