"""`narrows report`: writes one HTML page of results."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from narrows.testbed.cli.exit_codes import DONE
from narrows.testbed.problems import InputError, Problem


def add_command(commands: Any) -> None:
    """The sub-command and its options."""
    command = commands.add_parser("report", help="write one HTML page of results")
    add = command.add_argument
    add(
        "results",
        type=Path,
        nargs="+",
        metavar="DIR",
        help="a directory of runs: results/<scenario>",
    )
    add(
        "--out",
        type=Path,
        metavar="FILE.html",
        help="the page to write (default: <first DIR>/report.html)",
    )
    command.set_defaults(command=run)


def run(options: argparse.Namespace) -> int:
    """`narrows report`. Raises `InputError`."""
    from narrows.analysis import report
    from narrows.analysis.load import LoadError

    out = options.out or options.results[0] / "report.html"
    try:
        report.write(options.results, out)
    except LoadError as error:
        raise InputError("report", [Problem("", str(error))]) from None
    print(out)
    return DONE
