"""The P4 tutorials' `sX-runtime.json`: a program, table entries, multicast groups, clone sessions.

    {"target": "bmv2", "p4info": "build/basic.p4.p4info.txtpb", "bmv2_json": "build/basic.json",
     "table_entries": [{"table": "MyIngress.ipv4_lpm",
                        "match": {"hdr.ipv4.dstAddr": ["10.0.1.1", 32]},
                        "action_name": "MyIngress.forward", "action_params": {"port": 1}}]}

A match is a value, or the pair of value and prefix length (LPM), mask (ternary) or end (range). A
value is a number, an IPv4 address or an Ethernet address.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import finsy as fy

from narrows.controller.client import Update
from narrows.controller.errors import ControllerError

Json = Mapping[str, Any]


@dataclass(frozen=True)
class RuntimeFile:
    """The file's names of files, and its updates in its order."""

    p4info: str
    program: str
    updates: tuple[Update, ...]
    """What finsy's `Switch.write` takes."""


def read_runtime(text: str) -> RuntimeFile:
    """Reads the file's text. Raises `ControllerError` naming the object and the key."""
    try:
        tree = json.loads(text)
    except ValueError as error:
        raise ControllerError(f"not valid JSON: {error}") from None
    if not isinstance(tree, dict):
        raise ControllerError("expected an object")
    updates = list[Update]()
    for part, read in (
        ("table_entries", entry),
        ("multicast_group_entries", group),
        ("clone_session_entries", session),
    ):
        for number, one in enumerate(tree.get(part, ())):
            try:
                updates.append(read(one))
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                what = f"{error} is missing" if isinstance(error, KeyError) else str(error)
                raise ControllerError(f"{part}.{number}: {what}") from None
    return RuntimeFile(named(tree, "p4info"), named(tree, "bmv2_json"), tuple(updates))


def named(tree: Json, key: str) -> str:
    """A file's name. Raises `ControllerError` if there is none."""
    name = tree.get(key)
    if not isinstance(name, str) or not name:
        raise ControllerError(f"{key}: expected the name of a file")
    return name


def entry(one: Json) -> Update:
    """The update that writes a table entry, or a table's default action."""
    action = fy.Action(one["action_name"], **one.get("action_params", {}))
    if one.get("default_action"):
        return ~fy.P4TableEntry(one["table"], action=action, is_default_action=True)
    matches = {name: matched(value) for name, value in (one.get("match") or {}).items()}
    return +fy.P4TableEntry(
        one["table"], match=fy.Match(matches), action=action, priority=one.get("priority") or 0
    )


def matched(value: Any) -> Any:
    """A match as finsy takes it. The tutorials also write an exact value as a list of one."""
    if not isinstance(value, list):
        return value
    return value[0] if len(value) == 1 else tuple(value)


def group(one: Json) -> Update:
    """The update that makes a multicast group."""
    return +fy.P4MulticastGroupEntry(one["multicast_group_id"], replicas=replicas(one))


def session(one: Json) -> Update:
    """The update that makes a clone session."""
    return +fy.P4CloneSessionEntry(
        one["clone_session_id"],
        replicas=replicas(one),
        packet_length_bytes=one.get("packet_length_bytes", 0),
    )


def replicas(one: Json) -> list[tuple[int, int]]:
    """The ports and instances of an object's replicas."""
    return [(each["egress_port"], each.get("instance", 0)) for each in one["replicas"]]
