"""Runs bmv2's `simple_switch_grpc` as a process with veths as its ports.

Its Thrift server listens on every address without access control, so bmv2 runs in its own network
namespace. P4Runtime uses a Unix socket, which works across namespaces. The Thrift connection is
opened inside the namespace. NARROWS_BMV2 is the command; the default is `simple_switch_grpc` from
PATH.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Self

from narrows.testbed import files
from narrows.testbed.targets.linux import namespaces
from narrows.testbed.targets.linux.namespaces import PlumbingError, SwitchNamespace

if TYPE_CHECKING:
    from narrows.controller.drivers.bmv2 import Bmv2Driver

VARIABLE = "NARROWS_BMV2"
THRIFT_PORT = 9090
START_S = 30
END_S = 10


def command() -> list[str] | None:
    """The command of bmv2; None if it is not installed."""
    if VARIABLE in os.environ:
        return shlex.split(os.environ[VARIABLE])
    found = shutil.which("simple_switch_grpc")
    return [found] if found else None


def missing() -> list[str]:
    """What this machine lacks for bmv2; empty if nothing."""
    lacking = namespaces.missing()
    if command() is None:
        lacking.append(f"simple_switch_grpc is not on PATH, and {VARIABLE} does not name it")
    lacking += [
        f"{tool} is not installed" for tool in ("setpriv", "chrt") if not shutil.which(tool)
    ]
    try:
        import thriftpy2  # noqa: F401
    except ImportError:
        lacking.append("thriftpy2 is not installed (pip install 'narrows[bmv2]')")
    return lacking


def priority() -> list[str]:
    """The command prefix for a real-time priority, if permitted. Other threads delay bmv2 at a
    normal priority.
    """
    before = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except PermissionError:
        return []
    os.sched_setscheduler(0, *before)
    return ["chrt", "--fifo", "1"]


class Bmv2:
    """A bmv2 without a program, in its own namespace, with `queues` at each port.

    A context manager; the process ends with it, and with the thread that started it. Raises
    `PlumbingError` with bmv2's output if it does not start.
    """

    def __init__(self, namespace: SwitchNamespace, device_id: int = 0, queues: int = 1) -> None:
        self.namespace, self.device_id, self.queues = namespace, device_id, queues
        self.address = ""
        """The address of its P4Runtime server."""
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        directory = Path(self._stack.enter_context(files.plain_directory()))
        socket, log = directory / "grpc", directory / "log"
        self.address = f"unix:{socket}"
        try:
            self.process = self._stack.enter_context(self._start(directory, log))
            self._stack.callback(self._end)
            until = time.monotonic() + START_S
            while not socket.exists():
                if self.process.poll() is not None or time.monotonic() > until:
                    said = log.read_text(errors="replace").strip().splitlines()[-3:]
                    raise PlumbingError(f"simple_switch_grpc did not start: {' '.join(said)}")
                time.sleep(0.02)
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def thrift(self, packet_bytes: int) -> Bmv2Driver:
        """Connects to its traffic manager, for packets of this size; the caller closes it. Raises
        `DriverError`.
        """
        from narrows.controller.drivers.bmv2 import Bmv2Driver

        driver = Bmv2Driver("127.0.0.1", THRIFT_PORT, packet_bytes)
        return self.namespace.call(driver.__enter__)

    def _start(self, directory: Path, log: Path) -> subprocess.Popen[bytes]:
        started = command()
        if started is None:
            raise PlumbingError("; ".join(missing()))
        ports = [word for port in self.namespace.outside for word in ("-i", f"{port}@p{port}")]
        arguments = [
            *("setpriv", "--pdeathsig", "KILL", *priority(), *started, "--no-p4", *ports),
            *("--device-id", str(self.device_id), "--thrift-port", str(THRIFT_PORT)),
            *("--notifications-addr", f"ipc://{directory}/notifications"),
            *("--", "--grpc-server-addr", self.address),
            *(("--priority-queues", str(self.queues)) if self.queues > 1 else ()),
        ]
        with log.open("wb") as file:
            return subprocess.Popen(
                self.namespace.command(*arguments),
                cwd=directory, stdin=subprocess.DEVNULL, stdout=file, stderr=file,
                process_group=0,
            )  # fmt: skip

    def _end(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(END_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
