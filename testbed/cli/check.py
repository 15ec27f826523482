"""`narrows check`: checks that results are as their runs wrote them."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from narrows.testbed.cli.exit_codes import DONE, FAILED
from narrows.testbed.problems import InputError, Problem


def add_command(commands: Any) -> None:
    """The sub-command and its options."""
    command = commands.add_parser("check", help="check that results are as their runs wrote them")
    add = command.add_argument
    add("results", type=Path, nargs="+", metavar="DIR",
        help="a run, results/<scenario>, or a directory that holds these")  # fmt: skip
    command.set_defaults(command=run)


def run(options: argparse.Namespace) -> int:
    """`narrows check`. Raises `InputError`."""
    from narrows.analysis.load import LoadError, load_run

    paths = [path for results in options.results for path in runs_in(results)]
    damaged = 0
    for path in paths:
        try:
            found = load_run(path)
        except LoadError as error:
            damaged += 1
            print(f"{error}")
            continue
        if "files" not in found.record:
            damaged += 1
            print(f"{path}: no checksums; an earlier version wrote it: run it again")
    print(f"{len(paths)} runs: {len(paths) - damaged} sound, {damaged} not")
    return FAILED if damaged else DONE


def runs_in(directory: Path) -> list[Path]:
    """The run directories in a directory, at any depth. Raises `InputError`."""
    if not directory.is_dir():
        raise InputError("check", [Problem(str(directory), "no such directory")])
    records = [directory / "run.json"] if (directory / "run.json").exists() else []
    records += directory.rglob("run.json")
    unfinished = [path for path in records if path.parent.name.startswith(".")]
    found = sorted({path.parent for path in records} - {path.parent for path in unfinished})
    if not found:
        raise InputError("check", [Problem(str(directory), "holds no finished run")])
    return found
