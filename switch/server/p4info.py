"""A P4Info by number and name, and whether it agrees with the bmv2 JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeVar

from finsy.proto import p4i

from switch.server.target import TargetError

MatchKind = Literal["exact", "lpm", "ternary", "range", "optional"]
MATCH_KINDS: dict[int, MatchKind] = {
    p4i.MatchField.EXACT: "exact",
    p4i.MatchField.LPM: "lpm",
    p4i.MatchField.TERNARY: "ternary",
    p4i.MatchField.RANGE: "range",
    p4i.MatchField.OPTIONAL: "optional",
}


@dataclass(frozen=True)
class Field:
    """A match field, or a part of a value set's key."""

    id: int
    name: str
    width: int
    kind: MatchKind


@dataclass(frozen=True)
class Action:
    """An action and its parameters by number: name and width."""

    id: int
    name: str
    params: Mapping[int, tuple[str, int]]


@dataclass(frozen=True)
class Table:
    """A table. `actions` holds those that an entry, `default_actions` those that a miss may run."""

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

    @property
    def by_priority(self) -> bool:
        """Whether entries have a priority."""
        return any(field.kind in ("ternary", "range", "optional") for field in self.fields.values())


@dataclass(frozen=True)
class Array:
    """A counter, meter or register; `unit` is the counter's or meter's, `width` the register's."""

    id: int
    name: str
    size: int
    unit: int = 0
    width: int = 0


@dataclass(frozen=True)
class Profile:
    """An action profile, or action selector; `actions` are those of its tables."""

    id: int
    name: str
    with_selector: bool
    actions: frozenset[int]


@dataclass(frozen=True)
class Named:
    """A digest or value set."""

    id: int
    name: str
    widths: tuple[int, ...] = ()
    fields: tuple[Field, ...] = ()
    is_struct: bool = False


@dataclass(frozen=True)
class PacketField:
    """A field of a controller header; a padding one may be left out."""

    id: int
    name: str
    width: int
    padding: bool


class HasName(Protocol):
    """An object of the P4Info."""

    @property
    def id(self) -> int:
        """Its number."""

    @property
    def name(self) -> str:
        """Its name in the program."""


T = TypeVar("T", bound=HasName)


def wrong(message: str) -> TargetError:
    """What is wrong with a P4Info."""
    return TargetError("invalid-argument", f"P4Info: {message}")


def by_id(objects: Iterable[T], kind: str) -> dict[int, T]:
    """Objects by number, each there once."""
    found: dict[int, T] = {}
    for one in objects:
        if one.id in found:
            names = f"'{found[one.id].name}' and '{one.name}'"
            raise wrong(f"two objects of kind {kind} have the number {one.id:#x}: {names}")
        found[one.id] = one
    return found


