"""Table entries, their direct counters and meters (P4Runtime specification, 9.1 to 9.4)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from finsy.proto import p4i, p4r

from switch.server.convert import decode, encode, number, ones, signed
from switch.server.p4info import Action, Field, Schema, Table
from switch.server.target import Entry, Target, TargetError

Undo = Callable[[], None]
Key = tuple[int, tuple[tuple[str, str], ...], int]
"""What tells an entry from others: table, matches, priority."""

MEMBER, GROUP = "$member", "$group"
"""The actions of an entry that names a member or group of an action profile."""
METER_PARTS = ("cir", "cburst", "pir", "pburst")


def invalid(message: str) -> TargetError:
    """An argument that does not fit."""
    return TargetError("invalid-argument", message)


def nothing() -> None:
    """Undoes what changed nothing."""


class Tables:
    """All tables under one pipeline configuration. The caller takes care that one call is made
    at a time.
    """

    def __init__(self, target: Target, schema: Schema) -> None:
        self.target = target
        self.schema = schema
        self._action_ids = {action.name: action.id for action in schema.actions.values()}
        # What the target does not keep.
        self._metadata: dict[Key, bytes] = {}
        self._meters: dict[Key, p4r.MeterConfig] = {}
        self.defaults_set: set[int] = set()

    def table(self, table_id: int) -> Table:
        """A table by its number."""
        if table_id not in self.schema.tables:
            raise TargetError("not-found", f"table {table_id:#x} is not in the P4Info")
        return self.schema.tables[table_id]

    # Writing

    def write(self, kind: int, message: p4r.TableEntry) -> Undo:
        """Carries an update out; returns what undoes it."""
        table = self.table(message.table_id)
        if message.idle_timeout_ns and not table.idle:
            raise invalid(f"table '{table.name}': has no idle time-outs")
        signed(message.idle_timeout_ns, f"table '{table.name}': idle_timeout_ns")
        if message.is_default_action:
            return self._write_default(kind, table, message)
        if table.is_const:
            what = f"table '{table.name}': its entries are constant"
            raise TargetError("permission-denied", what)
        entry, key = self.key(table, message)
        match kind:
            case p4r.Update.INSERT:
                return self._insert(table, entry, key, message)
            case p4r.Update.MODIFY:
                return self._modify(table, entry, key, message)
            case _:
                return self._delete(entry, key)

    def _insert(self, table: Table, entry: Entry, key: Key, message: p4r.TableEntry) -> Undo:
        self._check_extras(table, message)
        entry |= self.action(table, message, table.actions)
        self.target.insert_entry(entry)
        self._set_extras(entry, key, message)

        def undo() -> None:
            self.target.delete_entry(entry)
            self._metadata.pop(key, None)
            self._meters.pop(key, None)

        return undo

    def _modify(self, table: Table, entry: Entry, key: Key, message: p4r.TableEntry) -> Undo:
        self._check_extras(table, message)
        before = self._found(table, entry)
        if message.HasField("action"):
            entry |= self.action(table, message, table.actions)
            self.target.modify_entry(entry)
        undo = self._restore(before, key)
        self._set_extras(entry, key, message)
        return undo

    def _delete(self, entry: Entry, key: Key) -> Undo:
        before, idle = self.target.entry(entry), self._idle(entry, key)
        self.target.delete_entry(entry)
        assert before is not None, "what was deleted was there"
        stored, meter = self._metadata.pop(key, None), self._meters.pop(key, None)

        def undo() -> None:
            self.target.insert_entry(before[0])
            if self.table(key[0]).has_counter:
                self.target.set_entry_count(before[0], before[1], before[2])
            if idle:
                self.target.set_idle_timeout(before[0], idle)
            if stored is not None:
                self._metadata[key] = stored
            if meter is not None:
                self._meters[key] = meter
                self.target.configure_entry_meter(before[0], meter_parts(meter, "meter"))

        return undo

    def _restore(self, before: tuple[Entry, int, int], key: Key) -> Undo:
        """What makes an entry as it is now."""
        stored, meter = self._metadata.get(key), self._meters.get(key)
        table, idle = self.table(key[0]), self._idle(before[0], key)

        def undo() -> None:
            self.target.modify_entry(before[0])
            if table.idle:
                self.target.set_idle_timeout(before[0], idle)
            if table.has_counter:
                self.target.set_entry_count(before[0], before[1], before[2])
            put(self._metadata, key, stored)
            if table.has_meter and self._meters.get(key) != meter:
                put(self._meters, key, meter)
                config = meter_parts(meter, "meter") if meter else None
                self.target.configure_entry_meter(before[0], config)

        return undo

    def _found(self, table: Table, entry: Entry) -> tuple[Entry, int, int]:
        found = self.target.entry(entry)
        if found is None:
            raise TargetError("not-found", f"table '{table.name}': there is no such entry")
        return found

    def _check_extras(self, table: Table, message: p4r.TableEntry) -> None:
        if message.HasField("counter_data") and not table.has_counter:
            raise invalid(f"table '{table.name}' has no direct counter")
        if message.HasField("meter_config"):
            if not table.has_meter:
                raise invalid(f"table '{table.name}' has no direct meter")
            meter_parts(message.meter_config, f"table '{table.name}'")
        if message.HasField("counter_data"):
            count_parts(message.counter_data, f"table '{table.name}'")

    def _idle(self, entry: Entry, key: Key) -> int | None:
        """The idle time-out of an entry that is there, in nanoseconds."""
        if not self.table(key[0]).idle or self.target.entry(entry) is None:
            return None
        return self.target.idle_ns(entry)[0]

    def _set_extras(self, entry: Entry, key: Key, message: p4r.TableEntry) -> None:
        put(self._metadata, key, message.metadata or None)
        if self.table(key[0]).idle:
            self.target.set_idle_timeout(entry, message.idle_timeout_ns or None)
        if message.HasField("counter_data"):
            self.target.set_entry_count(entry, *count_parts(message.counter_data, "counter"))
        if message.HasField("meter_config"):
            self._configure(entry, key, message.meter_config)

    def _configure(self, entry: Entry, key: Key, config: p4r.MeterConfig | None) -> None:
        parts = meter_parts(config, f"table '{entry['table']}'") if config is not None else None
        self.target.configure_entry_meter(entry, parts)
        put(self._meters, key, config)

    def _write_default(self, kind: int, table: Table, message: p4r.TableEntry) -> Undo:
        place = f"table '{table.name}': the default action"
        if kind != p4r.Update.MODIFY:
            raise invalid(f"{place} can be modified only")
        if message.match or message.priority:
            raise invalid(f"{place} has neither matches nor a priority")
        if table.const_default:
            raise TargetError("permission-denied", f"{place} is constant")
        if message.HasField("counter_data") or message.HasField("meter_config"):
            raise TargetError("unimplemented", f"{place}: its direct counter or meter")
        before, was_set = self.target.default_action(table.name), table.id in self.defaults_set
        if message.HasField("action"):
            action = self.action(table, message, table.default_actions)
            self.target.set_default_action({"table": table.name} | action)
            self.defaults_set.add(table.id)
        else:
            self.target.reset_default_action(table.name)
            self.defaults_set.discard(table.id)

        def undo() -> None:
            if before is None or not was_set:
                self.target.reset_default_action(table.name)
                self.defaults_set.discard(table.id)
            else:
                self.target.set_default_action({"table": table.name} | before)
                self.defaults_set.add(table.id)

        return undo

    # Conversion

    def key(self, table: Table, message: p4r.TableEntry) -> tuple[Entry, Key]:
        """The target's entry without its action, and what tells it from others."""
        place = f"table '{table.name}'"
        matches: dict[str, Any] = {}
        for part in message.match:
            if part.field_id not in table.fields:
                raise invalid(f"{place}: match field {part.field_id} is not in the P4Info")
            field = table.fields[part.field_id]
            if field.name in matches:
                raise invalid(f"{place}: field '{field.name}' is there twice")
            matches[field.name] = read_match(part, field, f"{place}, field '{field.name}'")
        for field in table.fields.values():
            if field.kind == "exact" and field.name not in matches:
                raise invalid(f"{place}: field '{field.name}' is missing")
        if table.by_priority and message.priority <= 0:
            raise invalid(f"{place}: priority {message.priority}: expected one above zero")
        if not table.by_priority and message.priority:
            raise invalid(f"{place}: priority {message.priority}: its entries have none")
        ordered = tuple(sorted((name, str(part)) for name, part in matches.items()))
        entry = {
            "table": table.name,
            "matches": matches,
            "priority": message.priority,
            "action": "",
            "params": {},
        }
        return entry, (table.id, ordered, message.priority)

    def action(
        self, table: Table, message: p4r.TableEntry, allowed: frozenset[int]
    ) -> dict[str, Any]:
        """`action` and `params` as the target has them."""
        place = f"table '{table.name}'"
        kind = message.action.WhichOneof("type")
        if kind is None:
            raise invalid(f"{place}: the action is missing")
        if table.profile and not message.is_default_action:
            match kind:
                case "action_profile_member_id":
                    number_ = message.action.action_profile_member_id
                    return {"action": MEMBER, "params": {"id": hex(number_)}}
                case "action_profile_group_id":
                    number_ = message.action.action_profile_group_id
                    return {"action": GROUP, "params": {"id": hex(number_)}}
                case "action_profile_action_set":
                    raise TargetError("unimplemented", f"{place}: action sets (one-shot)")
                case _:
                    raise invalid(f"{place}: expected a member or group of its action profile")
        if kind != "action":
            raise invalid(f"{place}: '{kind}': expected an action, since it has no action profile")
        given = message.action.action
        if given.action_id not in self.schema.actions:
            raise invalid(f"{place}: action {given.action_id:#x} is not in the P4Info")
        action = self.schema.actions[given.action_id]
        if given.action_id not in allowed:
            raise invalid(f"{place}: action '{action.name}' is not among those it may run here")
        return {"action": action.name, "params": read_params(action, given, place)}

    # Reading

    def read(self, asked: p4r.TableEntry) -> Iterator[p4r.Entity]:
        """The entries that a request asks for; a table, matches, priority and action left out
        stand for any.
        """
        tables = [self.table(asked.table_id)] if asked.table_id else self.schema.tables.values()
        for table in tables:
            if asked.is_default_action:
                yield from self._read_default(table)
            else:
                for entry, key, packets, octets in self.select(table, asked):
                    shown = self.shown(table, entry, key)
                    if asked.HasField("counter_data") and table.has_counter:
                        set_count(shown.counter_data, self._unit(table), packets, octets)
                    if asked.HasField("meter_config") and key in self._meters:
                        shown.meter_config.CopyFrom(self._meters[key])
                    if table.idle:
                        timeout_ns, elapsed_ns = self.target.idle_ns(entry)
                        shown.idle_timeout_ns = timeout_ns or 0
                        if asked.HasField("time_since_last_hit"):
                            shown.time_since_last_hit.elapsed_ns = elapsed_ns
                    yield p4r.Entity(table_entry=shown)

    def _unit(self, table: Table) -> int:
        unit: int = self.schema.direct_counter_units.get(table.id, p4i.CounterSpec.BOTH)
        return unit

    def select(self, table: Table, asked: p4r.TableEntry) -> Iterator[tuple[Entry, Key, int, int]]:
        """Entries of a table that fit matches, priority and action of a request."""
        if asked.match or not table.fields:
            if not table.fields:
                return
            # A priority left out can't name one entry of a table that has them.
            if not table.by_priority or asked.priority:
                entry, key = self.key(table, asked)
                found = self.target.entry(entry)
                rows = [found] if found else []
            else:
                stand_in = p4r.TableEntry()
                stand_in.CopyFrom(asked)
                stand_in.priority = 1
                wanted = self.key(table, stand_in)[1][1]
                rows = [
                    row
                    for row in self.target.entries(table.name)
                    if self.key_of(table, row[0])[1] == wanted
                ]
        else:
            rows = self.target.entries(table.name)
        wanted_action = asked.action.action.action_id
        for entry, packets, octets in rows:
            key = self.key_of(table, entry)
            if asked.priority and key[2] != asked.priority:
                continue
            if wanted_action and self._action_ids.get(entry["action"]) != wanted_action:
                continue
            yield entry, key, packets, octets

    def key_of(self, table: Table, entry: Entry) -> Key:
        """What tells a target's entry from others, as `key` has it."""
        kinds = {field.name: field for field in table.fields.values()}
        matches = {name: plain(part, kinds[name]) for name, part in entry["matches"].items()}
        ordered = tuple(sorted((name, str(part)) for name, part in matches.items() if part))
        return table.id, ordered, entry["priority"] if table.by_priority else 0

    def _read_default(self, table: Table) -> Iterator[p4r.Entity]:
        shown = p4r.TableEntry(table_id=table.id, is_default_action=True)
        default = self.target.default_action(table.name)
        if default is not None and default["action"] in self._action_ids:
            self._show_action(shown, default)
            yield p4r.Entity(table_entry=shown)

    def shown(self, table: Table, entry: Entry, key: Key) -> p4r.TableEntry:
        """A target's entry as P4Runtime has it, canonical."""
        shown = p4r.TableEntry(table_id=table.id, priority=key[2], is_const=table.is_const)
        for field in table.fields.values():
            part = plain(entry["matches"].get(field.name), field)
            if part:
                show_match(shown.match.add(field_id=field.id), part)
        if key in self._metadata:
            shown.metadata = self._metadata[key]
        if entry["action"] == MEMBER:
            shown.action.action_profile_member_id = number(entry["params"]["id"])
        elif entry["action"] == GROUP:
            shown.action.action_profile_group_id = number(entry["params"]["id"])
        elif entry["action"] in self._action_ids:
            self._show_action(shown, entry)
        return shown

    def expired(self) -> list[p4r.TableEntry]:
        """Entries that went without a hit for longer than they may, each told once."""
        by_name = {table.name: table for table in self.schema.tables.values()}
        found = []
        for entry in self.target.take_expired():
            if entry["table"] in by_name:
                table = by_name[entry["table"]]
                shown = self.shown(table, entry, self.key_of(table, entry))
                shown.idle_timeout_ns = self.target.idle_ns(entry)[0] or 0
                found.append(shown)
        return found

    def _show_action(self, shown: p4r.TableEntry, entry: dict[str, Any]) -> None:
        action = self.schema.actions[self._action_ids[entry["action"]]]
        shown.action.action.action_id = action.id
        for number_, (name, _) in action.params.items():
            value = encode(number(entry["params"][name]))
            shown.action.action.params.add(param_id=number_, value=value)

    # Direct counters and meters

    def write_direct(
        self, kind: int, message: p4r.DirectCounterEntry | p4r.DirectMeterEntry
    ) -> Undo:
        """Sets an entry's counter or meter."""
        table = self.table(message.table_entry.table_id)
        if kind != p4r.Update.MODIFY:
            raise invalid(f"table '{table.name}': direct counters and meters can be modified only")
        entry, key = self.key(table, message.table_entry)
        before = self._found(table, entry)
        if isinstance(message, p4r.DirectCounterEntry):
            if not table.has_counter:
                raise invalid(f"table '{table.name}' has no direct counter")
            if not message.HasField("data"):
                return nothing
            self.target.set_entry_count(entry, *count_parts(message.data, "counter"))
            return lambda: self.target.set_entry_count(entry, before[1], before[2])
        if not table.has_meter:
            raise invalid(f"table '{table.name}' has no direct meter")
        old = self._meters.get(key)
        self._configure(entry, key, message.config if message.HasField("config") else None)
        return lambda: self._configure(entry, key, old)

    def read_direct(
        self, asked: p4r.DirectCounterEntry | p4r.DirectMeterEntry
    ) -> Iterator[p4r.Entity]:
        """Counters or meters of the entries asked for."""
        counts = isinstance(asked, p4r.DirectCounterEntry)
        if asked.table_entry.table_id:
            tables = [self.table(asked.table_entry.table_id)]
        else:
            tables = [
                table
                for table in self.schema.tables.values()
                if (table.has_counter if counts else table.has_meter)
            ]
        for table in tables:
            if not (table.has_counter if counts else table.has_meter):
                what = "counter" if counts else "meter"
                raise invalid(f"table '{table.name}' has no direct {what}")
            for entry, key, packets, octets in self.select(table, asked.table_entry):
                shown = self.shown(table, entry, key)
                shown.ClearField("action")
                if counts:
                    counter = p4r.DirectCounterEntry(table_entry=shown)
                    set_count(counter.data, self._unit(table), packets, octets)
                    yield p4r.Entity(direct_counter_entry=counter)
                else:
                    meter = p4r.DirectMeterEntry(table_entry=shown)
                    if key in self._meters:
                        meter.config.CopyFrom(self._meters[key])
                    yield p4r.Entity(direct_meter_entry=meter)


