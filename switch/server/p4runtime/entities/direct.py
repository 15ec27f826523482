"""Direct counters and meters as separate entities (P4Runtime specification, 9.3.2, 9.4.2)."""

from __future__ import annotations

from collections.abc import Iterator

from finsy.proto import p4r

from narrows.schema.switch import TableEntry
from narrows.switch.server.p4runtime.entities.cells import count_parts, set_count
from narrows.switch.server.p4runtime.entities.tables import Tables
from narrows.switch.server.p4runtime.info.p4info import Table
from narrows.switch.server.p4runtime.undo import Undo, nothing
from narrows.switch.server.target import TargetError, invalid


class Direct:
    """The direct counters and meters of the entries of `tables`."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self.target = tables.target

    def write_counter(self, kind: int, message: p4r.DirectCounterEntry) -> Undo:
        """Sets the counter of an entry or of the default action."""
        table = self._table(kind, message.table_entry, "counter")
        if message.table_entry.is_default_action:
            if not message.HasField("data"):
                return nothing
            count = self.target.default_count(table.name)
            self.target.set_default_count(table.name, *count_parts(message.data, "counter"))
            return lambda: self.target.set_default_count(table.name, *count)
        entry, _ = self.tables.key(table, message.table_entry)
        before = self.tables.found(table, entry)
        if not message.HasField("data"):
            return nothing
        self.target.set_entry_count(entry, *count_parts(message.data, "counter"))
        return lambda: self.target.set_entry_count(entry, before[1], before[2])

    def write_meter(self, kind: int, message: p4r.DirectMeterEntry) -> Undo:
        """Configures an entry's meter; without a config every packet is green. Raises
        `TargetError`.
        """
        table = self._table(kind, message.table_entry, "meter")
        if message.table_entry.is_default_action:
            what = f"table '{table.name}': the default action: its direct meter"
            raise TargetError("unimplemented", what)
        entry, key = self.tables.key(table, message.table_entry)
        self.tables.found(table, entry)
        old = self.tables.meters.get(key)
        config = message.config if message.HasField("config") else None
        self.tables.configure(table, entry, key, config)
        return lambda: self.tables.configure(table, entry, key, old)

    def _table(self, kind: int, entry: p4r.TableEntry, what: str) -> Table:
        table = self.tables.table(entry.table_id)
        check_has(table, what)
        if kind != p4r.Update.MODIFY:
            raise invalid(f"table '{table.name}': its direct {what} supports only MODIFY")
        return table

    def read_counters(self, asked: p4r.DirectCounterEntry) -> Iterator[list[p4r.Entity]]:
        """Counters of the requested entries, part by part."""
        for table in self._asked(asked.table_entry, "counter"):
            unit = self.tables.schema.direct_counter_unit(table.id)
            if asked.table_entry.is_default_action:
                shown = p4r.TableEntry(table_id=table.id, is_default_action=True)
                counter = p4r.DirectCounterEntry(table_entry=shown)
                set_count(counter.data, unit, *self.target.default_count(table.name))
                yield [p4r.Entity(direct_counter_entry=counter)]
                continue
            for part in self.tables.select(table, asked.table_entry):
                yield [self._counter(table, unit, *row) for row in part]

    def _counter(
        self, table: Table, unit: int, entry: TableEntry, packets: int, octets: int
    ) -> p4r.Entity:
        shown = self.tables.shown(table, entry)
        shown.ClearField("action")
        counter = p4r.DirectCounterEntry(table_entry=shown)
        set_count(counter.data, unit, packets, octets)
        return p4r.Entity(direct_counter_entry=counter)

    def read_meters(self, asked: p4r.DirectMeterEntry) -> Iterator[list[p4r.Entity]]:
        """Meters of the requested entries, part by part."""
        for table in self._asked(asked.table_entry, "meter"):
            for part in self.tables.select(table, asked.table_entry):
                yield [self._meter(table, entry) for entry, _, _ in part]

    def _meter(self, table: Table, entry: TableEntry) -> p4r.Entity:
        shown = self.tables.shown(table, entry)
        shown.ClearField("action")
        meter = p4r.DirectMeterEntry(table_entry=shown)
        config = self.tables.meter(table, entry)
        if config is not None:
            meter.config.CopyFrom(config)
        return p4r.Entity(direct_meter_entry=meter)

    def _asked(self, asked: p4r.TableEntry, what: str) -> list[Table]:
        """The requested table, or all tables with a direct counter or meter."""
        if asked.table_id:
            table = self.tables.table(asked.table_id)
            check_has(table, what)
            return [table]
        return [table for table in self.tables.schema.tables.values() if has(table, what)]


def has(table: Table, what: str) -> bool:
    """True if a table has a direct counter or meter."""
    return table.has_counter if what == "counter" else table.has_meter


def check_has(table: Table, what: str) -> None:
    """Raises if a table has none."""
    if not has(table, what):
        raise invalid(f"table '{table.name}' has no direct {what}")
