"""`narrows artifact`: bundles results so that others can run them again."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from narrows.testbed.cli.exit_codes import DONE
from narrows.testbed.problems import InputError, Problem


def add_command(commands: Any) -> None:
    """The sub-command and its options."""
    command = commands.add_parser("artifact", help="bundle results for others to run again")
    add = command.add_argument
    add("results", type=Path, metavar="DIR", help="results/<scenario>, or a single run")
    add("--out", type=Path, metavar="FILE", help="the bundle (default: <DIR>.narrows.zip)")
    add("--directory", type=Path, default=Path(), metavar="DIR",
        help="where the scenario's own program and traces are (default: .)")  # fmt: skip
    add("--tables", action="store_true", help="also bundle the runs' tables")
    command.set_defaults(command=run)


def run(options: argparse.Namespace) -> int:
    """`narrows artifact`. Raises `InputError`."""
    from narrows.analysis.load import LoadError
    from narrows.testbed.tools.artifact import bundle

    try:
        made = bundle.make(options.results, options.out, options.directory, tables=options.tables)
    except LoadError as error:
        raise InputError("artifact", [Problem("", str(error))]) from None
    print(made)
    return DONE
