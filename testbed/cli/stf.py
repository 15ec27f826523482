"""`narrows stf`: runs STF tests on the software switch, in virtual time."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any


def add_command(commands: Any) -> None:
    """The sub-command and its options."""
    command = commands.add_parser(
        "stf", help="run STF tests on the software switch, in virtual time"
    )
    add = command.add_argument
    add("tests", type=Path, nargs="+", metavar="TEST.stf", help="the STF tests to run")
    add(
        "--program",
        type=Path,
        required=True,
        metavar="P.json",
        help="the program, as p4c-bm2-ss compiled it",
    )
    add("--p4info", type=Path, metavar="FILE.txtpb", help="P4Info to check the program against")
    command.set_defaults(command=run)


def run(options: argparse.Namespace) -> int:
    """`narrows stf`. Raises `InputError`."""
    from narrows.testbed.tools import stf

    return stf.main(options.program, options.p4info, options.tests)