class Schema:
    """What a P4Info declares. Raises `TargetError` for what contradicts itself."""

    def __init__(self, info: p4i.P4Info) -> None:
        self.actions = by_id(map(read_action, info.actions), "action")
        direct_counters = {one.preamble.id for one in info.direct_counters}
        direct_meters = {one.preamble.id: one.spec.unit for one in info.direct_meters}
        self.tables = by_id(
            (self._table(one, direct_counters, set(direct_meters)) for one in info.tables), "table"
        )
        self.counters = by_id(
            (Array(o.preamble.id, o.preamble.name, o.size, o.spec.unit) for o in info.counters),
            "counter",
        )
        self.direct_counter_units = {
            one.direct_table_id: one.spec.unit for one in info.direct_counters
        }
        self.meters = by_id(
            (Array(o.preamble.id, o.preamble.name, o.size, o.spec.unit) for o in info.meters),
            "meter",
        )
        self.registers = by_id(map(read_register, info.registers), "register")
        self.value_sets = by_id(map(read_value_set, info.value_sets), "value set")
        self.digests = by_id((read_digest(one, info) for one in info.digests), "digest")
        self.profiles = by_id(map(self._profile, info.action_profiles), "action profile")
        for table in self.tables.values():
            if table.profile and table.profile not in self.profiles:
                raise wrong(f"table '{table.name}': action profile {table.profile:#x} is missing")
        self.packet_in = packet_header(info, "packet_in")
        self.packet_out = packet_header(info, "packet_out")

    def _table(self, table: p4i.Table, counters: set[int], meters: set[int]) -> Table:
        name = table.preamble.name
        for ref in table.action_refs:
            if ref.id not in self.actions:
                raise wrong(f"table '{name}' has action {ref.id:#x}, which is not declared")
        default_only, table_only = p4i.ActionRef.DEFAULT_ONLY, p4i.ActionRef.TABLE_ONLY
        return Table(
            table.preamble.id,
            name,
            by_id((read_field(one, f"table '{name}'") for one in table.match_fields), "field"),
            frozenset(ref.id for ref in table.action_refs if ref.scope != default_only),
            frozenset(ref.id for ref in table.action_refs if ref.scope != table_only),
            bool(counters & set(table.direct_resource_ids)),
            bool(meters & set(table.direct_resource_ids)),
            table.size,
            table.is_const_table,
            bool(table.const_default_action_id),
            table.implementation_id,
            table.idle_timeout_behavior == p4i.Table.NOTIFY_CONTROL,
        )

    def _profile(self, profile: p4i.ActionProfile) -> Profile:
        number, name = profile.preamble.id, profile.preamble.name
        tables = [table for table in self.tables.values() if table.profile == number]
        actions = frozenset[int]().union(*(table.actions for table in tables))
        return Profile(number, name, profile.with_selector, actions)

    def check(self, program: Mapping[str, Any]) -> None:
        """Raises `TargetError` with the first thing on which the JSON disagrees."""
        tables = {t["name"]: t for p in program.get("pipelines", []) for t in p["tables"]}
        actions = {action["name"]: action for action in program.get("actions", [])}
        types = {one["name"]: one for one in program.get("header_types", [])}
        widths = {
            (header["name"], field[0]): field[1]
            for header in program.get("headers", [])
            for field in types.get(header["header_type"], {"fields": []})["fields"]
        }
        for table in self.tables.values():
            check_table(table, tables, widths)
            found = tables[table.name].get("action_profile")
            name = self.profiles[table.profile].name if table.profile else None
            if found != name:
                raise wrong(f"table '{table.name}' has action profile {name}, in the JSON {found}")
            if bool(tables[table.name].get("support_timeout")) != table.idle:
                raise wrong(f"table '{table.name}': idle time-outs are not those of the JSON")
            known = tables[table.name]["actions"]
            for number in table.actions | table.default_actions:
                if self.actions[number].name not in known:
                    name = self.actions[number].name
                    raise wrong(f"table '{table.name}' has action '{name}', in the JSON not")
        used = {number for t in self.tables.values() for number in t.actions | t.default_actions}
        for number in used:
            action = self.actions[number]
            declared = [(p["name"], p["bitwidth"]) for p in actions[action.name]["runtime_data"]]
            if declared != list(action.params.values()):
                given = list(action.params.values())
                raise wrong(f"action '{action.name}' has parameters {given}, the JSON {declared}")
        for kind, objects, key in (
            ("counter", self.counters, "counter_arrays"),
            ("meter", self.meters, "meter_arrays"),
            ("register", self.registers, "register_arrays"),
        ):
            for array in objects.values():
                check_array(kind, array, program.get(key, []))
        for kind, named, key in (
            ("digest", self.digests, "learn_lists"),
            ("value set", self.value_sets, "parse_vsets"),
        ):
            names = [one["name"] for one in program.get(key, [])]
            for one in named.values():
                if one.name not in names:
                    raise wrong(f"{kind} '{one.name}' is not in the JSON")


def check_table(
    table: Table, tables: Mapping[str, Any], widths: Mapping[tuple[str, str], int]
) -> None:
    """A table's key, name by name."""
    place = f"table '{table.name}'"
    if table.name not in tables:
        raise wrong(f"{place} is not in the JSON")
    key = tables[table.name]["key"]
    if len(key) != len(table.fields):
        raise wrong(f"{place} has {len(table.fields)} match fields, the JSON {len(key)}")
    for field, part in zip(table.fields.values(), key, strict=True):
        target = part["target"]
        pair = (target[0], target[1]) if isinstance(target, list) else (target, "$valid$")
        name = part.get("name") or ".".join(pair)
        if name != field.name:
            raise wrong(f"{place}: field '{field.name}' is '{name}' in the JSON")
        kind = "exact" if part["match_type"] == "valid" else part["match_type"]
        # p4c writes an optional field as a ternary one where the table has others of that kind.
        if kind != field.kind and (kind, field.kind) != ("ternary", "optional"):
            raise wrong(f"{place}, field '{name}': {field.kind}, in the JSON {kind}")
        width = 1 if pair[1] == "$valid$" else widths.get(pair, field.width)
        if width != field.width:
            raise wrong(f"{place}, field '{name}': {field.width} bits, in the JSON {width}")