def put(where: dict[Key, Any], key: Key, value: Any) -> None:
    """Sets or, with None, removes."""
    if value is None:
        where.pop(key, None)
    else:
        where[key] = value


def set_count(data: p4r.CounterData, unit: int, packets: int, octets: int) -> None:
    """Fills in what the counter's unit has."""
    data.SetInParent()
    if unit != p4i.CounterSpec.BYTES:
        data.packet_count = packets
    if unit != p4i.CounterSpec.PACKETS:
        data.byte_count = octets


def count_parts(data: p4r.CounterData, place: str) -> tuple[int, int]:
    """Packets and bytes, neither negative."""
    return (
        signed(data.packet_count, f"{place}: packet_count"),
        signed(data.byte_count, f"{place}: byte_count"),
    )


def meter_parts(config: p4r.MeterConfig, place: str) -> dict[str, int]:
    """Rates and bursts (RFC 2698), neither negative, the peak rate no lower than the other."""
    if config.eburst:
        raise TargetError("unimplemented", f"{place}: eburst (single-rate meters)")
    parts = {name: signed(getattr(config, name), f"{place}: {name}") for name in METER_PARTS}
    if parts["pir"] < parts["cir"]:
        raise invalid(f"{place}: pir {parts['pir']} is below cir {parts['cir']}")
    return parts


