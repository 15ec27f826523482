"""Converts a switch's state to finsy's entities and back. Names are full P4Info names; finsy
returns aliases.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from ipaddress import IPv4Network, IPv6Network
from typing import Generic, Protocol, SupportsInt, TypeAlias, TypeVar

import finsy as fy
from finsy.p4entity import P4Replica, P4ValueSetMember
from finsy.p4schema import P4MatchField, P4MatchType

from narrows.controller.matches import Exact, Lpm, Match, Range, Ternary
from narrows.controller.objects import (
    CloneSession,
    MeterCell,
    MulticastGroup,
    ProfileGroup,
    ProfileMember,
    RegisterCell,
    Replica,
    ValueSet,
)
from narrows.controller.state import GROUP, MEMBER, SwitchState, TableEntry

Part: TypeAlias = SupportsInt | str
"""A number as finsy returns it: an address, or text, if the P4Info says so."""
Given: TypeAlias = Part | tuple[Part, Part] | IPv4Network | IPv6Network
"""A match as finsy returns it."""
Inserted: TypeAlias = (
    fy.P4TableEntry
    | fy.P4CloneSessionEntry
    | fy.P4MulticastGroupEntry
    | fy.P4ActionProfileMember
    | fy.P4ActionProfileGroup
)
"""Entities that a controller inserts and deletes."""
Modified: TypeAlias = fy.P4RegisterEntry | fy.P4MeterEntry | fy.P4ValueSetEntry
"""Entities that always exist and can only be modified."""

# To the switch.


def entry_entity(entry: TableEntry) -> fy.P4TableEntry:
    """A table entry."""
    action: fy.P4TableAction | fy.P4IndirectAction
    match entry.action:
        case "$member":
            action = fy.P4IndirectAction(member_id=entry.params["id"])
        case "$group":
            action = fy.P4IndirectAction(group_id=entry.params["id"])
        case name:
            action = fy.Action(name, **entry.params)
    return fy.P4TableEntry(
        entry.table,
        match=fy.Match({name: plain(match) for name, match in entry.matches.items()}),
        action=action,
        priority=entry.priority,
    )


def session_entity(session: CloneSession) -> fy.P4CloneSessionEntry:
    """A clone session."""
    return fy.P4CloneSessionEntry(
        session.id,
        replicas=[(one.port, one.instance) for one in session.replicas],
        packet_length_bytes=session.truncate_bytes or 0,
    )


def multicast_entity(group: MulticastGroup) -> fy.P4MulticastGroupEntry:
    """A multicast group."""
    replicas = [(one.port, one.instance) for one in group.replicas]
    return fy.P4MulticastGroupEntry(group.id, replicas=replicas)


def member_entity(member: ProfileMember) -> fy.P4ActionProfileMember:
    """A member of an action profile."""
    action = fy.P4TableAction(member.action, **member.params)
    return fy.P4ActionProfileMember(member.profile, member_id=member.id, action=action)


def group_entity(group: ProfileGroup) -> fy.P4ActionProfileGroup:
    """A group of an action selector."""
    members = [fy.P4Member(member, weight=weight) for member, weight in group.members]
    return fy.P4ActionProfileGroup(group.profile, group_id=group.id, members=members)


def cell_entity(cell: RegisterCell) -> fy.P4RegisterEntry:
    """A register's cell."""
    return fy.P4RegisterEntry(cell.register, index=cell.index, data=cell.value)


def meter_entity(cell: MeterCell) -> fy.P4MeterEntry:
    """A meter's cell."""
    config = fy.P4MeterConfig(cir=cell.cir, cburst=cell.cburst, pir=cell.pir, pburst=cell.pburst)
    return fy.P4MeterEntry(cell.meter, index=cell.index, config=config)


def value_set_entity(value_set: ValueSet) -> fy.P4ValueSetEntry:
    """A value set."""
    members = [
        P4ValueSetMember({part: plain(one) for part, one in member.items()})
        for member in value_set.members
    ]
    return fy.P4ValueSetEntry(value_set.name, members=members)


def plain(match: Match) -> int | tuple[int, int]:
    """A match as finsy takes it."""
    match match:
        case Exact():
            return match.value
        case Lpm():
            return (match.value, match.prefix_bits)
        case Ternary():
            return (match.value, match.mask)
        case Range():
            return (match.low, match.high)


# From the switch.


def entry_read(schema: fy.P4Schema, entry: fy.P4TableEntry) -> TableEntry:
    """A table entry."""
    table = schema.tables[entry.table_id]
    matches = matches_read(table.match_fields, entry.match or {})
    action = entry.action
    if isinstance(action, fy.P4TableAction):
        name, params = action_read(schema, action)
        return TableEntry(table.name, matches, name, params, entry.priority)
    if isinstance(action, fy.P4IndirectAction) and action.member_id is not None:
        return TableEntry(table.name, matches, MEMBER, {"id": action.member_id}, entry.priority)
    if isinstance(action, fy.P4IndirectAction) and action.group_id is not None:
        return TableEntry(table.name, matches, GROUP, {"id": action.group_id}, entry.priority)
    return TableEntry(table.name, matches, str(action), {}, entry.priority)


def action_read(schema: fy.P4Schema, action: fy.P4TableAction) -> tuple[str, dict[str, int]]:
    """An action's full name and its parameters."""
    params = {name: int(value) for name, value in action.args.items()}
    return schema.actions[action.name].name, params


