"""`narrows packetdrill`: runs packetdrill scripts against our TCP."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any


def add_command(commands: Any) -> None:
    """The sub-command and its options."""
    command = commands.add_parser("packetdrill", help="play packetdrill scripts against our TCP")
    command.add_argument(
        "scripts", type=Path, nargs="+", metavar="SCRIPT.pkt", help="the scripts to play, in order"
    )
    command.set_defaults(command=run)


def run(options: argparse.Namespace) -> int:
    """`narrows packetdrill`. Raises `InputError`."""
    from narrows.testbed.tools.packetdrill import play

    return play.main(options.scripts)
