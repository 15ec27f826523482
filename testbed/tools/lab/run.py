"""A lab: its hosts, links and switches, from the topology to the run's directory."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from narrows.testbed import engine
from narrows.testbed.problems import InputError, Problem
from narrows.testbed.targets.dpdk import DPDK
from narrows.testbed.targets.linux import namespaces
from narrows.testbed.tools.lab import network
from narrows.testbed.tools.lab.capture import Capture
from narrows.testbed.tools.lab.network import Hosts, Running
from narrows.testbed.tools.lab.options import LabOptions
from narrows.testbed.tools.lab.prompt import Prompt
from narrows.testbed.tools.lab.switches import Switches
from narrows.testbed.tools.lab.topology import Topology, read_topology
from narrows.testbed.tools.ledger import Ledger, new_directory

POLL_S: Final = 0.2
DOWN_PATIENCE_S: Final = 30
PCAPS, LOGS = "pcaps", "logs"


class LabError(Exception):
    """The lab could not be made, or failed."""


@dataclass(frozen=True)
class Up:
    """A lab that is up."""

    topology: Topology
    hosts: Hosts
    switches: Switches
    notes: list[str]


def run(
    options: LabOptions, environment: Mapping[str, str], tell: Callable[[Up], None]
) -> dict[str, Any]:
    """Runs a lab until its user ends it; returns the summary. `tell` is called once it is up.
    Raises `InputError` or `LabError`.
    """
    options.check()
    topology = read_topology(options.topology, options.program)
    if lacking := namespaces.missing() + DPDK.missing():
        raise InputError("narrows lab", [Problem("", what) for what in lacking])
    new_directory(options.directory, "--name")
    for name in (PCAPS, LOGS):
        (options.directory / name).mkdir()
    stopped = Stopped()
    try:
        return run_in(options, topology, environment, tell, stopped)
    except (namespaces.PlumbingError, engine.RunError, engine.DeviceError) as error:
        raise LabError(str(error)) from None
    except Over:
        # Before it was up.
        raise KeyboardInterrupt from None


def run_in(
    options: LabOptions,
    topology: Topology,
    environment: Mapping[str, str],
    tell: Callable[[Up], None],
    stopped: Stopped,
) -> dict[str, Any]:
    """Runs a lab in its directory."""
    logs = options.directory / LOGS
    with ExitStack() as stack:
        hosts = stack.enter_context(network.made(topology))
        switches = Switches(topology, hosts, options, logs)
        capture = None
        if options.capture:
            capture = Capture(topology, hosts, options.directory / PCAPS)
            stack.enter_context(capture)
        stack.enter_context(switches)
        ledger = stack.enter_context(Ledger(options.directory, switches.switches))
        switches.configure()
        up = Up(topology, hosts, switches, network.run_commands(hosts, topology, logs))
        announce(options, up)
        tell(up)

        def check() -> None:
            stopped.check()
            for error in (switches.error, ledger.error):
                if error is not None:
                    raise LabError(str(error))

        with closing(Prompt(topology, hosts, environment)) as prompt:
            serve(options, prompt, check)
        ledger.stop()
        instrument = switches.stop()
        more: dict[str, Any] = {"topology": str(options.topology)}
        if capture is not None:
            capture.close()
            more["packets_not_captured"] = capture.lost
        return ledger.finish(instrument, more)


def serve(options: LabOptions, prompt: Prompt, check: Callable[[], None]) -> None:
    """Waits until the user or a signal ends the lab."""
    try:
        if options.prompt:
            prompt.read(check)
            return
        while True:
            check()
            time.sleep(POLL_S)
    except Over:
        return


class Over(Exception):  # noqa: N818
    """The lab was asked to end."""


class Stopped:
    """SIGTERM and SIGHUP end the lab; so does SIGINT, unless a prompt reads it."""

    def __init__(self) -> None:
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._end)
        self.is_set = False

    def _end(self, *_: object) -> None:
        self.is_set = True
        raise Over

    def check(self) -> None:
        """Raises `Over` if the lab was asked to end."""
        if self.is_set:
            raise Over


def announce(options: LabOptions, up: Up) -> None:
    """Writes the file by which `narrows lab exec` and `down` find the lab."""
    lab = Running(
        up.hosts.owner,
        os.getpid(),
        str(options.topology),
        str(options.directory),
        {host.name: str(host.ip.ip) for host in up.topology.hosts},
        up.switches.addresses,
    )
    partial = up.hosts.directory / "lab.partial"
    partial.write_text(json.dumps(dataclasses.asdict(lab)), encoding="utf-8")
    partial.rename(up.hosts.directory / "lab.json")


def only_lab() -> Running:
    """The lab that runs on this machine. Raises `InputError` unless there is exactly one, or the
    variable NARROWS_LAB has the number of one.
    """
    found = network.running()
    wanted = os.environ.get("NARROWS_LAB")
    if wanted is not None:
        found = [lab for lab in found if str(lab.owner) == wanted]
    if len(found) == 1:
        return found[0]
    if not found:
        what = "none is running; expected `narrows lab TOPOLOGY.json` in another terminal"
    else:
        numbers = ", ".join(f"{lab.owner} ({lab.topology})" for lab in found)
        what = f"several are running: {numbers}; expected the number in NARROWS_LAB"
    raise InputError("narrows lab", [Problem("", what)])


def command_at(lab: Running, host: str, words: list[str]) -> list[str]:
    """The command line that runs a command at a host of a running lab. Raises `InputError`."""
    if host not in lab.hosts:
        what = f"no such host; expected {', '.join(lab.hosts)}"
        raise InputError("narrows lab exec", [Problem(host, what)])
    namespace = network.namespace_name(lab.owner, host)
    return network.at_host(namespace, lab.directory / "hosts", words)


def end(lab: Running) -> None:
    """Ends a lab, and waits until nothing of it is left. Raises `LabError`."""
    os.kill(lab.pid, signal.SIGTERM)
    deadline = time.monotonic() + DOWN_PATIENCE_S
    while Path(f"/proc/{lab.pid}").exists():
        if time.monotonic() > deadline:
            raise LabError(f"process {lab.pid} did not end within {DOWN_PATIENCE_S} s")
        time.sleep(POLL_S)
