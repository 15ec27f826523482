"""Actions and their parameters (P4Runtime specification, 9.1.2)."""

from __future__ import annotations

from finsy.proto import p4r

from narrows.schema.switch import ProfileMember, TableEntry
from narrows.switch.server.p4runtime.info.convert import number
from narrows.switch.server.p4runtime.info.p4info import Action, Schema
from narrows.switch.server.target import Choice, TargetError, invalid


def read_action(schema: Schema, given: p4r.Action, allowed: frozenset[int], label: str) -> Choice:
    """The target's `action` and `params`. Raises if the action is not allowed here."""
    if given.action_id not in schema.actions:
        raise invalid(f"{label}: action {given.action_id:#x} is not in the P4Info")
    action = schema.actions[given.action_id]
    if given.action_id not in allowed:
        raise invalid(f"{label}: action '{action.name}' is not allowed here")
    return {"action": action.name, "params": read_params(action, given, label)}


def show_action(
    schema: Schema, shown: p4r.Action, found: Choice | ProfileMember | TableEntry
) -> None:
    """The inverse of `read_action`."""
    action = schema.actions[schema.action_ids[found["action"]]]
    shown.action_id = action.id
    for param in action.params.values():
        value = param.encode(number(found["params"][param.name]))
        shown.params.add(param_id=param.id, value=value)


def read_params(action: Action, given: p4r.Action, label: str) -> dict[str, str]:
    """Parameters by name. Raises if one is repeated or missing."""
    params: dict[str, str] = {}
    for param in given.params:
        if param.param_id not in action.params:
            what = f"parameter {param.param_id} of action '{action.name}' is not in the P4Info"
            raise invalid(f"{label}: {what}")
        known = action.params[param.param_id]
        if known.name in params:
            raise invalid(f"{label}, {known.label}: is repeated")
        try:
            params[known.name] = hex(known.decode(param.value))
        except TargetError as error:
            raise TargetError(error.kind, f"{label}, {error.message}") from None
    for known in action.params.values():
        if known.name not in params:
            raise invalid(f"{label}, {known.label}: is missing")
    return params