def session_read(schema: fy.P4Schema, one: fy.P4CloneSessionEntry) -> CloneSession:
    """A clone session."""
    replicas = tuple(map(replica_read, one.replicas))
    return CloneSession(one.session_id, replicas, one.packet_length_bytes or None)


def multicast_read(schema: fy.P4Schema, one: fy.P4MulticastGroupEntry) -> MulticastGroup:
    """A multicast group."""
    return MulticastGroup(one.multicast_group_id, tuple(map(replica_read, one.replicas)))


def replica_read(replica: int | tuple[int, int] | P4Replica) -> Replica:
    """A replica; finsy returns only the port if the instance is 0."""
    match replica:
        case int():
            return Replica(replica)
        case P4Replica():
            return Replica(replica.port, replica.instance)
        case (port, instance):
            return Replica(port, instance)


def member_read(schema: fy.P4Schema, one: fy.P4ActionProfileMember) -> ProfileMember:
    """A member of an action profile."""
    assert one.action is not None, "a member has an action"
    name, params = action_read(schema, one.action)
    profile = schema.action_profiles[one.action_profile_id].name
    return ProfileMember(profile, one.member_id, name, params)


def group_read(schema: fy.P4Schema, one: fy.P4ActionProfileGroup) -> ProfileGroup:
    """A group of an action selector, without watch ports."""
    profile = schema.action_profiles[one.action_profile_id].name
    weights = ((member.member_id, member.weight) for member in one.members or ())
    members = (
        (number, weight[0] if isinstance(weight, tuple) else weight) for number, weight in weights
    )
    return ProfileGroup(profile, one.group_id, tuple(members))


def meter_read(schema: fy.P4Schema, one: fy.P4MeterEntry) -> MeterCell | None:
    """A meter's cell, if it has rates."""
    if one.config is None or one.index is None:
        return None
    rates = one.config
    name = schema.meters[one.meter_id].name
    return MeterCell(name, one.index, rates.cir, rates.cburst, rates.pir, rates.pburst)


def value_set_read(schema: fy.P4Schema, one: fy.P4ValueSetEntry) -> ValueSet | None:
    """A value set, if it has members."""
    value_set = schema.value_sets[one.value_set_id]
    members = tuple(matches_read(value_set.match, member) for member in one.members)
    return ValueSet(value_set.name, members) if members else None


def matches_read(fields: Iterable[P4MatchField], given: Mapping[str, Given]) -> dict[str, Match]:
    """Matches by the fields' names."""
    found = {field.name: field_match(field, given.get(field.alias)) for field in fields}
    return {name: match for name, match in found.items() if match is not None}


def field_match(field: P4MatchField, value: Given | None) -> Match | None:
    """A match that was read. P4Runtime omits a wildcard match; here it becomes an empty prefix or
    mask. Raises `ValueError` for a match of another kind.
    """
    match field.match_type:
        case P4MatchType.LPM:
            return Lpm(*((0, 0) if value is None else pair(value)))
        case P4MatchType.TERNARY:
            return Ternary(*((0, 0) if value is None else pair(value)))
        case P4MatchType.RANGE if value is not None:
            return Range(*pair(value))
        case _ if isinstance(value, SupportsInt | str):
            return Exact(int(value))
        case _ if value is None:
            return None
    raise ValueError(f"field {field.name} = {value}: expected one value")


def pair(value: Given) -> tuple[int, int]:
    """The two parts of a match. Raises `ValueError` if there are not two."""
    match value:
        case IPv4Network() | IPv6Network():
            return int(value.network_address), value.prefixlen
        case (first, second):
            return int(first), int(second)
    raise ValueError(f"match {value}: expected two parts")


# What a state writes.


class Keyed(Protocol):
    """An object of a state: an identity, and a line of text to compare."""

    @property
    def key(self) -> Hashable:
        """Identity of the object."""


T = TypeVar("T", bound=Keyed)
E = TypeVar("E", covariant=True)


@dataclass(frozen=True)
class Wanted(Generic[E]):
    """An object of a state, and the entity that writes it: a new one for each write."""

    key: Hashable
    line: str
    entity: Callable[[], E]


def part(
    objects: Callable[[SwitchState], Iterable[T]], entity: Callable[[T], E]
) -> Callable[[SwitchState], list[Wanted[E]]]:
    """A part of a state, as entities to write."""
    return lambda state: [Wanted(o.key, str(o), partial(entity, o)) for o in objects(state)]


INSERTED: Mapping[str, Callable[[SwitchState], list[Wanted[Inserted]]]] = {
    "profile_members": part(lambda state: state.profile_members, member_entity),
    "profile_groups": part(lambda state: state.profile_groups, group_entity),
    "multicast_groups": part(lambda state: state.multicast_groups, multicast_entity),
    "clone_sessions": part(lambda state: state.clone_sessions, session_entity),
    "entries": part(lambda state: state.entries, entry_entity),
}
"""Entities to insert and delete, by part of the state; an entity precedes those that refer to it.
"""
MODIFIED: Mapping[str, Callable[[SwitchState], list[Wanted[Modified]]]] = {
    "value_sets": part(lambda state: state.value_sets, value_set_entity),
    "meters": part(lambda state: state.meters, meter_entity),
    "registers": part(lambda state: state.registers, cell_entity),
}
"""Entities that always exist and can only be modified."""
