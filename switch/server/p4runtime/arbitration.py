"""Primary election: in each role, the controller with the highest election id ever seen may write.

P4Runtime specification, chapter 5. After a primary disconnects, the role has none until a
controller connects with an election id at least as high.
"""

from __future__ import annotations

import queue
import threading
from dataclasses import dataclass, field

from finsy.proto import U128, p4r, rpc_code

from narrows.schema import budgets
from narrows.switch.server.access import EVERYTHING, Rights
from narrows.switch.server.p4runtime.roles import Scope, read_scope
from narrows.switch.server.target import TargetError, invalid


class Controller:
    """One stream: its state in the arbitration, and its outgoing messages."""

    def __init__(self, rights: Rights = EVERYTHING) -> None:
        self.rights = rights
        self.role: str | None = None
        self.election_id: int | None = None
        self.lost = 0
        self.error: TargetError | None = None
        self.backlog_bytes = 0
        self._lock = threading.Lock()
        self._outbox: queue.SimpleQueue[p4r.StreamMessageResponse | None] = queue.SimpleQueue()

    def send(self, message: p4r.StreamMessageResponse) -> None:
        """Queues a message. It is lost to a controller whose backlog is full."""
        taken = taken_bytes(message)
        with self._lock:
            if self.backlog_bytes + taken > budgets.BACKLOG_BYTES:
                self.lost += 1
                return
            self.backlog_bytes += taken
        self._outbox.put(message)

    def receive(self) -> p4r.StreamMessageResponse | None:
        """Waits for the next message. None ends the stream."""
        message = self._outbox.get()
        if message is not None:
            with self._lock:
                self.backlog_bytes -= taken_bytes(message)
        return message

    def close(self, error: TargetError | None = None) -> None:
        """Ends the stream with the error after sending the queued messages."""
        self.error = self.error or error
        self._outbox.put(None)


def taken_bytes(message: p4r.StreamMessageResponse) -> int:
    """What a message that waits takes."""
    return int(message.ByteSize()) + budgets.MESSAGE_OVERHEAD_BYTES


@dataclass
class Role:
    """The controllers of one role."""

    highest: int | None = None
    primary: Controller | None = None
    scope: Scope = field(default_factory=Scope)
    controllers: list[Controller] = field(default_factory=list)


