"""One gRPC server for all services of a switch.

A service is a function that adds a servicer to the server: `serve(address, [adder, ...])`, where
`adder(server)` calls the generated `add_...Servicer_to_server`. P4Runtime's is
`P4RuntimeService.add_to`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import grpc

from narrows.schema import budgets
from narrows.switch.server.parsing import Parsing

Adder = Callable[[grpc.Server], None]

THREADS = 128
"""Threads of the server; a stream occupies one until it ends."""


@dataclass(frozen=True)
class Tls:
    """Contents of PEM files: the server's certificate and key, and the authority of client
    certificates, if clients need one.
    """

    certificate: bytes
    key: bytes
    client_authority: bytes | None = None

    @classmethod
    def read(cls, certificate: Path, key: Path, client_authority: Path | None = None) -> Tls:
        """Reads the files. Raises `OSError`."""
        authority = client_authority.read_bytes() if client_authority else None
        return cls(certificate.read_bytes(), key.read_bytes(), authority)

    def credentials(self) -> grpc.ServerCredentials:
        """Starts a thread of gRPC."""
        return grpc.ssl_server_credentials(
            [(self.key, self.certificate)],
            root_certificates=self.client_authority,
            require_client_auth=self.client_authority is not None,
        )


def serve(
    address: str, services: Iterable[Adder], tls: Tls | None = None
) -> tuple[grpc.Server, int]:
    """Starts a server at `host:port` (0 for any free port); returns it and its port. Raises
    `OSError` if the address is in use or not local.
    """
    server, port = bind(address, services, tls)
    server.start()
    return server, port


def bind(
    address: str, services: Iterable[Adder], tls: Tls | None = None
) -> tuple[grpc.Server, int]:
    """As `serve`, but the server is still to be started."""
    server = grpc.server(
        ThreadPoolExecutor(THREADS, thread_name_prefix="grpc"),
        options=[
            ("grpc.max_receive_message_length", budgets.MESSAGE_BYTES),
            ("grpc.max_send_message_length", budgets.MESSAGE_BYTES),
            ("grpc.so_reuseport", 0),
        ],
    )
    for add in services:
        add(cast(grpc.Server, Parsing(server)))
    try:
        if tls is None:
            port = server.add_insecure_port(address)
        else:
            port = server.add_secure_port(address, tls.credentials())
    except RuntimeError as error:
        raise OSError(f"{address}: {error}") from None
    if port == 0:
        raise OSError(f"{address}: cannot listen on this address")
    if address.startswith("unix:"):
        Path(address.removeprefix("unix:")).chmod(0o600)
    return server, port
