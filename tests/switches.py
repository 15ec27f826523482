"""The two switches that one suite of controller tests drives: `narrows switch` and bmv2.

NARROWS_BMV2_GRPC is the command of bmv2's P4Runtime target; without it `simple_switch_grpc` from
PATH. Its Thrift server listens on every address, so it runs in a network namespace of its own,
and controllers reach it through a Unix socket, which knows no namespaces.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import struct
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.bmv2 import command as command_of
from tests.world import ROOT, command, environment

DEVICE = 3
THRIFT_PORT = 9090
PORTS = (1, 2, 3)
BMV2 = command_of("NARROWS_BMV2_GRPC", "simple_switch_grpc")
NO_PACKETS = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
START_S = 30
FILES = ["--use-files", "600"]
"""Ports are capture files, here without packets."""


def lacking_for_bmv2() -> str | None:
    """Why bmv2 can't be started here; None where it can."""
    if BMV2 is None:
        return "simple_switch_grpc is not on PATH, and NARROWS_BMV2_GRPC does not name it"
    if os.geteuid() != 0:
        return "not root (bmv2 gets a network namespace of its own)"
    tools = [tool for tool in ("unshare", "ip") if not shutil.which(tool)]
    return f"{tools[0]} is not installed" if tools else None


def ports(directory: Path) -> list[str]:
    """The arguments for ports without packets."""
    for port in PORTS:
        (directory / f"port{port}_in.pcap").write_bytes(NO_PACKETS)
    return [word for port in PORTS for word in ("-i", f"{port}@{directory}/port{port}")]


@contextmanager
def narrows_switch(directory: Path) -> Iterator[str]:
    """Ours, without a program; its address."""
    arguments = ["--no-p4", "--device-id", str(DEVICE), *FILES, *ports(directory)]
    arguments += ["--grpc-server-addr", "127.0.0.1:0"]
    with ended(
        subprocess.Popen(
            command("switch", *arguments),
            cwd=ROOT, env=environment(), stdout=subprocess.PIPE, text=True,
        )
    ) as process:  # fmt: skip
        assert process.stdout is not None
        line = process.stdout.readline()
        assert "controllers at " in line, line
        yield line.rpartition(" at ")[2].strip()


@contextmanager
def bmv2(directory: Path) -> Iterator[str]:
    """bmv2's `simple_switch_grpc`, without a program; its address."""
    with bmv2_process(directory) as (_, address):
        yield address


@contextmanager
def bmv2_process(
    directory: Path, *, live: bool = False
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """bmv2 and its address. Its Thrift server is at THRIFT_PORT of the process's namespace, and
    so are, if its ports are live, the other ends of their veths, `h1` and so on.
    """
    assert BMV2
    socket = directory / "grpc.sock"
    notifications = f"ipc://{directory}/notifications.ipc"
    arguments = ["--no-p4", "--device-id", str(DEVICE), "--thrift-port", str(THRIFT_PORT)]
    set_up = ["ip link set lo up"]
    if live:
        for port in PORTS:
            arguments += ["-i", f"{port}@p{port}"]
            set_up += [
                f"ip link add p{port} type veth peer name h{port}",
                f"ip link set p{port} up",
                f"ip link set h{port} up",
            ]
    else:
        arguments += [*FILES, *ports(directory)]
    arguments += ["--notifications-addr", notifications]
    arguments += ["--", "--grpc-server-addr", f"unix:{socket}"]
    inside = " && ".join([*set_up, f"exec {shlex.join([*BMV2, *arguments])}"])
    with ended(
        subprocess.Popen(
            ["unshare", "--net", "sh", "-c", inside],
            cwd=directory, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True,
        )
    ) as process:  # fmt: skip
        until = time.monotonic() + START_S
        while not socket.exists():
            assert process.poll() is None, f"simple_switch_grpc ended with {process.returncode}"
            assert time.monotonic() < until, "simple_switch_grpc has no socket"
            time.sleep(0.05)
        yield process, f"unix:{socket}"


@contextmanager
def ended(process: subprocess.Popen[str]) -> Iterator[subprocess.Popen[str]]:
    """A process that does not outlive its use."""
    with process:
        try:
            yield process
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
