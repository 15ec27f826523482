"""`narrows plan`: prints a scenario's complete plan as JSON."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from narrows.testbed.cli.exit_codes import DONE
from narrows.testbed.cli.options import ONE_POINT, add_overrides
from narrows.testbed.problems import InputError, Problem
from narrows.testbed.shipped import scenario_path


def add_command(commands: Any) -> None:
    """The sub-command and its options."""
    command = commands.add_parser("plan", help="print a scenario's resolved plan as JSON")
    command.add_argument("scenario", type=scenario_path, help=ONE_POINT)
    command.add_argument(
        "--switch", metavar="NAME", help="print the state and ports of this switch only"
    )
    add_overrides(command)
    command.set_defaults(command=run)


def run(options: argparse.Namespace) -> int:
    """`narrows plan`. Raises `InputError`."""
    from narrows.testbed.catalogue import unknown
    from narrows.testbed.scenario.plan import make_plan
    from narrows.testbed.scenario.sweep import read_one

    source: Path = options.scenario
    plan = make_plan(read_one(source, options.overrides).scenario, str(source))
    if options.switch is not None:
        switches = {switch["name"]: switch for switch in plan["switches"]}
        if options.switch not in switches:
            what = unknown("switch", options.switch, switches)
            raise InputError("--switch", [Problem(options.switch, what)])
        print(json.dumps(switches[options.switch], indent=1))
    else:
        print(json.dumps(plan, indent=1))
    return DONE
