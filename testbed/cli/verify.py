"""`narrows verify`: runs a bundle again and compares."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from narrows.schema.units import parse_share
from narrows.testbed.cli.exit_codes import DONE, FAILED
from narrows.testbed.cli.options import add_target_options, own_options
from narrows.testbed.problems import InputError, Problem
from narrows.testbed.targets import HOSTS, TARGETS
from narrows.testbed.terminal import plain


def add_command(commands: Any) -> None:
    """The sub-command and its options."""
    command = commands.add_parser("verify", help="run a bundle's scenarios again and compare")
    add = command.add_argument
    target, hosts = next(iter(TARGETS)), next(iter(HOSTS))
    add("bundle", type=Path, help="a file of narrows artifact")
    add("--target", default=target, choices=TARGETS,
        help=f"the bundle's target, which you must allow (default: {target})")  # fmt: skip
    add("--hosts", default=hosts, choices=HOSTS, help=f"the bundle's hosts (default: {hosts})")
    add("--tolerance", default="5%", metavar="SHARE",
        help="by how much statistics may differ in real time (default: 5%%)")  # fmt: skip
    add("--first", type=int, metavar="N", help="run only the first N runs")
    add("--jobs", type=int, default=os.cpu_count() or 1,
        help="runs at a time (default: one per core)")  # fmt: skip
    add("--quiet", action="store_true", help="print differences only")
    add_target_options(command)
    command.set_defaults(command=run)


def run(options: argparse.Namespace) -> int:
    """`narrows verify`. Raises `InputError`."""
    from narrows.testbed.runs.request import execution_of
    from narrows.testbed.tools.artifact.verify import verify

    target, hosts = TARGETS[options.target], HOSTS[options.hosts]
    if options.first is not None and options.first < 1:
        raise InputError("--first", [Problem(str(options.first), "expected at least 1")])
    execution = execution_of(target, hosts, own_options(options, target), options.jobs, None)
    execution.check()
    found = verify(
        options.bundle,
        execution,
        share(options.tolerance),
        first=options.first,
        quiet=options.quiet,
    )
    if found.warning:
        print(f"note: {plain(found.warning)}", file=sys.stderr)
    for verdict in found.verdicts:
        if not (verdict.same and options.quiet):
            word = "as in the bundle" if verdict.same else "DIFFERS"
            print(plain(f"{verdict.run}: {word}: {verdict.text}"))
    if not options.quiet:
        count = sum(verdict.same for verdict in found.verdicts)
        print(f"{len(found.verdicts)} runs: {count} as in the bundle")
    return DONE if found.same else FAILED


def share(text: str) -> float:
    """The share of `--tolerance`. Raises `InputError`."""
    try:
        found = parse_share(text)
    except ValueError as error:
        raise InputError("--tolerance", [Problem("SHARE", str(error), text)]) from None
    if not 0 <= found < 1:
        raise InputError("--tolerance", [Problem("SHARE", "expected 0 to 99 %", text)])
    return float(found)
