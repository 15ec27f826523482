"""`narrows host`: hosts of a scenario on DPDK ports, opposite any switch.

The scenario says everything about the hosts: addresses, access links, flows with their variants,
applications, what is recorded. A port is given for each group of hosts that is to be here (and for
a collector of telemetry): the senders, the receivers, or both. Its switches are elsewhere: a
`narrows switch`, another P4 switch, hardware; what belongs on them is what `narrows plan` prints.
Results are the tables of `narrows run`.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from narrows.testbed.problems import InputError, Problem
from narrows.testbed.targets.dpdk import DPDK
from narrows.testbed.targets.dpdk import setup as dpdk

if TYPE_CHECKING:
    from narrows.testbed.scenario.sweep import Point


def add_command(commands: Any) -> None:
    """The sub-commands and their options."""
    command = commands.add_parser(
        "host", help="a scenario's hosts on DPDK ports, opposite any switch",
        description="The senders of a scenario, its receivers or both, in real time on DPDK ports.",
    )  # fmt: skip
    add = command.add_argument
    add("scenario", type=Path, help="a TOML file; of a sweep one point (--set)")
    add("--port", action="append", default=[], required=True, metavar="GROUP=DEVICE",
        dest="devices", help="the DPDK device of a group's hosts, e.g. senders=net_memif0,"
        "role=client, or of a collector, e.g. 'collector at s1'=...")  # fmt: skip
    dpdk.add_options(command)
    add("--begin", type=float, metavar="SECONDS", help="when its time is 0 (date +%%s): "
        "so that hosts in several processes have one time (when all ports are up)")  # fmt: skip
    add("--set", action="append", default=[], metavar="KEY=VALUE", dest="settings",
        help="sets a key of the scenario by its path")  # fmt: skip
    add("--out", type=Path, default=Path("results"), help="where results go (results)")
    command.set_defaults(command=run)

    plan = commands.add_parser("plan", help="a scenario with everything worked out, as JSON")
    plan.add_argument("scenario", type=Path, help="a TOML file; of a sweep one point (--set)")
    plan.add_argument("--switch", metavar="NAME", help="of one switch only: its state and ports")
    plan.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", dest="settings",
        help="sets a key of the scenario by its path")  # fmt: skip
    plan.set_defaults(command=print_plan)


def run(options: argparse.Namespace) -> int:
    """`narrows host`. Raises `InputError`."""
    from narrows.testbed.cli.tables import results_table
    from narrows.testbed.runs import local, worker_process
    from narrows.testbed.runs.jobs import make_jobs
    from narrows.testbed.runs.progress import ProgressDisplay, console

    devices = ports(options.devices)
    if options.begin is not None and options.begin < time.time():
        raise InputError("--begin", [Problem(f"{options.begin:g}", "expected a time to come")])
    point = only_point(options)
    setup = dpdk.setup_by(options, list(devices.values()))
    settings = dpdk.RunSettings(setup, devices=devices, begin_s=options.begin).as_json()
    todo = make_jobs(options.scenario, [point], options.out, DPDK, settings=settings)
    with worker_process.spare(DPDK) as spare, ProgressDisplay(1) as shown:
        [outcome] = local.run_all(todo, 1, False, shown, spare)
    console().print(results_table(point.scenario.title, [outcome]))
    print(f"results: {outcome.job.final}")
    if outcome.message:
        print(f"narrows: {options.scenario}: {outcome.message}", file=sys.stderr)
    return {"done": 0, "refused": 2}.get(outcome.state, 1)


def print_plan(options: argparse.Namespace) -> int:
    """`narrows plan`. Raises `InputError`."""
    from narrows.testbed.catalogue import unknown
    from narrows.testbed.scenario.plan import make_plan

    plan = make_plan(only_point(options).scenario, str(options.scenario))
    if options.switch is not None:
        switches = {switch["name"]: switch for switch in plan["switches"]}
        if options.switch not in switches:
            what = unknown("switch", options.switch, switches)
            raise InputError("--switch", [Problem(options.switch, what)])
        plan = switches[options.switch]
    print(json.dumps(plan, indent=1))
    return 0


def only_point(options: argparse.Namespace) -> Point:
    """The scenario's one point with its settings. Raises `InputError`."""
    from narrows.testbed.scenario import sweep as points

    settings = [points.parse_setting(text) for text in options.settings]
    read = points.read(options.scenario, settings)
    if len(read) != 1:
        what = f"has {len(read)} points; expected one (--set)"
        raise InputError(str(options.scenario), [Problem("sweep", what)])
    return read[0]


def ports(texts: list[str]) -> dict[str, str]:
    """`GROUP=DEVICE` options by group. Raises `InputError`."""
    found = dict[str, str]()
    for text in texts:
        group, given, device = text.partition("=")
        if not given or not device:
            raise InputError("--port", [Problem(text, "expected GROUP=DEVICE")])
        if group in found:
            raise InputError("--port", [Problem(text, f"group '{group}' is there twice")])
        found[group] = device
    return found
