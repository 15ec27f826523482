"""Where controllers connect to a switch: `HOST:PORT`."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

from narrows.testbed.problems import InputError, Problem

OPTION = "--grpc-server-addr"
MOST = 65_535


@dataclass(frozen=True)
class Address:
    """A host, and a TCP port; 0 for any that is free."""

    host: str
    port: int

    @property
    def is_local(self) -> bool:
        """Whether only this machine reaches it. A name but `localhost` counts as another's."""
        host = self.host.removeprefix("[").removesuffix("]")
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return host == "localhost"

    def at(self, port: int) -> str:
        """The address with the port that was free."""
        return f"{self.host}:{port}"


def read_address(text: str) -> Address:
    """An address. gRPC itself takes a missing port for 443, and others modulo 65,536. Raises
    `InputError`.
    """
    host, _, port = text.rpartition(":")
    is_whole = host.count(":") == 0 or (host.startswith("[") and host.endswith("]"))
    if not host or not is_whole or not (port.isascii() and port.isdecimal()):
        what = "expected HOST:PORT, for instance 127.0.0.1:9559 or [::1]:9559"
        raise InputError(OPTION, [Problem(text, what)])
    if len(port) > len(str(MOST)) or int(port) > MOST:
        raise InputError(OPTION, [Problem(text, f"port {port[:20]}: expected 0 to {MOST}")])
    return Address(host, int(port))
