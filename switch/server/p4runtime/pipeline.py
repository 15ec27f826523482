"""One forwarding pipeline configuration and the state that controllers wrote to it."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from itertools import chain, islice
from typing import Any

from finsy.proto import p4r

from narrows.switch.server.p4runtime.digests import Digests
from narrows.switch.server.p4runtime.entities.direct import Direct
from narrows.switch.server.p4runtime.entities.externs import Externs
from narrows.switch.server.p4runtime.entities.profiles import Profiles
from narrows.switch.server.p4runtime.entities.replication import Replication
from narrows.switch.server.p4runtime.entities.tables import Tables
from narrows.switch.server.p4runtime.info.agreement import ProgramWidths, check
from narrows.switch.server.p4runtime.info.p4info import Schema
from narrows.switch.server.p4runtime.roles import object_names
from narrows.switch.server.p4runtime.undo import Undo
from narrows.switch.server.target import Target, TargetError, invalid

ENTITIES_A_PART = 1000
NO_LOCK: AbstractContextManager[object] = nullcontext()
LOG = logging.getLogger("narrows.switch")


def read_config(target: Target, config: p4r.ForwardingPipelineConfig) -> Schema:
    """The schema of a configuration. Raises `TargetError` if the target cannot run it."""
    if not config.p4_device_config:
        raise invalid("p4_device_config is empty: expected the JSON of p4c-bm2-ss")
    try:
        text = config.p4_device_config.decode()
        program: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise invalid(f"p4_device_config is not valid JSON: {error}") from None
    target.check(text)
    try:
        schema = Schema(config.p4info, ProgramWidths(program))
        check(schema, program)
    except (AttributeError, KeyError, IndexError, TypeError) as error:
        raise invalid(f"p4_device_config: expected the JSON of p4c-bm2-ss: {error!r}") from None
    return schema


def refusal(error: Exception) -> TargetError:
    """What a controller is told about an update that failed. An unexpected error is a bug of ours:
    it goes to the log, and the switch goes on.
    """
    if isinstance(error, TargetError):
        return error
    LOG.error("an update failed unexpectedly", exc_info=error)
    return TargetError("internal", f"the update failed unexpectedly: {error!r}")


def undo_all(undos: list[Undo]) -> None:
    """Undoes updates, the last one first; one that can't be undone does not keep the others."""
    for undo in reversed(undos):
        try:
            undo()
        except Exception:
            LOG.exception("an update could not be undone")


def in_parts(entities: Iterator[p4r.Entity]) -> Iterator[list[p4r.Entity]]:
    """Entities in parts."""
    while part := list(islice(entities, ENTITIES_A_PART)):
        yield part


