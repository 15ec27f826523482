"""`narrows reproduce`: compares a paper's numbers and claims with ours."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from narrows.testbed import catalogue
from narrows.testbed.cli.exit_codes import DONE, FAILED
from narrows.testbed.problems import InputError, Problem


def add_command(commands: Any) -> None:
    """The sub-command and its options."""
    command = commands.add_parser(
        "reproduce", help="run a paper's experiments and compare its numbers with ours"
    )
    add = command.add_argument
    add("paper", help="the paper's name (narrows list papers)")
    add("--quick", action="store_true", help="run fewer points, seeds and seconds")
    add("--fresh", action="store_true", help="repeat runs that are already finished")
    add(
        "--out",
        type=Path,
        default=Path("results/reproduce"),
        help="the directory for results (default: results/reproduce)",
    )
    add(
        "--jobs",
        type=int,
        default=os.cpu_count() or 1,
        help="runs at a time (default: one per core)",
    )
    command.set_defaults(command=run)


def run(options: argparse.Namespace) -> int:
    """`narrows reproduce`. Raises `InputError`."""
    from narrows.testbed.cli.tables import claims_table
    from narrows.testbed.papers import PAPERS, execute
    from narrows.testbed.terminal import console

    papers = {paper.name: paper for paper in PAPERS}
    if options.paper not in papers:
        what = catalogue.unknown("paper", options.paper, papers)
        raise InputError("reproduce", [Problem("PAPER", what, options.paper)])
    if options.jobs < 1:
        raise InputError("--jobs", [Problem(str(options.jobs), "expected at least 1")])
    paper = papers[options.paper]
    if options.fresh:
        execute.forget(options.out, paper)
    done = execute.reproduce(paper, options.out, options.jobs, quick=options.quick)
    console().print(claims_table(paper.title, done.content["claims"]))
    print(f"report: {done.report}")
    for outcome in done.failed:
        where = f"{outcome.job.final.parent.name}: {outcome.job.name}"
        print(f"narrows: {where}: {outcome.message}", file=sys.stderr)
    return FAILED if done.failed else DONE
