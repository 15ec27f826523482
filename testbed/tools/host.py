"""`narrows host`: a scenario's hosts on DPDK ports, attached to any switch.

The scenario defines the hosts: addresses, access links, flows, applications, recorded tables.
Options assign a port to each group of hosts on this machine (senders, receivers, or both) and to a
telemetry collector. The switches run elsewhere: `narrows switch`, another P4 switch, or hardware.
`narrows plan` prints their configuration. Results are the tables of `narrows run`.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from narrows.testbed.problems import InputError, Problem
from narrows.testbed.runs import local, worker_process
from narrows.testbed.runs.jobs import Outcome, make_jobs
from narrows.testbed.runs.progress import progress_display
from narrows.testbed.scenario.sweep import Point, read_one
from narrows.testbed.targets.dpdk import DPDK
from narrows.testbed.targets.dpdk.setup import PortOptions, RunSettings, setup_by


@dataclass(frozen=True)
class HostRequest:
    """The scenario, its hosts on this machine, and their ports."""

    scenario: Path
    devices: Sequence[str]
    """`GROUP=DEVICE`: the DPDK device of a group's hosts, or of a collector."""
    ports: PortOptions
    out: Path
    overrides: Sequence[str] = ()
    """`KEY=VALUE`, each sets a key of the scenario."""
    begin: float | None = None
    """Start time in seconds since 1970; None means when all ports are up."""


def run_hosts(request: HostRequest) -> tuple[Point, Outcome]:
    """Runs the hosts and shows progress. Raises `InputError`."""
    devices = devices_by_group(request.devices)
    if request.begin is not None and request.begin < time.time():
        raise InputError(
            "--begin", [Problem(f"{request.begin:g}", "expected a time in the future")]
        )
    point = read_one(request.scenario, request.overrides)
    setup = setup_by(request.ports, list(devices.values()))
    settings = RunSettings(setup, devices=devices, begin_s=request.begin).as_json()
    todo = make_jobs(request.scenario, [point], request.out, DPDK, settings=settings)
    with worker_process.spare(DPDK) as spare, progress_display(1, in_real_time=True) as display:
        [outcome] = local.run_all(todo, 1, False, display, spare)
    return point, outcome


def devices_by_group(texts: Sequence[str]) -> dict[str, str]:
    """`GROUP=DEVICE` options by group. Raises `InputError`."""
    found = dict[str, str]()
    for text in texts:
        group, given, device = text.partition("=")
        if not given or not device:
            raise InputError("--port", [Problem(text, "expected GROUP=DEVICE")])
        if group in found:
            raise InputError("--port", [Problem(text, f"group '{group}' is repeated")])
        found[group] = device
    return found
