"""The switches of a lab: each with its program, its controllers' address and its ports, and one
data path for all.
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self, TextIO

from narrows.schema import budgets
from narrows.testbed import engine
from narrows.testbed.files import read_text
from narrows.testbed.problems import InputError, Problem
from narrows.testbed.targets.dpdk import setup as dpdk
from narrows.testbed.tools.lab.network import Hosts
from narrows.testbed.tools.lab.program import compile_if_stale
from narrows.testbed.tools.lab.topology import End, LabSwitch, Topology, located
from narrows.testbed.tools.switch.options import parse_limit

if TYPE_CHECKING:
    import grpc

    from narrows._engine import Live, Switch
    from narrows.schema.summary import Instrument
    from narrows.switch.server.p4runtime.service import P4RuntimeService
    from narrows.testbed.tools.lab.options import LabOptions

POLL_S: Final = 0.02
"""Interval at which controllers are served."""
LOG_S: Final = 0.2
"""Interval at which the programs' log messages are written."""
HOST: Final = "127.0.0.1"


class Switches:
    """A lab's switches, from `__enter__` to `stop`. Raises `InputError`."""

    def __init__(self, topology: Topology, hosts: Hosts, options: LabOptions, logs: Path) -> None:
        self.switches: dict[str, Switch] = {}
        self.addresses: dict[str, str] = {}
        """Where each switch's controllers connect."""
        self._topology, self._hosts, self._options, self._logs = topology, hosts, options, logs
        self._servers: list[grpc.Server] = []
        self._services: list[P4RuntimeService] = []
        self._live: Live | None = None
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="controllers", daemon=True)
        self._stack = ExitStack()
        self._files: dict[str, TextIO] = {}
        self.error: Exception | None = None
        """Why the switches serve no more; None while they do."""

    def __enter__(self) -> Self:
        try:
            for number, switch in enumerate(self._topology.switches):
                self._add(number, switch)
            self._open()
        except BaseException:
            self.stop()
            raise
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def configure(self) -> None:
        """Gives each switch what its runtime file says, as a controller. Raises `InputError`."""
        asyncio.run(self._configure())

    def stop(self) -> Instrument | None:
        """Ends the data path; returns its errors the first time."""
        self._is_over.set()
        if self._thread.is_alive():
            self._thread.join()
        for server in self._servers:
            server.stop(None).wait()
        self._servers = []
        instrument = self._live.stop() if self._live is not None else None
        self._stack.close()
        return instrument

    def _add(self, number: int, switch: LabSwitch) -> None:
        """Makes a switch, and the server of its controllers."""
        from narrows.switch.server.gnmi.service import GnmiService
        from narrows.switch.server.p4runtime.service import P4RuntimeService
        from narrows.switch.server.serve import serve

        made = engine.Switch(json.dumps(self._config(switch)), self._options.seed)
        made.collect_log(True)
        if switch.program is not None:
            compile_if_stale(switch.program, None)
            load(made, switch.program)
        service = P4RuntimeService(made, number)
        port = self._options.grpc_port + number if self._options.grpc_port else 0
        try:
            server, bound = serve(f"{HOST}:{port}", [service.add_to, GnmiService(made).add_to])
        except OSError as error:
            what = f"{error}; expected that no other lab or switch runs"
            raise InputError("--grpc-port", [Problem(str(port), what)]) from None
        self._servers.append(server)
        self._services.append(service)
        self.switches[switch.name] = made
        self.addresses[switch.name] = f"{HOST}:{bound}"
        log = (self._logs / f"{switch.name}.log").open("w", encoding="utf-8")
        self._files[switch.name] = self._stack.enter_context(log)

    def _config(self, switch: LabSwitch) -> dict[str, Any]:
        """The engine's configuration of a switch."""
        limit = parse_limit(self._options.queue)
        ports = [
            {
                "port": port, "rate_bps": rate_bps, "queue": limit, "counts": self._options.counts,
                "queues": switch.queues,
            }
            for port, (_, rate_bps) in sorted(switch.ports.items())
        ]  # fmt: skip
        if switch.cpu_port is not None:
            ports.append({"port": switch.cpu_port, "queue": limit, "counts": "frame"})
        return {
            "switch": {"ports": ports, "timestamp_unit": "us", "record_queue": True},
            "cpu_port": switch.cpu_port,
            "cpu_limit": {
                "packets_per_s": budgets.CPU_PACKETS_PER_S,
                "bytes_per_s": budgets.CPU_BYTES_PER_S,
            },
            "name": switch.name,
        }

    def _open(self) -> None:
        """Opens the ports of all switches."""
        devices, given = list[str](), []
        for switch in self._topology.switches:
            ports = []
            for port, (delay_ps, _) in sorted(switch.ports.items()):
                interface = self._hosts.interface(End(switch.name, port))
                devices.append(dpdk.af_packet(len(devices), interface))
                ports.append((port, devices[-1], delay_ps))
            given.append((switch.name, self.switches[switch.name], ports))
        setup = dpdk.setup_by(self._options.ports, devices)
        try:
            self._live = engine.Live.several(given, setup.as_text())
        except engine.DeviceError as error:
            raise InputError("narrows lab", [Problem("", str(error))]) from None

    async def _configure(self) -> None:
        for number, switch in enumerate(self._topology.switches):
            if switch.runtime is not None:
                await self._configure_one(number, switch, switch.runtime)

    async def _configure_one(self, number: int, switch: LabSwitch, path: Path) -> None:
        from narrows.controller.client import SwitchClient
        from narrows.controller.errors import ControllerError
        from narrows.controller.runtime_json import read_runtime

        folders = self._topology.folders
        try:
            runtime = read_runtime(read_text(path))
            program, p4info = located(runtime.program, folders), located(runtime.p4info, folders)
            compile_if_stale(program, p4info)
            address = self.addresses[switch.name]
            client = SwitchClient(address, p4info=p4info, program=program, device_id=number)
            async with client:
                await client.send(runtime.updates)
        except ControllerError as error:
            raise InputError(str(path), [Problem("", str(error))]) from None

    def _serve(self) -> None:
        """Serves controllers, and writes what the programs log."""
        next_log = time.monotonic()
        try:
            while not self._is_over.wait(POLL_S):
                if self._live is not None and not self._live.is_running():
                    raise RuntimeError("the data path ended unexpectedly")
                for service in self._services:
                    service.poll(time.monotonic_ns())
                if time.monotonic() >= next_log:
                    next_log = time.monotonic() + LOG_S
                    self._write_logs()
            self._write_logs()
        except Exception as error:  # the lab ends, and says so
            self.error = error

    def _write_logs(self) -> None:
        for name, switch in self.switches.items():
            if lines := switch.take_log():
                print("\n".join(lines), file=self._files[name], flush=True)


def load(switch: Switch, program: Path) -> None:
    """Loads a program. Raises `InputError`."""
    from narrows.switch.server.target import TargetError

    try:
        switch.load(read_text(program))
    except TargetError as error:
        raise InputError(str(program), [Problem("", error.message)]) from None
