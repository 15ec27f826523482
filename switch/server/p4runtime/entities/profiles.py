"""Members and groups of action profiles, and one-shot action sets (P4Runtime specification, 9.2).

Ports are always up, so a watch port has no effect; reads return it unchanged.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from finsy.proto import p4r

from narrows.schema.switch import ProfileGroup, ProfileMember, TableEntry
from narrows.switch.server.p4runtime.entities.actions import read_action, show_action
from narrows.switch.server.p4runtime.info.convert import number
from narrows.switch.server.p4runtime.info.p4info import Profile, Schema
from narrows.switch.server.p4runtime.undo import Undo, put
from narrows.switch.server.target import Choice, ProfileKey, Target, TargetError, invalid

Operation = Literal["insert", "modify", "delete"]
OPERATIONS: dict[int, Operation] = {
    p4r.Update.INSERT: "insert",
    p4r.Update.MODIFY: "modify",
    p4r.Update.DELETE: "delete",
}
OPPOSITE: dict[Operation, Operation] = {
    "insert": "delete",
    "modify": "modify",
    "delete": "insert",
}
MEMBER, GROUP = "$member", "$group"
"""The actions of an entry that refers to a member or group of an action profile."""
OWN_NUMBERS = 1 << 32
"""First number of the members and groups of action sets; controllers use 32 bits."""


@dataclass
class Group:
    """A group in the target's form and in the controller's."""

    given: ProfileGroup
    message: p4r.ActionProfileGroup


class Profiles:
    """All action profiles under one pipeline configuration."""

    def __init__(self, target: Target, schema: Schema) -> None:
        self.target = target
        self.schema = schema
        self._members: dict[tuple[int, int], ProfileMember] = {}
        self._groups: dict[tuple[int, int], Group] = {}
        self._sets: dict[int, tuple[list[ProfileMember], p4r.ActionProfileActionSet]] = {}
        self._next = OWN_NUMBERS

    def profile(self, number_: int) -> Profile:
        """The profile with this number. Raises `TargetError` if there is none."""
        if number_ not in self.schema.profiles:
            raise TargetError("not-found", f"action profile {number_:#x} is not in the P4Info")
        return self.schema.profiles[number_]

    # Members and groups

    def write_member(self, kind: int, message: p4r.ActionProfileMember) -> Undo:
        """Applies an update; returns a function that undoes it."""
        profile = self.profile(message.action_profile_id)
        label = f"action profile '{profile.name}', member {message.member_id}"
        key = (profile.id, message.member_id)
        own: ProfileKey = {"profile": profile.name, "id": message.member_id}
        given: ProfileMember | None = None
        if kind != p4r.Update.DELETE:
            given = {**own, **read_action(self.schema, message.action, profile.actions, label)}
        operation, before = OPERATIONS[kind], self._members.get(key)
        self.target.write_profile(operation, "member", given or own)
        put(self._members, key, given)

        def undo() -> None:
            self.target.write_profile(OPPOSITE[operation], "member", before or own)
            put(self._members, key, before)

        return undo

    def write_group(self, kind: int, message: p4r.ActionProfileGroup) -> Undo:
        """Applies an update; returns a function that undoes it."""
        profile = self.profile(message.action_profile_id)
        label = f"action profile '{profile.name}', group {message.group_id}"
        check_selector(profile, label)
        key = (profile.id, message.group_id)
        own: ProfileKey = {"profile": profile.name, "id": message.group_id}
        given: ProfileGroup | None = None
        if kind != p4r.Update.DELETE:
            check_weights(message.members, label)
            members = [[member.member_id, member.weight] for member in message.members]
            given = {**own, "members": members}
            check_size(profile, message, label)
        operation, before = OPERATIONS[kind], self._groups.get(key)
        self.target.write_profile(operation, "group", given or own)
        put(self._groups, key, None if given is None else Group(given, message))

        def undo() -> None:
            old = before.given if before else own
            self.target.write_profile(OPPOSITE[operation], "group", old)
            put(self._groups, key, before)

        return undo

    def read_members(self, asked: p4r.ActionProfileMember) -> Iterator[p4r.Entity]:
        """One member, those of a profile, or all."""
        if asked.action_profile_id:
            self.profile(asked.action_profile_id)
        for (profile, member), found in sorted(self._members.items()):
            if asked.action_profile_id in (0, profile) and asked.member_id in (0, member):
                shown = p4r.ActionProfileMember(action_profile_id=profile, member_id=member)
                show_action(self.schema, shown.action, found)
                yield p4r.Entity(action_profile_member=shown)

    def read_groups(self, asked: p4r.ActionProfileGroup) -> Iterator[p4r.Entity]:
        """One group, those of a profile, or all."""
        if asked.action_profile_id:
            self.profile(asked.action_profile_id)
        for (profile, group), found in sorted(self._groups.items(), key=lambda item: item[0]):
            if asked.action_profile_id in (0, profile) and asked.group_id in (0, group):
                yield p4r.Entity(action_profile_group=found.message)

    # Action sets

    def create_set(self, profile: Profile, given: p4r.ActionProfileActionSet, label: str) -> Choice:
        """Creates a group from an entry's action set; returns the entry's `action` and `params`.
        Raises `TargetError`.
        """
        check_selector(profile, label)
        if not given.action_profile_actions:
            raise invalid(f"{label}: the action set is empty")
        check_weights(given.action_profile_actions, label)
        members = list[ProfileMember]()
        for wanted in given.action_profile_actions:
            action = read_action(self.schema, wanted.action, profile.actions, label)
            members.append({"profile": profile.name, "id": self._next, **action})
            self._next += 1
        weights = [wanted.weight for wanted in given.action_profile_actions]
        pairs = [[one["id"], weight] for one, weight in zip(members, weights, strict=True)]
        number_ = self._next
        group: ProfileGroup = {"profile": profile.name, "id": number_, "members": pairs}
        self._next += 1
        done: list[ProfileMember] = []
        try:
            for one in members:
                self.target.write_profile("insert", "member", one)
                done.append(one)
            self.target.write_profile("insert", "group", group)
        except TargetError:
            for one in done:
                self.target.write_profile("delete", "member", one)
            raise
        self._sets[number_] = (members, given)
        return {"action": GROUP, "params": {"id": hex(number_)}}

    def set_of(self, entry: TableEntry) -> p4r.ActionProfileActionSet | None:
        """The action set of a target's entry, if it has one."""
        if entry["action"] != GROUP:
            return None
        found = self._sets.get(number(entry["params"]["id"]))
        return found[1] if found else None

    def drop_set(self, entry: TableEntry) -> None:
        """Removes the action set of a deleted or changed entry; a no-op without one."""
        if self.set_of(entry) is not None:
            group = number(entry["params"]["id"])
            members, _ = self._sets.pop(group)
            profile = members[0]["profile"]
            self.target.write_profile("delete", "group", {"profile": profile, "id": group})
            for one in members:
                self.target.write_profile("delete", "member", one)


def check_selector(profile: Profile, label: str) -> None:
    """Raises for a profile without a selector, which groups and action sets need."""
    if not profile.with_selector:
        raise invalid(
            f"{label}: action profile '{profile.name}' has no selector, so it cannot have groups"
        )


def check_weights(members: Any, label: str) -> None:
    """Raises unless every weight is above zero."""
    for member in members:
        if member.weight <= 0:
            raise invalid(f"{label}: weight {member.weight}: expected one above zero")


def check_size(profile: Profile, group: p4r.ActionProfileGroup, label: str) -> None:
    """Raises if a group exceeds its own max_size."""
    if group.max_size < 0:
        raise invalid(f"{label}: max_size is negative")
    if profile.by_members:
        size, what = len(group.members), "members"
    else:
        size, what = sum(member.weight for member in group.members), "weights"
    if group.max_size and size > group.max_size:
        message = f"{label}: {what} of {size} exceed its max_size of {group.max_size}"
        raise TargetError("resource-exhausted", message)
