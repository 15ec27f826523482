"""`--hosts iperf3`: iperf3 in place of our applications, on the kernel's TCP."""

from __future__ import annotations

import ctypes
import os
import shutil
import socket
from pathlib import Path

import pytest

from narrows.testbed.targets.iperf3 import sockets
from tests.support.needs import programs
from tests.support.real_time import Machine, judged
from tests.support.world import RunDirectory, narrows, write
from tests.targets.test_linux_hosts import SCENARIO, needs_hosts
from tests.targets.test_real_time import WIDE


def test_only_the_wanted_socket_is_duplicated(monkeypatch: pytest.MonkeyPatch) -> None:
    """A duplicate of a listener would keep its port in use while iperf3 binds another one."""
    libc, duplicated = ctypes.CDLL(None, use_errno=True), list[int]()

    class Spy:
        @staticmethod
        def syscall(number: int, process: int, fd: int, flags: int) -> int:
            duplicated.append(fd)
            return int(libc.syscall(number, process, fd, flags))

    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: Spy)
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        socket.create_connection(listener.getsockname()) as client,
    ):
        accepted, ends = listener.accept()[0], [listener.getsockname(), client.getsockname()]
        with accepted:
            copy = sockets.borrow(os.getpid(), ends)
            assert copy is not None
            with copy:
                assert copy.getpeername() == client.getsockname()
            assert duplicated == [accepted.fileno()]


@needs_hosts
@programs("iperf3")
def test_iperf3_stands_in_as_the_application(tmp_path: Path, machine: Machine) -> None:
    _check_iperf3(tmp_path, machine)


@needs_hosts
@programs("iperf3")
def test_an_iperf3_client_waits_for_its_server(
    tmp_path: Path, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = tmp_path / "slow" / "iperf3"
    slow.parent.mkdir()
    waits = 'case "$*" in *--server*) sleep 0.6;; esac'
    slow.write_text(f'#!/bin/sh\n{waits}\nexec {shutil.which("iperf3")} "$@"\n')
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{slow.parent}{os.pathsep}{os.environ['PATH']}")
    _check_iperf3(tmp_path, machine)


def _check_iperf3(tmp_path: Path, machine: Machine) -> None:
    text = SCENARIO[: SCENARIO.index("[[flow]]")].replace('"4s"', '"2s"')
    text += f'[[flow]]\nvariant = "cubic"\nsegment = "1000B"\n{WIDE}'
    options = ("--target", "dpdk", "--hosts", "iperf3", "--out", tmp_path, "--no-figures")
    done = narrows("run", write(tmp_path, text), *options)
    assert done.returncode == 0, done.stderr
    [path] = [made.parent for made in tmp_path.glob("scenario/[!.]*/run.json")]
    run = RunDirectory(path)
    [flow] = run.summary["flows"]
    # Less than two seconds of the link, since iperf3 has to start.
    assert flow["delivered_bytes"] < 2.5e6 * 1000 / 1066
    # On a busy machine it may start after the end.
    with judged(run.longest_gap_us, machine.longest_us()):
        assert flow["delivered_bytes"] > 1e6
    rows = run.table("flows")
    assert {cwnd % 1000 for cwnd in rows["cwnd_bytes"].to_list()} == {0}
    assert 0 <= flow["delivered_bytes"] - rows["acked_bytes"].to_list()[-1] < 100_000
