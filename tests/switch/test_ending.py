"""SIGTERM ends `narrows switch` in every state; incomplete TLS options prevent its start."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from narrows.testbed.cli.main import main
from narrows.testbed.problems import InputError
from narrows.testbed.tools.switch.address import read_address
from narrows.testbed.tools.switch.pcap import Output
from tests.support.p4rt import CONTROL
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
KEPT_LOCK = """
import ctypes
library, mutex = ctypes.PyDLL(None), ctypes.create_string_buffer(64)
library.pthread_mutex_lock(mutex)
{call}
"""
"""A call into C that never returns, and keeps Python's lock meanwhile."""
CALLS = [
    "library.pthread_mutex_lock(mutex)",
    "threading.Thread(target=library.pthread_mutex_lock, args=(mutex,)).start()",
]


def end_stuck(script: str, *arguments: str) -> tuple[int, str]:
    """Has a script end by SIGTERM once it is ready; returns its exit code, and what it said."""
    process = subprocess.Popen(
        [sys.executable, "-c", script, *arguments],
        cwd=ROOT, env=environment(), stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        # It gets stuck.
        time.sleep(0.3)
        process.send_signal(signal.SIGTERM)
        begin = time.monotonic()
        try:
            code = process.wait(timeout=15)
        finally:
            process.kill()
        said = process.stdout.read()
    # Two seconds; the machine may be busy.
    assert time.monotonic() - begin < 10
    return code, said


@pytest.mark.parametrize("wait", WAITS)
def test_a_process_that_waits_for_ever_ends(wait: str) -> None:
    assert end_stuck(STUCK.format(wait=wait)) == (0, "last words\n")


@pytest.mark.parametrize("call", CALLS, ids=["main thread", "another thread"])
def test_a_process_ends_while_c_keeps_pythons_lock(call: str) -> None:
    assert end_stuck(STUCK.format(wait=KEPT_LOCK.format(call=call))) == (0, "")


RECORDING = """
import json, sys
from narrows.testbed import engine
port = {"port": 0, "queue": {"packets": 64}, "counts": "frame"}
config = {"switch": {"ports": [port], "timestamp_unit": "us", "record_queue": True}}
switch = engine.Switch(json.dumps(config), 1)
switch.load(open(sys.argv[1]).read())
entry = {"table": "Receive.forward", "matches": {"hdr.ethernet.dst": {"exact": "0x0"}},
         "priority": 0, "action": "Receive.send", "params": {"port": "0"}}
switch.insert_entry(entry)
ledger = engine.Ledger(sys.argv[2], [("switch", switch)])
for number in range(100):
    switch.handle_packet(0, bytes(60), number * 10**9)
    switch.run_until(number * 10**9)
"""


def test_a_ledger_is_whole_where_python_is_stuck(tmp_path: Path) -> None:
    stuck = STUCK.format(wait=KEPT_LOCK.format(call=CALLS[0]))
    assert end_stuck(RECORDING + stuck, str(CONTROL[1]), str(tmp_path)) == (0, "")
    # Each packet is queued and sent.
    assert pl.read_parquet(tmp_path / "queue.parquet").height == 200


def test_a_pcap_file_has_whole_packets_at_any_time(tmp_path: Path) -> None:
    output = Output(tmp_path / "out.pcap")
    sizes = set[int]()
    for number in range(300):
        output.write(number * 10**6, bytes(1000))
        sizes.add((tmp_path / "out.pcap").stat().st_size)
    output.close()
    sizes.add((tmp_path / "out.pcap").stat().st_size)
    # A header, and packets of a header of 16 bytes and 1,000 bytes.
    assert max(sizes) == 24 + 300 * 1016
    assert len(sizes) > 2 and all(size == 0 or (size - 24) % 1016 == 0 for size in sizes)


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
