"""Permissions of roles, as Stratum's `P4RoleConfig`, which finsy sends. P4Runtime (specification,
15.2) leaves the form open.

A role without a config may do everything. Every role may write objects without a number in the
P4Info: multicast groups and clone sessions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from finsy.proto import p4i, p4r
from finsy.proto.stratum1.p4_role_config_pb2 import P4RoleConfig
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.message import DecodeError

from narrows.switch.server.access import REPLICATION
from narrows.switch.server.target import TargetError, invalid

NUMBERS = {
    "action_profile_member": "action_profile_id",
    "action_profile_group": "action_profile_id",
    "counter_entry": "counter_id",
    "digest_entry": "digest_id",
    "meter_entry": "meter_id",
    "register_entry": "register_id",
    "table_entry": "table_id",
    "value_set_entry": "value_set_id",
}
"""Fields that hold an entity's number."""


def number_of(entity: p4r.Entity) -> int:
    """An entity's number in the P4Info; 0 if it has none."""
    kind = entity.WhichOneof("entity") or ""
    one = getattr(entity, kind, None)
    if kind in ("direct_counter_entry", "direct_meter_entry"):
        kind, one = "table_entry", getattr(one, "table_entry", None)
    return int(getattr(one, NUMBERS[kind])) if kind in NUMBERS else 0


def object_names(info: p4i.P4Info) -> dict[int, tuple[str, ...]]:
    """Name and alias of each object with entities, by number."""
    kinds = (
        info.tables, info.action_profiles, info.counters, info.meters, info.registers,
        info.digests, info.value_sets,
    )  # fmt: skip
    objects = [one.preamble for kind in kinds for one in kind]
    return {one.id: (one.name, one.alias) for one in objects}


def names_of(entity: p4r.Entity, names: Mapping[int, tuple[str, ...]]) -> tuple[str, ...]:
    """The names of the object that an entity belongs to; none for an unknown one."""
    if entity.WhichOneof("entity") == "packet_replication_engine_entry":
        return (REPLICATION,)
    return names.get(number_of(entity), ())


@dataclass(frozen=True)
class Scope:
    """A role's config."""

    exclusive: frozenset[int] = frozenset()
    shared: frozenset[int] = frozenset()
    packet_ins: bool = True
    packet_filter: tuple[int, bytes] | None = None
    can_push: bool = True
    is_limited: bool = False

    def holds(self, number: int) -> bool:
        """True if the role may write the object."""
        return not self.is_limited or number == 0 or number in self.exclusive | self.shared

    def seen(self, entities: list[p4r.Entity]) -> list[p4r.Entity]:
        """The entities that belong to the role."""
        if not self.is_limited:
            return entities
        return [entity for entity in entities if self.holds(number_of(entity))]

    def wants(self, packet: p4r.PacketIn) -> bool:
        """True if the role receives the packet."""
        if self.packet_filter is None or not self.packet_ins:
            return self.packet_ins
        return any((one.metadata_id, one.value) == self.packet_filter for one in packet.metadata)

    def check_write(self, update: p4r.Update, role: str) -> None:
        """Raises if the role may not write the update's object."""
        number = number_of(update.entity)
        if not self.holds(number):
            message = f"role '{role}' may not write object {number:#x}"
            raise TargetError("permission-denied", message)

    def conflict(self, other: Scope) -> int | None:
        """An exclusive object of one role that the other role also has."""
        ours, theirs = self.exclusive | self.shared, other.exclusive | other.shared
        both = (self.exclusive & theirs) | (other.exclusive & ours)
        return min(both, default=None)


def read_scope(role: p4r.Role) -> Scope:
    """The scope that a controller requests for a role. Raises `TargetError`."""
    if not role.HasField("config"):
        return Scope()
    packed: AnyMessage = role.config
    config = P4RoleConfig()
    try:
        known = packed.Unpack(config)
    except DecodeError:
        known = False
    if not known:
        expected = f"expected a {P4RoleConfig.DESCRIPTOR.full_name}"
        raise invalid(f"role '{role.name}': config '{packed.type_url}': {expected}")
    given = config.packet_in_filter
    return Scope(
        exclusive=frozenset(config.exclusive_p4_ids),
        shared=frozenset(config.shared_p4_ids),
        packet_ins=config.receives_packet_ins,
        packet_filter=(given.metadata_id, given.value) if given.metadata_id else None,
        can_push=config.can_push_pipeline,
        is_limited=True,
    )