class Arbitration:
    """All roles of one device."""

    def __init__(self, device_id: int) -> None:
        self.device_id = device_id
        self._roles: dict[str, Role] = {}
        self._lock = threading.Lock()
        self.primaries_gone = 0
        """The number of primaries that have disconnected."""

    def handle_update(self, controller: Controller, update: p4r.MasterArbitrationUpdate) -> None:
        """Handles an arbitration update. Raises `TargetError`, which ends the stream."""
        if update.device_id != self.device_id:
            message = f"device {update.device_id}: expected {self.device_id}"
            raise TargetError("not-found", message)
        name, scope = role_name(update), read_scope(update.role)
        controller.rights.check_role(name)
        election_id = U128.decode(update.election_id) if update.HasField("election_id") else 0
        with self._lock:
            if controller.role not in (None, name):
                message = f"role '{name}': the stream already has role '{controller.role}'"
                raise TargetError("failed-precondition", message)
            role = self._role(name)
            for other in role.controllers:
                if other is not controller and election_id and other.election_id == election_id:
                    message = f"election id {election_id} is used by another controller of the role"
                    raise TargetError("invalid-argument", message)
            wins = bool(election_id and (role.highest is None or election_id >= role.highest))
            if wins:
                self._check_scope(name, scope)
            if controller.role is None:
                role.controllers.append(controller)
            controller.role, controller.election_id = name, election_id or None
            before = role.primary
            if role.primary is controller:
                role.primary = None
            if wins:
                role.highest, role.primary, role.scope = election_id, controller, scope
            told = role.controllers if role.primary is not before else [controller]
            self._tell(name, role, told)

    def _role(self, name: str) -> Role:
        """A role, from its first controller on. Where there are too many, the one that has been
        without controllers for longest is forgotten.
        """
        role = self._roles.pop(name, None) or Role()
        if len(self._roles) >= budgets.ROLES:
            idle = (other for other, known in self._roles.items() if not known.controllers)
            del self._roles[next(idle)]
        self._roles[name] = role
        return role

    def _check_scope(self, name: str, scope: Scope) -> None:
        """Raises if another role with a primary shares an exclusive object of this role."""
        for other_name, other in self._roles.items():
            if other_name != name and other.primary is not None:
                number = scope.conflict(other.scope)
                if number is not None:
                    message = f"role '{name}': role '{other_name}' also has object {number:#x}"
                    raise TargetError("invalid-argument", message)

    def handle_end(self, controller: Controller) -> None:
        """Removes a controller after its stream ended."""
        with self._lock:
            if controller.role is None:
                return
            role = self._roles[controller.role]
            role.controllers.remove(controller)
            if role.highest is None and not role.controllers:
                del self._roles[controller.role]
            if role.primary is controller:
                role.primary = None
                self.primaries_gone += 1
                self._tell(controller.role, role, role.controllers)

    def _tell(self, name: str, role: Role, controllers: list[Controller]) -> None:
        for controller in controllers:
            update = p4r.MasterArbitrationUpdate(device_id=self.device_id)
            if name:
                update.role.name = name
            if role.highest is not None:
                update.election_id.CopyFrom(U128.encode(role.highest))
            if controller is role.primary:
                update.status.code = rpc_code.OK
            elif role.primary is not None:
                update.status.code = rpc_code.ALREADY_EXISTS
                update.status.message = "another controller is the primary"
            else:
                update.status.code = rpc_code.NOT_FOUND
                update.status.message = "there is no primary"
            controller.send(p4r.StreamMessageResponse(arbitration=update))

    def check_primary(
        self, request: p4r.WriteRequest | p4r.SetForwardingPipelineConfigRequest
    ) -> Scope:
        """Returns the scope of the request's role. Raises `TargetError` unless the
        primary sent it.
        """
        self.check_device(request.device_id)
        name = requested_role(request)
        with self._lock:
            role = self._roles.get(name, Role())
            election_id = U128.decode(request.election_id)
            alone = not any(one.controllers for one in self._roles.values())
            if alone and not request.HasField("election_id"):
                # As in bmv2, so that tests and tools can write without a stream.
                return Scope()
            if role.primary is None:
                message = f"role '{name}' has no primary controller"
                raise TargetError("permission-denied", message)
            if role.primary.election_id != election_id:
                message = f"election id {election_id}: the primary's is {role.primary.election_id}"
                raise TargetError("permission-denied", message)
            return role.scope

    def scope(self, name: str) -> Scope:
        """The scope that a role may read."""
        with self._lock:
            return self._roles.get(name, Role()).scope

    def check_device(self, device_id: int) -> None:
        """Raises `TargetError` for another device."""
        if device_id != self.device_id:
            message = f"device {device_id}: expected {self.device_id}"
            raise TargetError("not-found", message)

    def is_primary(self, controller: Controller) -> bool:
        """True if the controller is the primary of its role."""
        with self._lock:
            role = self._roles.get(controller.role or "")
            return role is not None and role.primary is controller

    def primaries(self) -> list[tuple[Controller, Scope]]:
        """The primaries of all roles, with their scopes."""
        with self._lock:
            return [(role.primary, role.scope) for role in self._roles.values() if role.primary]

    def connected(self) -> int:
        """The number of connected controllers."""
        with self._lock:
            return sum(len(role.controllers) for role in self._roles.values())


def requested_role(request: p4r.WriteRequest | p4r.SetForwardingPipelineConfigRequest) -> str:
    """The role in which a controller writes; the number that older clients send becomes a name."""
    return request.role or (str(request.role_id) if request.role_id else "")


def role_name(update: p4r.MasterArbitrationUpdate) -> str:
    """A role's name; the number that older clients send becomes a name. Raises `TargetError`."""
    name = update.role.name or (str(update.role.id) if update.role.id else "")
    if len(name.encode()) > budgets.ROLE_NAME_BYTES:
        message = f"role '{name[:40]}...': a name of {len(name)} characters: expected at most"
        raise invalid(f"{message} {budgets.ROLE_NAME_BYTES} bytes")
    return name
