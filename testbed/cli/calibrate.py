"""`narrows calibrate`: the highest rates that can be trusted in real time on this machine."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from narrows.testbed.cli.exit_codes import DONE


def add_command(commands: Any) -> None:
    """The sub-command and its options."""
    command = commands.add_parser(
        "calibrate", help="measure the highest rates that this machine supports in real time"
    )
    command.add_argument("--seconds", type=int, default=3, help="length of each run (default: 3)")
    command.add_argument("--out", type=Path, default=Path("results/calibration.json"),
        help="the file to write (default: results/calibration.json)")  # fmt: skip
    command.set_defaults(command=run)


def run(options: argparse.Namespace) -> int:
    """`narrows calibrate`. Raises `InputError`."""
    from narrows.testbed.tools.calibrate import calibrate

    calibrate(options.seconds, options.out)
    return DONE
