"""SIGTERM ends `narrows switch` in every state; incomplete TLS options prevent its start."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from narrows.testbed.cli.main import main
from narrows.testbed.problems import InputError
from narrows.testbed.tools.switch.address import read_address
from tests.support.switch_command import Running, start
from tests.support.world import ROOT, environment

__all__ = ["start"]

STUCK = """
import threading
from narrows.testbed.tools.switch.ending import end_in_time
from narrows.testbed.tools.switch.stop import Stop
end_in_time(Stop(), lambda: print("last words", flush=True))
print("ready", flush=True)
held = threading.Lock()
held.acquire()
{wait}
"""
WAITS = ["held.acquire()", "threading.Thread(target=held.acquire).start()"]
"""The main thread waits for ever; a thread that the interpreter joins at its end does too."""


@pytest.mark.parametrize("wait", WAITS)
def test_a_process_that_waits_for_ever_ends(wait: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", STUCK.format(wait=wait)],
        cwd=ROOT, env=environment(), stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGTERM)
        begin = time.monotonic()
        assert process.wait(timeout=15) == 0
        assert process.stdout.read() == "last words\n"
    # Two seconds; the machine may be busy.
    assert time.monotonic() - begin < 10


HALF_TLS = [
    ["--grpc-server-cert", "{key}"],
    ["--grpc-server-key", "{key}"],
    ["--grpc-server-cacert", "{key}"],
    ["--grpc-server-with-client-auth"],
    ["--grpc-server-ssl"],
    ["--grpc-server-ssl", "--grpc-server-cert", "{key}", "--grpc-server-key", "{key}",
     "--grpc-server-cacert", "{key}"],
]  # fmt: skip


@pytest.mark.parametrize("options", HALF_TLS, ids=lambda options: options[-2:][0].strip("-"))
def test_half_of_the_tls_options_is_refused(
    options: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key = tmp_path / "key.pem"
    key.write_text("")
    given = [option.format(key=key) for option in options]
    assert main(["switch", "--no-p4", "--use-files", "600", *given]) == 2
    assert "expected --grpc-server-" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text", ["127.0.0.1", ":9559", "127.0.0.1:", "127.0.0.1:99999", "127.0.0.1:-1", "::1:9559",
             "127.0.0.1:http", "127.0.0.1:" + "9" * 5000]
)  # fmt: skip
def test_an_address_without_a_port_of_tcp_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="expected"):
        read_address(text)


def test_addresses_that_only_this_machine_reaches() -> None:
    for text in ("127.0.0.1:0", "localhost:9559", "[::1]:65535", "127.1.2.3:1"):
        assert read_address(text).is_local
    for text in ("0.0.0.0:9559", "[::]:9559", "192.0.2.1:9559", "switch.example:9559"):
        assert not read_address(text).is_local


def test_plaintext_on_every_address_is_warned_of(start: Callable[..., Running]) -> None:
    running = start("--no-p4", "--use-files", "600", "--grpc-server-addr", "0.0.0.0:0")
    code, said = running.end()
    assert code == 0
    assert "warning: 0.0.0.0:" in said and "in plaintext" in said


def test_plaintext_on_loopback_is_not_warned_of(start: Callable[..., Running]) -> None:
    running = start("--no-p4", "--use-files", "600")
    assert running.end() == (0, "")