def read_params(action: Action, given: p4r.Action, place: str) -> dict[str, str]:
    """Parameters by name, each there once."""
    params: dict[str, str] = {}
    for param in given.params:
        if param.param_id not in action.params:
            what = f"parameter {param.param_id} of action '{action.name}' is not in the P4Info"
            raise invalid(f"{place}: {what}")
        name, width = action.params[param.param_id]
        where = f"{place}, action '{action.name}', parameter '{name}'"
        if name in params:
            raise invalid(f"{where}: is there twice")
        params[name] = hex(decode(param.value, width, where))
    for name, _ in action.params.values():
        if name not in params:
            raise invalid(f"{place}, action '{action.name}', parameter '{name}': is missing")
    return params


def read_match(part: p4r.FieldMatch, field: Field, place: str) -> dict[str, Any]:
    """A match as the target has it; what P4Runtime calls non-canonical is refused."""
    kind = part.WhichOneof("field_match_type")
    if kind != field.kind:
        raise invalid(f"{place}: a match of kind {kind}: expected {field.kind}")
    match field.kind:
        case "exact":
            return {"exact": hex(decode(part.exact.value, field.width, place))}
        case "optional":
            return {"optional": hex(decode(part.optional.value, field.width, place))}
        case "lpm":
            value, length = decode(part.lpm.value, field.width, place), part.lpm.prefix_len
            if not 0 < length <= field.width:
                expected = f"expected 1 to {field.width}; any value is the field left out"
                raise invalid(f"{place}: prefix length {length}: {expected}")
            if value & ones(field.width - length):
                raise invalid(f"{place}: {value:#x} has bits below its prefix of {length}")
            return {"lpm": [hex(value), length]}
        case "ternary":
            value = decode(part.ternary.value, field.width, place)
            mask = decode(part.ternary.mask, field.width, f"{place}, mask")
            if mask == 0:
                raise invalid(f"{place}: mask 0: any value is the field left out")
            if value & ~mask:
                raise invalid(f"{place}: {value:#x} has bits outside its mask {mask:#x}")
            return {"ternary": [hex(value), hex(mask)]}
        case "range":
            low = decode(part.range.low, field.width, f"{place}, low")
            high = decode(part.range.high, field.width, f"{place}, high")
            if low > high:
                raise invalid(f"{place}: the range {low:#x} to {high:#x} is empty")
            if (low, high) == (0, ones(field.width)):
                raise invalid(f"{place}: a range of all values: any is the field left out")
            return {"range": [hex(low), hex(high)]}


