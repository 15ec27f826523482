"""Counters, meters, registers and value sets (P4Runtime specification, 9.3, 9.4, 9.7, 9.8)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from finsy.proto import p4r

from narrows.schema.switch import Match
from narrows.switch.server.p4runtime.entities.cells import count_parts, meter_parts, set_count
from narrows.switch.server.p4runtime.entities.matches import read_match, show_match
from narrows.switch.server.p4runtime.info.convert import decode, encode, number
from narrows.switch.server.p4runtime.info.p4info import Array, Named, Schema
from narrows.switch.server.p4runtime.undo import Undo, nothing, put
from narrows.switch.server.target import Target, TargetError, invalid

CELLS_A_PART = 1000
"""Cells that are read at one instant."""


def one_of(arrays: Mapping[int, Array], number_: int, kind: str) -> Array:
    """A counter, meter or register by its number. Raises `TargetError` if there is none."""
    if number_ not in arrays:
        raise TargetError("not-found", f"{kind} {number_:#x} is not in the P4Info")
    return arrays[number_]


def asked_arrays(arrays: Mapping[int, Array], number_: int, kind: str) -> Iterable[Array]:
    """The requested one, or all for 0."""
    return [one_of(arrays, number_, kind)] if number_ else arrays.values()


def span(array: Array, has_index: bool, index: int, kind: str) -> tuple[int, int]:
    """The first cell and the number of cells: one, or all without an index. Raises `TargetError` if
    the cell does not exist.
    """
    if not has_index:
        return 0, array.size
    if not 0 <= index < array.size:
        message = f"{kind} '{array.name}': index {index}: expected below {array.size}"
        raise TargetError("out-of-range", message)
    return index, 1


def spans(first: int, count: int) -> Iterator[tuple[int, int]]:
    """The cells in parts: the first of each part, and its length."""
    for begin in range(first, first + count, CELLS_A_PART):
        yield begin, min(CELLS_A_PART, first + count - begin)


def only_modify(kind: int, what: str) -> None:
    """Raises unless the update is MODIFY, since cells always exist."""
    if kind != p4r.Update.MODIFY:
        raise invalid(f"{what} supports only MODIFY")


class Externs:
    """The externs under one pipeline configuration."""

    def __init__(self, target: Target, schema: Schema) -> None:
        self.target = target
        self.schema = schema
        self._meters: dict[tuple[int, int], p4r.MeterConfig] = {}
        self._value_sets: dict[int, p4r.ValueSetEntry] = {}

    def write_counter(self, kind: int, message: p4r.CounterEntry) -> Undo:
        """Sets one cell or all."""
        array = one_of(self.schema.counters, message.counter_id, "counter")
        only_modify(kind, f"counter '{array.name}'")
        has_index = message.HasField("index")
        first, count = span(array, has_index, message.index.index, "counter")
        if not message.HasField("data"):
            return nothing
        value = count_parts(message.data, f"counter '{array.name}'")
        before = self.target.read_counters(array.name, first, count)
        for index in range(first, first + count):
            self.target.write_counter(array.name, index, *value)

        def undo() -> None:
            for index, (packets, octets) in enumerate(before, first):
                self.target.write_counter(array.name, index, packets, octets)

        return undo

    def read_counter(self, asked: p4r.CounterEntry) -> Iterator[p4r.Entity]:
        """Reads one cell, all cells of a counter, or all counters."""
        for array in asked_arrays(self.schema.counters, asked.counter_id, "counter"):
            has_index = asked.HasField("index")
            first, count = span(array, has_index, asked.index.index, "counter")
            for begin, part in spans(first, count):
                cells = self.target.read_counters(array.name, begin, part)
                for index, (packets, octets) in enumerate(cells, begin):
                    shown = p4r.CounterEntry(counter_id=array.id, index=p4r.Index(index=index))
                    set_count(shown.data, array.unit, packets, octets)
                    yield p4r.Entity(counter_entry=shown)

    def write_meter(self, kind: int, message: p4r.MeterEntry) -> Undo:
        """Configures one cell or all; without a config every packet is green."""
        array = one_of(self.schema.meters, message.meter_id, "meter")
        only_modify(kind, f"meter '{array.name}'")
        first, count = span(array, message.HasField("index"), message.index.index, "meter")
        cells = range(first, first + count)
        before = {index: self._meters.get((array.id, index)) for index in cells}
        config = message.config if message.HasField("config") else None
        for index in cells:
            self._configure(array, index, config)

        def undo() -> None:
            for index, old in before.items():
                self._configure(array, index, old)

        return undo

    def _configure(self, array: Array, index: int, config: p4r.MeterConfig | None) -> None:
        label = f"meter '{array.name}'"
        parts = meter_parts(config, array.kind, label) if config is not None else None
        self.target.configure_meter(array.name, index, parts)
        put(self._meters, (array.id, index), config)

    def read_meter(self, asked: p4r.MeterEntry) -> Iterator[p4r.Entity]:
        """Reads one cell, all cells of a meter, or all meters."""
        for array in asked_arrays(self.schema.meters, asked.meter_id, "meter"):
            first, count = span(array, asked.HasField("index"), asked.index.index, "meter")
            for index in range(first, first + count):
                shown = p4r.MeterEntry(meter_id=array.id, index=p4r.Index(index=index))
                if (array.id, index) in self._meters:
                    shown.config.CopyFrom(self._meters[array.id, index])
                yield p4r.Entity(meter_entry=shown)

    def write_register(self, kind: int, message: p4r.RegisterEntry) -> Undo:
        """Sets one cell or all. Raises `TargetError`."""
        array = one_of(self.schema.registers, message.register_id, "register")
        label = f"register '{array.name}'"
        only_modify(kind, label)
        first, count = span(array, message.HasField("index"), message.index.index, "register")
        data = message.data.WhichOneof("data")
        if data != "bitstring":
            raise invalid(f"{label}: data of kind {data}: expected bitstring")
        value = hex(decode(message.data.bitstring, array.width, label))
        before = self.target.read_registers(array.name, first, count)
        for index in range(first, first + count):
            self.target.write_register(array.name, index, value)

        def undo() -> None:
            for index, old in enumerate(before, first):
                self.target.write_register(array.name, index, old)

        return undo

    def read_register(self, asked: p4r.RegisterEntry) -> Iterator[p4r.Entity]:
        """Reads one cell, all cells of a register, or all registers."""
        for array in asked_arrays(self.schema.registers, asked.register_id, "register"):
            has_index = asked.HasField("index")
            first, count = span(array, has_index, asked.index.index, "register")
            for begin, part in spans(first, count):
                cells = self.target.read_registers(array.name, begin, part)
                for index, value in enumerate(cells, begin):
                    shown = p4r.RegisterEntry(register_id=array.id, index=p4r.Index(index=index))
                    shown.data.bitstring = encode(number(value))
                    yield p4r.Entity(register_entry=shown)

    def write_value_set(self, kind: int, message: p4r.ValueSetEntry) -> Undo:
        """Replaces all members."""
        value_set = self._value_set(message.value_set_id)
        only_modify(kind, f"value set '{value_set.name}'")
        before = self._value_sets.get(value_set.id)
        self.target.set_value_set(value_set.name, members(value_set, message))
        self._value_sets[value_set.id] = message

        def undo() -> None:
            old = before or p4r.ValueSetEntry(value_set_id=value_set.id)
            self.target.set_value_set(value_set.name, members(value_set, old))
            self._value_sets[value_set.id] = old

        return undo

    def _value_set(self, number_: int) -> Named:
        if number_ not in self.schema.value_sets:
            raise TargetError("not-found", f"value set {number_:#x} is not in the P4Info")
        return self.schema.value_sets[number_]

    def read_value_set(self, asked: p4r.ValueSetEntry) -> Iterator[p4r.Entity]:
        """Reads one set or all."""
        if asked.value_set_id:
            self._value_set(asked.value_set_id)
        for number_ in [asked.value_set_id] if asked.value_set_id else self.schema.value_sets:
            empty = p4r.ValueSetEntry(value_set_id=number_)
            found = self._value_sets.get(number_, empty)
            shown = shown_members(self.schema.value_sets[number_], found)
            yield p4r.Entity(value_set_entry=shown)


def members(value_set: Named, message: p4r.ValueSetEntry) -> list[list[Match | None]]:
    """The target's members. A field that is not exact may be absent. Raises `TargetError`."""
    label = f"value set '{value_set.name}'"
    if value_set.size and len(message.members) > value_set.size:
        what = f"{label}: {len(message.members)} members: expected at most {value_set.size}"
        raise TargetError("resource-exhausted", what)
    found = []
    fields = {field.id: field for field in value_set.fields}
    for member in message.members:
        parts: dict[int, Match] = {}
        for part in member.match:
            if part.field_id not in fields:
                raise invalid(f"{label}: field {part.field_id} is not in the P4Info")
            field = fields[part.field_id]
            if field.id in parts:
                raise invalid(f"{label}, field '{field.name}': is repeated")
            parts[field.id] = read_match(part, field)
        for field in value_set.fields:
            if field.kind == "exact" and field.id not in parts:
                raise invalid(f"{label}, field '{field.name}': is missing")
        found.append([parts.get(field.id) for field in value_set.fields])
    return found


def shown_members(value_set: Named, message: p4r.ValueSetEntry) -> p4r.ValueSetEntry:
    """The members in P4Runtime's canonical form."""
    shown = p4r.ValueSetEntry(value_set_id=value_set.id)
    for parts in members(value_set, message):
        member = shown.members.add()
        for field, part in zip(value_set.fields, parts, strict=True):
            if part is not None:
                show_match(member.match.add(field_id=field.id), part, field)
    return shown
