"""What a client may do, by the names in its certificate.

The names are the subject alternative names or, in a certificate without any, the common name (as
RFC 9525, 2 has it for servers). gRPC's `peer_identities` says them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, NoReturn

import grpc

from narrows.switch.server.target import TargetError

Level = Literal["none", "read", "write"]
LEVELS: tuple[Level, ...] = ("none", "read", "write")
ANY = "*"
"""Stands for every role, or every object."""
REPLICATION = "packet-replication"
"""Stands for multicast groups and clone sessions, which have no name in a P4Info."""


@dataclass(frozen=True)
class Rights:
    """What one client may do; everything unless it says otherwise."""

    certificate: str = ""
    roles: frozenset[str] = frozenset({ANY})
    """The P4Runtime roles that it may take; the default role is ''."""
    objects: frozenset[str] = frozenset({ANY})
    """Names or aliases of the P4Info's objects that it may write."""
    reads: bool = True
    can_push: bool = True
    gnmi: Level = "write"

    def check_role(self, role: str) -> None:
        """Raises `TargetError` unless the client may act in the role."""
        if ANY not in self.roles and role not in self.roles:
            self._refuse(f"use role '{role}'", listed(self.roles))

    def check_stream(self) -> None:
        """Raises `TargetError` unless the client has a role, so that others cannot hold streams."""
        if not self.roles:
            self._refuse("open a stream", "a role")

    def check_read(self, role: str) -> None:
        """Raises `TargetError` unless the client may read. A client with a role may read without
        naming one.
        """
        if role:
            self.check_role(role)
        elif not (self.reads or self.roles):
            self._refuse("read", "read = true")

    def check_push(self, role: str) -> None:
        """Raises `TargetError` unless the client may push a pipeline in the role."""
        self.check_role(role)
        if not self.can_push:
            self._refuse(f"push a pipeline in role '{role}'", "push = true")

    def check_object(self, role: str, names: Iterable[str]) -> None:
        """Raises `TargetError` unless the client may write the object with these names."""
        if ANY in self.objects or not self.objects.isdisjoint(names):
            return
        name = next(iter(names), "")
        self._refuse(f"write '{name}' in role '{role}'", listed(self.objects))

    def check_gnmi(self, level: Level) -> None:
        """Raises `TargetError` unless the client has this right to gNMI."""
        if LEVELS.index(self.gnmi) < LEVELS.index(level):
            self._refuse(f"{level} with gNMI", f'gnmi = "{level}"')

    def _refuse(self, what: str, expected: str) -> NoReturn:
        message = f"certificate '{self.certificate}' may not {what}: expected {expected}"
        raise TargetError("permission-denied", message)


EVERYTHING = Rights()
NOTHING = Rights(roles=frozenset(), objects=frozenset(), reads=False, can_push=False, gnmi="none")


@dataclass(frozen=True)
class Access:
    """The rights of all clients by certificate name; None gives everyone every right."""

    clients: Mapping[str, Rights] | None = None

    def of(self, context: grpc.ServicerContext) -> Rights:
        """The rights of a call's client: those of the first of its names that has any."""
        if self.clients is None:
            return EVERYTHING
        names = [name.decode(errors="replace") for name in context.peer_identities() or ()]
        for name in names:
            if name in self.clients:
                return replace(self.clients[name], certificate=name)
        return replace(NOTHING, certificate=", ".join(names))


OPEN = Access()


def listed(names: Iterable[str]) -> str:
    """Names for an error."""
    return ", ".join(f"'{name}'" for name in sorted(names)) or "none"
