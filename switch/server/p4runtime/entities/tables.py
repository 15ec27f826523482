"""Table entries (P4Runtime specification, 9.1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from finsy.proto import p4r

from narrows.schema.switch import Match, TableEntry
from narrows.switch.server.p4runtime.entities.actions import show_action
from narrows.switch.server.p4runtime.entities.cells import count_parts, meter_parts, set_count
from narrows.switch.server.p4runtime.entities.default_actions import (
    DefaultActions,
    check_extras,
    plain_action,
)
from narrows.switch.server.p4runtime.entities.matches import plain, read_match, show_match
from narrows.switch.server.p4runtime.entities.profiles import GROUP, MEMBER, Profiles
from narrows.switch.server.p4runtime.info.convert import number, signed
from narrows.switch.server.p4runtime.info.p4info import Schema, Table
from narrows.switch.server.p4runtime.undo import Undo, put
from narrows.switch.server.target import Choice, Target, TargetError, invalid, pages

Key = tuple[int, frozenset[tuple[str, str, Any]], int]
"""Identity of an entry: table, matches, priority."""
Row = tuple[TableEntry, int, int]
"""A target's entry, with its packets and bytes."""


class Tables:
    """All tables under one pipeline configuration. The caller serializes calls."""

    def __init__(self, target: Target, schema: Schema, profiles: Profiles) -> None:
        self.target = target
        self.schema = schema
        self.profiles = profiles
        # State that the target does not keep.
        self._metadata: dict[Key, bytes] = {}
        self.meters: dict[Key, p4r.MeterConfig] = {}
        self.defaults = DefaultActions(target, schema)
        # For each table with a selector: whether its entries have action sets.
        self._one_shot: dict[int, dict[Key, bool]] = {}

    def table(self, table_id: int) -> Table:
        """The table with this number. Raises `TargetError` if there is none."""
        if table_id not in self.schema.tables:
            raise TargetError("not-found", f"table {table_id:#x} is not in the P4Info")
        return self.schema.tables[table_id]

    # Writing

    def write(self, kind: int, message: p4r.TableEntry) -> Undo:
        """Applies an update; returns a function that undoes it. Raises `TargetError`."""
        table = self.table(message.table_id)
        if message.idle_timeout_ns and not table.idle:
            raise invalid(f"table '{table.name}': does not support idle time-outs")
        signed(message.idle_timeout_ns, f"table '{table.name}': idle_timeout_ns")
        if message.is_default_action:
            return self.defaults.write(kind, table, message)
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
                return self._delete(table, entry, key)

    def _insert(self, table: Table, entry: TableEntry, key: Key, message: p4r.TableEntry) -> Undo:
        check_extras(table, message)
        entry = {**entry, **self._choice(table, key, message)}
        try:
            self.target.insert_entry(entry)
        except TargetError:
            self.profiles.drop_set(entry)
            raise
        self._note_choice(table, key, entry)

        def undo() -> None:
            # Undoing a later update may have given it another action set.
            now, _, _ = self.found(table, entry)
            self.target.delete_entry(entry)
            self.profiles.drop_set(now)
            self._forget(table, key)

        self._set_extras_or(undo, table, entry, key, message)
        return undo

    def _modify(self, table: Table, entry: TableEntry, key: Key, message: p4r.TableEntry) -> Undo:
        check_extras(table, message)
        before = self.found(table, entry)
        action_set = self.profiles.set_of(before[0])
        changed = message.HasField("action")
        if changed:
            entry = {**entry, **self._choice(table, key, message)}
            try:
                self.target.modify_entry(entry)
            except TargetError:
                self.profiles.drop_set(entry)
                raise
            self.profiles.drop_set(before[0])
            self._note_choice(table, key, entry)
        stored, meter = self._metadata.get(key), self.meters.get(key)
        idle = self._idle(table, entry)

        def undo() -> None:
            if changed:
                now, _, _ = self.found(table, entry)
                restored = self._with_set(table, before[0], action_set)
                self.target.modify_entry(restored)
                self.profiles.drop_set(now)
                self._note_choice(table, key, restored)
            self._restore_extras(table, before, key, stored, meter, idle)

        self._set_extras_or(undo, table, entry, key, message)
        return undo

    def _delete(self, table: Table, entry: TableEntry, key: Key) -> Undo:
        before, idle = self.found(table, entry), self._idle(table, entry)
        action_set = self.profiles.set_of(before[0])
        self.target.delete_entry(entry)
        self.profiles.drop_set(before[0])
        stored, meter = self._metadata.get(key), self.meters.get(key)
        self._forget(table, key)

        def undo() -> None:
            restored = self._with_set(table, before[0], action_set)
            self.target.insert_entry(restored)
            self._note_choice(table, key, restored)
            self._restore_extras(table, before, key, stored, meter, idle)

        return undo

    def _forget(self, table: Table, key: Key) -> None:
        self._metadata.pop(key, None)
        self.meters.pop(key, None)
        self._one_shot.get(table.id, {}).pop(key, None)

    def found(self, table: Table, entry: TableEntry) -> tuple[TableEntry, int, int]:
        """The target's entry, with its packets and bytes. Raises `TargetError` if there is none."""
        found = self.target.entry(entry)
        if found is None:
            raise TargetError("not-found", f"table '{table.name}': no such entry")
        return found

    # Action sets: either all entries of a table have them, or none.

    def _with_set(
        self, table: Table, entry: TableEntry, action_set: p4r.ActionProfileActionSet | None
    ) -> TableEntry:
        """Restores an entry with its former action set."""
        if action_set is None:
            return entry
        profile = self.profiles.profile(table.profile)
        choice = self.profiles.create_set(profile, action_set, f"table '{table.name}'")
        return {**entry, **choice}

    def _note_choice(self, table: Table, key: Key, entry: TableEntry) -> None:
        if table.profile:
            one_shot = self.profiles.set_of(entry) is not None
            self._one_shot.setdefault(table.id, {})[key] = one_shot

    def _check_choice(self, table: Table, key: Key, one_shot: bool, label: str) -> None:
        others = self._one_shot.get(table.id, {})
        other = next((other for known, other in others.items() if known != key), one_shot)
        if other != one_shot:
            have = "action sets" if other else "members or groups"
            raise invalid(f"{label}: expected {have}, as in its other entries")

    def _choice(self, table: Table, key: Key, message: p4r.TableEntry) -> Choice:
        """`action` and `params` of an entry."""
        label = f"table '{table.name}'"
        kind = message.action.WhichOneof("type")
        if kind is None:
            raise invalid(f"{label}: the action is missing")
        if not table.profile:
            return plain_action(self.schema, table, message, table.actions)
        self._check_choice(table, key, kind == "action_profile_action_set", label)
        match kind:
            case "action_profile_member_id":
                params = {"id": hex(message.action.action_profile_member_id)}
                return {"action": MEMBER, "params": params}
            case "action_profile_group_id":
                params = {"id": hex(message.action.action_profile_group_id)}
                return {"action": GROUP, "params": params}
            case "action_profile_action_set":
                profile = self.profiles.profile(table.profile)
                given = message.action.action_profile_action_set
                return self.profiles.create_set(profile, given, label)
            case _:
                what = "a member or group of its action profile, or an action set"
                raise invalid(f"{label}: expected {what}")

    # An entry's other parts: counter, meter, metadata, idle time-out.

    def _idle(self, table: Table, entry: TableEntry) -> int | None:
        """The idle time-out of an existing entry, in nanoseconds."""
        return self.target.idle_ns(entry)[0] if table.idle else None

    def _set_extras(
        self, table: Table, entry: TableEntry, key: Key, message: p4r.TableEntry
    ) -> None:
        put(self._metadata, key, message.metadata or None)
        if table.idle:
            self.target.set_idle_timeout(entry, message.idle_timeout_ns or None)
        if message.HasField("counter_data"):
            self.target.set_entry_count(entry, *count_parts(message.counter_data, "counter"))
        if message.HasField("meter_config"):
            self.configure(table, entry, key, message.meter_config)

    def _set_extras_or(
        self, undo: Undo, table: Table, entry: TableEntry, key: Key, message: p4r.TableEntry
    ) -> None:
        try:
            self._set_extras(table, entry, key, message)
        except Exception:
            undo()
            raise

    def _restore_extras(
        self,
        table: Table,
        before: tuple[TableEntry, int, int],
        key: Key,
        stored: bytes | None,
        meter: p4r.MeterConfig | None,
        idle: int | None,
    ) -> None:
        entry, packets, octets = before
        put(self._metadata, key, stored)
        if table.idle:
            self.target.set_idle_timeout(entry, idle)
        if table.has_counter:
            self.target.set_entry_count(entry, packets, octets)
        if table.has_meter and self.meters.get(key) != meter:
            self.configure(table, entry, key, meter)

    def configure(
        self, table: Table, entry: TableEntry, key: Key, config: p4r.MeterConfig | None
    ) -> None:
        """Sets an entry's direct meter; None makes every packet green."""
        label = f"table '{table.name}'"
        parts = meter_parts(config, table.meter_kind, label) if config is not None else None
        self.target.configure_entry_meter(entry, parts)
        put(self.meters, key, config)

    # Conversion

    def key(self, table: Table, message: p4r.TableEntry) -> tuple[TableEntry, Key]:
        """The target's entry without its action, and its identity. Raises `TargetError`."""
        label = f"table '{table.name}'"
        matches: dict[str, Match] = {}
        for part in message.match:
            if part.field_id not in table.fields:
                raise invalid(f"{label}: match field {part.field_id} is not in the P4Info")
            field = table.fields[part.field_id]
            if field.name in matches:
                raise invalid(f"{label}: field '{field.name}' is repeated")
            matches[field.name] = read_match(part, field)
        for field in table.fields.values():
            if field.kind == "exact" and field.name not in matches:
                raise invalid(f"{label}: field '{field.name}' is missing")
        if table.by_priority and message.priority <= 0:
            raise invalid(f"{label}: priority {message.priority}: expected one above zero")
        if not table.by_priority and message.priority:
            raise invalid(
                f"{label}: priority {message.priority}: expected none, since its entries have no "
                "priority"
            )
        entry: TableEntry = {
            "table": table.name,
            "matches": matches,
            "priority": message.priority,
            "action": "",
            "params": {},
        }
        return entry, (table.id, hashed(matches), message.priority)

    def key_of(self, table: Table, entry: TableEntry) -> Key:
        """The identity of a target's entry, in the form of `key`."""
        found = entry["matches"]
        parts = {f.name: plain(found.get(f.name), f) for f in table.fields.values()}
        matches = {name: part for name, part in parts.items() if part}
        return table.id, hashed(matches), entry["priority"] if table.by_priority else 0

    # Reading

    def read(self, asked: p4r.TableEntry) -> Iterator[list[p4r.Entity]]:
        """The requested entries, part by part; each part is of one instant. An absent table, match,
        priority or action matches any.
        """
        tables = [self.table(asked.table_id)] if asked.table_id else self.schema.tables.values()
        for table in tables:
            if asked.is_default_action:
                yield list(self.defaults.read(table, asked))
                continue
            for part in self.select(table, asked):
                yield [p4r.Entity(table_entry=self._read(table, asked, *row)) for row in part]

    def _read(
        self, table: Table, asked: p4r.TableEntry, entry: TableEntry, packets: int, octets: int
    ) -> p4r.TableEntry:
        """An entry with the requested extras."""
        shown = self.shown(table, entry)
        if asked.HasField("counter_data") and table.has_counter:
            unit = self.schema.direct_counter_unit(table.id)
            set_count(shown.counter_data, unit, packets, octets)
        if asked.HasField("meter_config"):
            config = self.meter(table, entry)
            if config is not None:
                shown.meter_config.CopyFrom(config)
        if table.idle:
            timeout_ns, elapsed_ns = self.target.idle_ns(entry)
            shown.idle_timeout_ns = timeout_ns or 0
            if asked.HasField("time_since_last_hit"):
                shown.time_since_last_hit.elapsed_ns = elapsed_ns
        return shown

    def select(self, table: Table, asked: p4r.TableEntry) -> Iterator[list[Row]]:
        """Entries of a table that fit the matches, priority and action of a request, part by part;
        a part may be empty.
        """
        if not table.fields:
            return
        parts: Iterable[list[Row]]
        parts = self._matching(table, asked) if asked.match else pages(self.target, table.name)
        wanted = asked.action.action.action_id
        priority = asked.priority if table.by_priority else 0
        for part in parts:
            yield [
                row
                for row in part
                if (not priority or row[0]["priority"] == priority)
                and (not wanted or self.schema.action_ids.get(row[0]["action"]) == wanted)
            ]

    def _matching(self, table: Table, asked: p4r.TableEntry) -> Iterator[list[Row]]:
        if not table.by_priority or asked.priority:
            entry, _ = self.key(table, asked)
            found = self.target.entry(entry)
            yield [] if found is None else [found]
            return
        # Without a priority, the matches can select several entries.
        stand_in = p4r.TableEntry()
        stand_in.CopyFrom(asked)
        stand_in.priority = 1
        wanted = self.key(table, stand_in)[1][1]
        for part in pages(self.target, table.name):
            yield [row for row in part if self.key_of(table, row[0])[1] == wanted]

    def meter(self, table: Table, entry: TableEntry) -> p4r.MeterConfig | None:
        """The configuration of an entry's direct meter."""
        return self.meters.get(self.key_of(table, entry)) if table.has_meter else None

    def shown(self, table: Table, entry: TableEntry) -> p4r.TableEntry:
        """A target's entry in P4Runtime's canonical form."""
        shown = p4r.TableEntry(table_id=table.id, is_const=table.is_const)
        if table.by_priority:
            shown.priority = entry["priority"]
        for field in table.fields.values():
            part = plain(entry["matches"].get(field.name), field)
            if part:
                show_match(shown.match.add(field_id=field.id), part, field)
        if self._metadata:
            shown.metadata = self._metadata.get(self.key_of(table, entry), b"")
        action_set = self.profiles.set_of(entry)
        if action_set is not None:
            shown.action.action_profile_action_set.CopyFrom(action_set)
        elif entry["action"] == MEMBER:
            shown.action.action_profile_member_id = number(entry["params"]["id"])
        elif entry["action"] == GROUP:
            shown.action.action_profile_group_id = number(entry["params"]["id"])
        elif entry["action"] in self.schema.action_ids:
            show_action(self.schema, shown.action.action, entry)
        return shown

    def expired(self) -> list[p4r.TableEntry]:
        """Entries that exceeded their idle time-out, each returned once."""
        by_name = {table.name: table for table in self.schema.tables.values()}
        found = []
        for entry in self.target.take_expired():
            if entry["table"] in by_name:
                table = by_name[entry["table"]]
                shown = self.shown(table, entry)
                shown.idle_timeout_ns = self.target.idle_ns(entry)[0] or 0
                found.append(shown)
        return found


def hashed(matches: Mapping[str, Match]) -> frozenset[tuple[str, str, Any]]:
    """Matches as a part of a key: field, kind, value."""
    parts = ((name, kind, value) for name, part in matches.items() for kind, value in part.items())
    return frozenset(
        (name, kind, tuple(value) if isinstance(value, list) else value)
        for name, kind, value in parts
    )
