"""Members and groups of action profiles (P4Runtime specification, 9.2)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from finsy.proto import p4r

from switch.server.convert import encode, number
from switch.server.p4info import Profile, Schema
from switch.server.tables import Undo, invalid, read_params
from switch.server.target import Target, TargetError

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


class Profiles:
    """All action profiles under one pipeline configuration."""

    def __init__(self, target: Target, schema: Schema) -> None:
        self.target = target
        self.schema = schema
        self._action_ids = {action.name: action.id for action in schema.actions.values()}
        self._max_sizes: dict[tuple[int, int], int] = {}

    def _profile(self, number_: int) -> Profile:
        if number_ not in self.schema.profiles:
            raise TargetError("not-found", f"action profile {number_:#x} is not in the P4Info")
        return self.schema.profiles[number_]

    def _write(self, kind: int, what: Literal["member", "group"], given: dict[str, Any]) -> Undo:
        operation = OPERATIONS[kind]
        before = next(
            (
                one
                for one in self.target.read_profile(what, given["profile"])
                if one["id"] == given["id"]
            ),
            None,
        )
        self.target.write_profile(operation, what, given)
        return lambda: self.target.write_profile(OPPOSITE[operation], what, before or given)

    def write_member(self, kind: int, message: p4r.ActionProfileMember) -> Undo:
        """Carries an update out; returns what undoes it."""
        profile = self._profile(message.action_profile_id)
        place = f"action profile '{profile.name}', member {message.member_id}"
        given: dict[str, Any] = {"profile": profile.name, "id": message.member_id}
        if kind != p4r.Update.DELETE:
            if message.action.action_id not in profile.actions:
                what = f"action {message.action.action_id:#x} is none of its tables'"
                raise invalid(f"{place}: {what}")
            action = self.schema.actions[message.action.action_id]
            given["action"] = action.name
            given["params"] = read_params(action, message.action, place)
        return self._write(kind, "member", given)

    def write_group(self, kind: int, message: p4r.ActionProfileGroup) -> Undo:
        """Carries an update out; returns what undoes it."""
        profile = self._profile(message.action_profile_id)
        place = f"action profile '{profile.name}', group {message.group_id}"
        if not profile.with_selector:
            raise invalid(f"{place}: it has no selector, so no groups")
        given: dict[str, Any] = {"profile": profile.name, "id": message.group_id}
        if kind != p4r.Update.DELETE:
            for member in message.members:
                if member.WhichOneof("watch_kind"):
                    raise TargetError("unimplemented", f"{place}: watch ports")
                if member.weight <= 0:
                    raise invalid(f"{place}: weight {member.weight}: expected one above zero")
            given["members"] = [(member.member_id, member.weight) for member in message.members]
            if message.max_size < 0:
                raise invalid(f"{place}: max_size is negative")
            if message.max_size and len(message.members) > message.max_size:
                what = f"{len(message.members)} members are more than its max_size"
                raise TargetError("resource-exhausted", f"{place}: {what}")
        undo = self._write(kind, "group", given)
        key, before = (
            (profile.id, message.group_id),
            self._max_sizes.get((profile.id, message.group_id), 0),
        )
        self._max_sizes[key] = 0 if kind == p4r.Update.DELETE else message.max_size

        def undo_both() -> None:
            undo()
            self._max_sizes[key] = before

        return undo_both

    def read_members(self, asked: p4r.ActionProfileMember) -> Iterator[p4r.Entity]:
        """One member, those of a profile, or all."""
        for profile in self._asked(asked.action_profile_id):
            for one in self.target.read_profile("member", profile.name):
                if asked.member_id in (0, one["id"]):
                    shown = p4r.ActionProfileMember(
                        action_profile_id=profile.id, member_id=one["id"]
                    )
                    action = self.schema.actions[self._action_ids[one["action"]]]
                    shown.action.action_id = action.id
                    for param_id, (name, _) in action.params.items():
                        value = encode(number(one["params"][name]))
                        shown.action.params.add(param_id=param_id, value=value)
                    yield p4r.Entity(action_profile_member=shown)

    def read_groups(self, asked: p4r.ActionProfileGroup) -> Iterator[p4r.Entity]:
        """One group, those of a profile, or all."""
        for profile in self._asked(asked.action_profile_id):
            for one in self.target.read_profile("group", profile.name):
                if asked.group_id in (0, one["id"]):
                    shown = p4r.ActionProfileGroup(
                        action_profile_id=profile.id,
                        group_id=one["id"],
                        max_size=self._max_sizes.get((profile.id, one["id"]), 0),
                    )
                    for member, weight in one["members"]:
                        shown.members.add(member_id=member, weight=weight)
                    yield p4r.Entity(action_profile_group=shown)

    def _asked(self, number_: int) -> list[Profile]:
        return [self._profile(number_)] if number_ else list(self.schema.profiles.values())