def plain(part: dict[str, Any] | None, field: Field) -> dict[str, Any] | None:
    """A target's match as `read_match` writes it; None for any value."""
    if part is None:
        return None
    [(kind, value)] = part.items()
    match kind:
        case "lpm":
            return {"lpm": [hex(number(value[0])), value[1]]}
        case "ternary" if field.kind == "optional":
            return {"optional": hex(number(value[0]))}
        case "ternary":
            return {"ternary": [hex(number(value[0])), hex(number(value[1]))]}
        case "range":
            low, high = number(value[0]), number(value[1])
            if (low, high) == (0, ones(field.width)):
                return None
            return {"range": [hex(low), hex(high)]}
        case _:
            return {kind: hex(number(value))}


def show_match(shown: p4r.FieldMatch, part: dict[str, Any]) -> None:
    """A match as P4Runtime has it, canonical."""
    [(kind, value)] = part.items()
    match kind:
        case "exact":
            shown.exact.value = encode(number(value))
        case "optional":
            shown.optional.value = encode(number(value))
        case "lpm":
            shown.lpm.value, shown.lpm.prefix_len = encode(number(value[0])), value[1]
        case "ternary":
            shown.ternary.value, shown.ternary.mask = (encode(number(one)) for one in value)
        case "range":
            shown.range.low, shown.range.high = (encode(number(one)) for one in value)
