"""`narrows host`: runs a scenario's hosts on DPDK ports, opposite any switch."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from narrows.testbed.cli.exit_codes import DONE, FAILED, WRONG
from narrows.testbed.cli.options import (
    ONE_POINT,
    add_overrides,
    add_port_options,
    port_options,
    request_of,
)
from narrows.testbed.shipped import scenario_path


def add_command(commands: Any) -> None:
    """The sub-command and its options."""
    command = commands.add_parser(
        "host", help="run a scenario's hosts on DPDK ports, opposite any switch",
        description="Runs a scenario's senders, receivers or both in real time on DPDK ports.",
    )  # fmt: skip
    add = command.add_argument
    add("scenario", type=scenario_path, help=ONE_POINT)
    add("--port", action="append", default=[], required=True, metavar="GROUP=DEVICE",
        dest="devices", help="the DPDK device of a group's hosts, e.g. senders=net_memif0,"
        "role=client, or of a collector, e.g. 'collector at s1'=...")  # fmt: skip
    add_port_options(command)
    add("--begin", type=float, metavar="SECONDS",
        help="Unix time of the start, common to several processes (default: ports up)")  # fmt: skip
    add_overrides(command)
    add(
        "--out",
        type=Path,
        default=Path("results"),
        help="the directory for results (default: results)",
    )
    command.set_defaults(command=run)


def run(options: argparse.Namespace) -> int:
    """`narrows host`. Raises `InputError`."""
    from narrows.testbed.cli.results_table import results_table
    from narrows.testbed.terminal import console
    from narrows.testbed.tools.host import HostRequest, run_hosts

    request = request_of(HostRequest, options, ports=port_options(options))
    point, outcome = run_hosts(request)
    screen = console()
    screen.print(results_table(point.scenario.title, [outcome], screen))
    print(f"results: {outcome.job.final}")
    if outcome.message:
        print(f"narrows: {request.scenario}: {outcome.message}", file=sys.stderr)
    return {"done": DONE, "refused": WRONG}.get(outcome.state, FAILED)