def check_array(kind: str, array: Array, declared: Iterable[Mapping[str, Any]]) -> None:
    """A counter's, meter's or register's size and width."""
    found = {one["name"]: one for one in declared}.get(array.name)
    if found is None:
        raise wrong(f"{kind} '{array.name}' is not in the JSON")
    if found.get("size") != array.size:
        raise wrong(f"{kind} '{array.name}': size {array.size}, in the JSON {found.get('size')}")
    if kind == "register" and found.get("bitwidth") != array.width:
        width = found.get("bitwidth")
        raise wrong(f"{kind} '{array.name}': {array.width} bits, in the JSON {width}")


def read_action(action: p4i.Action) -> Action:
    """An action of the P4Info."""
    params = {one.id: (one.name, one.bitwidth) for one in action.params}
    return Action(action.preamble.id, action.preamble.name, params)


def read_field(field: p4i.MatchField, place: str) -> Field:
    """A match field of the P4Info."""
    kind = MATCH_KINDS.get(field.match_type)
    if kind is None:
        what = field.other_match_type or f"number {field.match_type}"
        raise TargetError("unimplemented", f"{place}, field '{field.name}': match type {what}")
    if field.bitwidth <= 0:
        message = f"{place}, field '{field.name}': values translated to strings"
        raise TargetError("unimplemented", message)
    return Field(field.id, field.name, field.bitwidth, kind)


def read_register(register: p4i.Register) -> Array:
    """A register of the P4Info."""
    spec = register.type_spec
    width = bit_width(spec)
    if width is None:
        message = f"register '{register.preamble.name}': cells that are no bit strings"
        raise TargetError("unimplemented", message)
    return Array(register.preamble.id, register.preamble.name, register.size, width=width)


def bit_width(spec: Any) -> int | None:
    """The width of a `P4DataTypeSpec` that is a bit string."""
    match spec.WhichOneof("type_spec"):
        case "bitstring":
            which = spec.bitstring.WhichOneof("type_spec")
            return int(getattr(spec.bitstring, which).bitwidth) if which in ("bit", "int") else None
        case "bool":
            return 1
        case _:
            return None


def read_value_set(value_set: p4i.ValueSet) -> Named:
    """A value set of the P4Info."""
    name = value_set.preamble.name
    fields = tuple(read_field(one, f"value set '{name}'") for one in value_set.match)
    return Named(value_set.preamble.id, name, fields=fields)


def read_digest(digest: p4i.Digest, info: p4i.P4Info) -> Named:
    """A digest of the P4Info: widths of its members."""
    spec, name = digest.type_spec, digest.preamble.name
    match spec.WhichOneof("type_spec"):
        case "struct":
            struct = info.type_info.structs.get(spec.struct.name)
            if struct is None:
                raise wrong(f"digest '{name}': struct '{spec.struct.name}' is not declared")
            members = [member.type_spec for member in struct.members]
        case "tuple":
            members = list(spec.tuple.members)
        case _:
            members = [spec]
    widths = tuple(bit_width(member) for member in members)
    known = tuple(width for width in widths if width is not None)
    if len(known) != len(widths):
        message = f"digest '{name}': members that are no bit strings"
        raise TargetError("unimplemented", message)
    is_struct = spec.WhichOneof("type_spec") in ("struct", "tuple")
    return Named(digest.preamble.id, name, widths=known, is_struct=is_struct)


def packet_header(info: p4i.P4Info, name: str) -> tuple[PacketField, ...]:
    """The fields of the controller header `packet_in` or `packet_out`."""
    for header in info.controller_packet_metadata:
        if header.preamble.name == name:
            fields = header.metadata
            return tuple(
                PacketField(o.id, o.name, o.bitwidth, any("@padding" in a for a in o.annotations))
                for o in fields
            )
    return ()
