"""`narrows switch` with TLS: which clients are accepted, and which are not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from narrows.controller.__main__ import main
from tests.support.switch_command import P4INFO, PROGRAM, Running, start
from tests.support.world import narrows
from tests.switch.certificates import key_pair, needs_openssl

__all__ = ["start"]

pytestmark = needs_openssl


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    key_pair(tmp_path, "authority", None)
    key_pair(tmp_path, "switch", "authority")
    key_pair(tmp_path, "client", "authority")
    key_pair(tmp_path, "stranger", None)
    return tmp_path


def push(address: str, *tls: str | Path) -> int:
    """Pushes the pipeline; the command's exit code."""
    arguments = ["--address", address, *map(str, tls), "--p4info", str(P4INFO)]
    return main([*arguments, "--json", str(PROGRAM), "push"])


def test_the_server_has_a_certificate(keys: Path, start: Callable[..., Running]) -> None:
    running = start(
        "--no-p4", "--use-files", "600", "--grpc-server-ssl",
        "--grpc-server-cert", keys / "switch.pem", "--grpc-server-key", keys / "switch.key",
    )  # fmt: skip
    assert push(running.address, "--ca", keys / "authority.pem") == 0
    assert push(running.address, "--ca", keys / "stranger.pem") == 1
    assert push(running.address) == 1


def test_clients_need_a_certificate(keys: Path, start: Callable[..., Running]) -> None:
    running = start(
        "--no-p4", "--use-files", "600", "--grpc-server-ssl", "--grpc-server-with-client-auth",
        "--grpc-server-cert", keys / "switch.pem", "--grpc-server-key", keys / "switch.key",
        "--grpc-server-cacert", keys / "authority.pem",
    )  # fmt: skip
    authority = ("--ca", keys / "authority.pem")
    ours = ("--cert", keys / "client.pem", "--key", keys / "client.key")
    assert push(running.address, *authority, *ours) == 0
    assert push(running.address, *authority) == 1
    theirs = ("--cert", keys / "stranger.pem", "--key", keys / "stranger.key")
    assert push(running.address, *authority, *theirs) == 1


def test_a_key_that_is_not_there_is_named(keys: Path) -> None:
    from narrows.testbed.cli.main import main as command

    files = ["--grpc-server-cert", str(keys / "switch.pem"), "--grpc-server-key", "missing.key"]
    assert command(["switch", "--no-p4", "--grpc-server-ssl", *files]) == 2


def test_a_key_of_another_certificate_is_refused(keys: Path) -> None:
    files = ("--grpc-server-cert", keys / "switch.pem", "--grpc-server-key", keys / "client.key")
    address = ("--grpc-server-addr", "127.0.0.1:0")
    ran = narrows("switch", "--no-p4", "--grpc-server-ssl", *files, *address)
    assert ran.returncode == 2
    assert "expected a free address, and a certificate with its key" in ran.stderr
