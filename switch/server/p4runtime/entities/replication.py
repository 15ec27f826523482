"""Multicast groups and clone sessions (P4Runtime specification, 9.5).

Ports are always up, so backup replicas are never used; reads return them unchanged.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from finsy.proto import p4r

from narrows.schema import budgets
from narrows.schema.switch import Replica
from narrows.switch.server.p4runtime.undo import Undo
from narrows.switch.server.target import Target, TargetError, invalid, short

PORT_MAX = 510
"""v1model ports have 9 bits, and 511 means drop."""


class Replication:
    """Groups and sessions under one pipeline configuration."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self._groups: dict[int, p4r.MulticastGroupEntry] = {}
        self._sessions: dict[int, p4r.CloneSessionEntry] = {}
        self._replicas = 0
        """Of all groups and sessions."""

    def write(self, kind: int, message: p4r.PacketReplicationEngineEntry) -> Undo:
        """Applies an update; returns a function that undoes it. Raises `TargetError`."""
        match message.WhichOneof("type"):
            case "multicast_group_entry":
                group = message.multicast_group_entry
                number, label = group.multicast_group_id, "multicast group"
                check(kind, number, number in self._groups, f"{label} {number}")
                replicas(group.replicas, f"{label} {number}")
                old_group = self._groups.get(number)
                self._check_room(len(group.replicas))
                self._set_group(number, None if kind == p4r.Update.DELETE else group)
                return lambda: self._set_group(number, old_group)
            case "clone_session_entry":
                session = message.clone_session_entry
                number, label = session.session_id, "clone session"
                check(kind, number, number in self._sessions, f"{label} {number}")
                replicas(session.replicas, f"{label} {number}")
                if session.class_of_service:
                    raise TargetError("unimplemented", f"{label} {number}: class_of_service")
                if session.packet_length_bytes < 0:
                    raise invalid(f"{label} {number}: packet_length_bytes is negative")
                self._check_room(len(session.replicas))
                old_session = self._sessions.get(number)
                self._set_session(number, None if kind == p4r.Update.DELETE else session)
                return lambda: self._set_session(number, old_session)
            case _:
                raise invalid(
                    "packet replication engine: expected a multicast group or a clone session"
                )

    def _check_room(self, more: int) -> None:
        """Raises where the switch has too many replicas for `more`."""
        if self._replicas + more > budgets.REPLICAS_OF_A_SWITCH:
            what = f"expected at most {budgets.REPLICAS_OF_A_SWITCH} in all groups and sessions"
            raise TargetError("resource-exhausted", f"{more} replicas: {what}")

    def _set_group(self, number: int, group: p4r.MulticastGroupEntry | None) -> None:
        label = f"multicast group {number}"
        shown = replicas(group.replicas, label) if group is not None else []
        self.target.set_multicast_group(number, shown)
        before = self._groups.get(number)
        self._replicas += len(shown) - (len(before.replicas) if before else 0)
        if group is None:
            self._groups.pop(number, None)
        else:
            self._groups[number] = group

    def _set_session(self, number: int, session: p4r.CloneSessionEntry | None) -> None:
        label = f"clone session {number}"
        shown = replicas(session.replicas, label) if session is not None else []
        length = session.packet_length_bytes if session is not None else 0
        self.target.set_clone_session(
            {"id": number, "replicas": shown, "truncate_bytes": length or None}
        )
        before = self._sessions.get(number)
        self._replicas += len(shown) - (len(before.replicas) if before else 0)
        if session is None:
            self._sessions.pop(number, None)
        else:
            self._sessions[number] = session

    def read(self, asked: p4r.PacketReplicationEngineEntry) -> Iterator[p4r.Entity]:
        """One group or session, or all of its kind for 0."""
        kind = asked.WhichOneof("type")
        if kind in (None, "multicast_group_entry"):
            wanted = asked.multicast_group_entry.multicast_group_id
            for number, group in sorted(self._groups.items()):
                if wanted in (0, number):
                    shown = p4r.PacketReplicationEngineEntry(multicast_group_entry=group)
                    yield p4r.Entity(packet_replication_engine_entry=shown)
        if kind in (None, "clone_session_entry"):
            wanted = asked.clone_session_entry.session_id
            for number, session in sorted(self._sessions.items()):
                if wanted in (0, number):
                    shown = p4r.PacketReplicationEngineEntry(clone_session_entry=session)
                    yield p4r.Entity(packet_replication_engine_entry=shown)


def check(kind: int, number: int, known: bool, label: str) -> None:
    """Raises unless the object is new for INSERT, or exists for MODIFY and DELETE."""
    if number == 0:
        raise invalid(f"{label}: expected a number above zero")
    if kind == p4r.Update.INSERT and known:
        raise TargetError("already-exists", f"{label}: already exists")
    if kind != p4r.Update.INSERT and not known:
        raise TargetError("not-found", f"{label}: does not exist")


def replicas(given: Collection[p4r.Replica], label: str) -> list[Replica]:
    """The target's replicas. Raises if a pair of port and instance is repeated."""
    if len(given) > budgets.REPLICAS_OF_A_GROUP:
        message = f"{label}: {len(given)} replicas: expected at most {budgets.REPLICAS_OF_A_GROUP}"
        raise TargetError("resource-exhausted", message)
    found, pairs = list[Replica](), set[tuple[int, int]]()
    for replica in given:
        by_bytes = replica.WhichOneof("port_kind") == "port"
        port = int.from_bytes(replica.port, "big") if by_bytes else replica.egress_port
        if port > PORT_MAX:
            shown = short(hex(port))
            raise invalid(f"{label}: port {shown}: expected at most {PORT_MAX}")
        if replica.instance > 0xFFFF:
            message = f"{label}: instance {replica.instance}: expected at most 65535"
            raise TargetError("out-of-range", message)
        pair = (port, replica.instance)
        if pair in pairs:
            raise invalid(f"{label}: port {port} with instance {replica.instance} is repeated")
        pairs.add(pair)
        found.append({"port": port, "rid": replica.instance})
    return found