class Pipeline:
    """Updates and reads of the configuration in force, by entity."""

    def __init__(
        self, target: Target, config: p4r.ForwardingPipelineConfig, schema: Schema
    ) -> None:
        self.config = config
        self.schema = schema
        self.object_names = object_names(config.p4info)
        self.profiles = Profiles(target, schema)
        self.tables = Tables(target, schema, self.profiles)
        self.direct = Direct(self.tables)
        self.externs = Externs(target, schema)
        self.replication = Replication(target)
        self.digests = Digests(schema)

    def apply(self, update: p4r.Update) -> Undo:
        """Applies an update; returns a function that undoes it. Raises `TargetError`."""
        kind, entity = update.type, update.entity
        if kind not in (p4r.Update.INSERT, p4r.Update.MODIFY, p4r.Update.DELETE):
            raise invalid(f"update type {kind}: expected INSERT, MODIFY or DELETE")
        match entity.WhichOneof("entity"):
            case "table_entry":
                return self.tables.write(kind, entity.table_entry)
            case "direct_counter_entry":
                return self.direct.write_counter(kind, entity.direct_counter_entry)
            case "direct_meter_entry":
                return self.direct.write_meter(kind, entity.direct_meter_entry)
            case "counter_entry":
                return self.externs.write_counter(kind, entity.counter_entry)
            case "meter_entry":
                return self.externs.write_meter(kind, entity.meter_entry)
            case "register_entry":
                return self.externs.write_register(kind, entity.register_entry)
            case "value_set_entry":
                return self.externs.write_value_set(kind, entity.value_set_entry)
            case "packet_replication_engine_entry":
                return self.replication.write(kind, entity.packet_replication_engine_entry)
            case "digest_entry":
                return self.digests.write(kind, entity.digest_entry)
            case "action_profile_member":
                return self.profiles.write_member(kind, entity.action_profile_member)
            case "action_profile_group":
                return self.profiles.write_group(kind, entity.action_profile_group)
            case None:
                raise invalid("the update has no entity")
            case other:
                raise TargetError("unimplemented", f"entities of kind {other}")

    def read(self, entity: p4r.Entity) -> Iterator[list[p4r.Entity]]:
        """The requested entities, part by part; writes may come between two parts. Raises
        `TargetError`.
        """
        match entity.WhichOneof("entity"):
            case "table_entry":
                return self.tables.read(entity.table_entry)
            case "direct_counter_entry":
                return self.direct.read_counters(entity.direct_counter_entry)
            case "direct_meter_entry":
                return self.direct.read_meters(entity.direct_meter_entry)
            case "counter_entry":
                return in_parts(self.externs.read_counter(entity.counter_entry))
            case "meter_entry":
                return in_parts(self.externs.read_meter(entity.meter_entry))
            case "register_entry":
                return in_parts(self.externs.read_register(entity.register_entry))
            case "value_set_entry":
                return in_parts(self.externs.read_value_set(entity.value_set_entry))
            case "packet_replication_engine_entry":
                return in_parts(self.replication.read(entity.packet_replication_engine_entry))
            case "digest_entry":
                return in_parts(self.digests.read(entity.digest_entry))
            case "action_profile_member":
                return in_parts(self.profiles.read_members(entity.action_profile_member))
            case "action_profile_group":
                return in_parts(self.profiles.read_groups(entity.action_profile_group))
            case None:
                raise invalid("the request has no entity")
            case other:
                raise TargetError("unimplemented", f"entities of kind {other}")

    def apply_all(
        self,
        updates: Iterable[p4r.Update],
        all_or_none: bool,
        permit: Callable[[p4r.Update], None] = lambda _: None,
        lock: AbstractContextManager[object] = NO_LOCK,
    ) -> list[TargetError | None]:
        """Applies in order the updates that `permit` allows, each under the lock. Returns an error,
        or None, for each update. With `all_or_none` the first failure undoes the updates before it
        and ends the batch.
        """
        errors: list[TargetError | None] = []
        undos: list[Undo] = []
        for update in updates:
            try:
                permit(update)
                with lock:
                    undo = self.apply(update)
                errors.append(None)
                if all_or_none:
                    undos.append(undo)
            except Exception as error:
                errors.append(refusal(error))
                if all_or_none:
                    with lock:
                        undo_all(undos)
                    break
        return errors

    def state(self) -> list[p4r.Update]:
        """The updates that copy this pipeline's state to a new one, without counters
        and registers.
        """
        insert, modify = p4r.Update.INSERT, p4r.Update.MODIFY
        asked = p4r.TableEntry(counter_data=p4r.CounterData(), meter_config=p4r.MeterConfig())
        members = self.profiles.read_members(p4r.ActionProfileMember())
        groups = self.profiles.read_groups(p4r.ActionProfileGroup())
        found = [(insert, one) for one in (*members, *groups)]
        entries = chain.from_iterable(self.tables.read(asked))
        found += [(insert, one) for one in entries if not one.table_entry.is_const]
        for table_id in sorted(self.tables.defaults.changed):
            default = p4r.TableEntry(table_id=table_id, is_default_action=True)
            default.counter_data.SetInParent()
            found += [(modify, one) for part in self.tables.read(default) for one in part]
        engine = p4r.PacketReplicationEngineEntry()
        found += [(insert, one) for one in self.replication.read(engine)]
        found += [
            (modify, one)
            for one in self.externs.read_meter(p4r.MeterEntry())
            if one.meter_entry.HasField("config")
        ]
        value_sets = self.externs.read_value_set(p4r.ValueSetEntry())
        found += [(modify, one) for one in value_sets]
        found += [(insert, one) for one in self.digests.read(p4r.DigestEntry())]
        return [p4r.Update(type=kind, entity=entity) for kind, entity in found]
