"""The two switches that one suite of controller tests drives: `narrows switch` and bmv2."""

from __future__ import annotations

import signal
import struct
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from narrows.testbed.targets.bmv2.switch import Bmv2, missing
from narrows.testbed.targets.linux.namespaces import Plumbing
from tests.support.world import ROOT, command, environment

DEVICE = 3
PORTS = (1, 2, 3)
NO_PACKETS = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
FILES = ["--use-files", "600"]
"""Ports are capture files, here without packets."""


def lacking_for_bmv2() -> str | None:
    """Why bmv2 can't be started here; None if it can."""
    return next(iter(missing()), None)


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
def bmv2() -> Iterator[Bmv2]:
    """bmv2's `simple_switch_grpc`, without a program, with two queues at each port."""
    with Plumbing() as plumbing, Bmv2(plumbing.add_switch(0, PORTS), DEVICE, 2) as switch:
        yield switch


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
