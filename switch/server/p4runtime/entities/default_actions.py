"""Default actions of tables (P4Runtime specification, 9.1.2), and checks shared with entries."""

from __future__ import annotations

from collections.abc import Iterator

from finsy.proto import p4r

from narrows.switch.server.p4runtime.entities.actions import read_action, show_action
from narrows.switch.server.p4runtime.entities.cells import count_parts, meter_parts, set_count
from narrows.switch.server.p4runtime.info.p4info import Schema, Table
from narrows.switch.server.p4runtime.undo import Undo
from narrows.switch.server.target import Choice, Target, TargetError, invalid


class DefaultActions:
    """The default actions of all tables under one pipeline configuration."""

    def __init__(self, target: Target, schema: Schema) -> None:
        self.target = target
        self.schema = schema
        self.changed: set[int] = set()
        """Numbers of tables with a default action set by a controller."""

    def write(self, kind: int, table: Table, message: p4r.TableEntry) -> Undo:
        """Applies an update; returns a function that undoes it. Raises `TargetError`."""
        label = f"table '{table.name}': the default action"
        if kind != p4r.Update.MODIFY:
            raise invalid(f"{label} supports only MODIFY")
        if message.match or message.priority:
            raise invalid(f"{label} has neither matches nor a priority")
        if table.const_default:
            raise TargetError("permission-denied", f"{label} is constant")
        if message.HasField("meter_config"):
            raise TargetError("unimplemented", f"{label}: its direct meter")
        check_extras(table, message)
        before, was_set = self.target.default_action(table.name), table.id in self.changed
        count = self.target.default_count(table.name) if table.has_counter else (0, 0)
        if message.HasField("action"):
            action = plain_action(self.schema, table, message, table.default_actions)
            self._set(table, action)
        else:
            self._set(table, None)
        if message.HasField("counter_data"):
            parts = count_parts(message.counter_data, label)
            self.target.set_default_count(table.name, *parts)

        def undo() -> None:
            self._set(table, before if was_set else None)
            if table.has_counter:
                self.target.set_default_count(table.name, *count)

        return undo

    def _set(self, table: Table, action: Choice | None) -> None:
        """Sets a default action; None restores the program's."""
        if action is None:
            self.target.reset_default_action(table.name)
            self.changed.discard(table.id)
        else:
            self.target.set_default_action({"table": table.name, **action})
            self.changed.add(table.id)

    def read(self, table: Table, asked: p4r.TableEntry) -> Iterator[p4r.Entity]:
        """The default action of a table, if it has one that is in the P4Info."""
        shown = p4r.TableEntry(table_id=table.id, is_default_action=True)
        default = self.target.default_action(table.name)
        if default is not None and default["action"] in self.schema.action_ids:
            show_action(self.schema, shown.action.action, default)
            if asked.HasField("counter_data") and table.has_counter:
                count = self.target.default_count(table.name)
                set_count(shown.counter_data, self.schema.direct_counter_unit(table.id), *count)
            yield p4r.Entity(table_entry=shown)


def plain_action(
    schema: Schema, table: Table, message: p4r.TableEntry, allowed: frozenset[int]
) -> Choice:
    """`action` and `params` of an entry in a table without action profile. Raises `TargetError`."""
    label, kind = f"table '{table.name}'", message.action.WhichOneof("type")
    if kind != "action":
        what = "expected an action" + ("" if table.profile else ", since it has no action profile")
        raise invalid(f"{label}: '{kind}': {what}")
    return read_action(schema, message.action.action, allowed, label)


def check_extras(table: Table, message: p4r.TableEntry) -> None:
    """Checks an entry's counter and meter against its table. Raises `TargetError`."""
    label = f"table '{table.name}'"
    if message.HasField("counter_data"):
        if not table.has_counter:
            raise invalid(f"{label} has no direct counter")
        count_parts(message.counter_data, label)
    if message.HasField("meter_config"):
        if not table.has_meter:
            raise invalid(f"{label} has no direct meter")
        meter_parts(message.meter_config, table.meter_kind, label)
