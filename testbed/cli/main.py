"""The `narrows` command.

Exit codes: 0 done, 1 a run failed or is invalid, 2 the input is wrong.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from narrows.testbed import catalogue
from narrows.testbed.cli import doctor, run
from narrows.testbed.cli import list as listing
from narrows.testbed.cli.exit_codes import DONE, FAILED, WRONG
from narrows.testbed.problems import InputError, Problem
from narrows.testbed.tools import calibrate, generate, pktgen
from narrows.testbed.tools import host as hostd
from narrows.testbed.tools.switch import daemon as switchd

EXPORTS = ("csv", "pcapng", "iperf3", "flent")
EXPORT_HELP = "csv; pcapng for Wireshark (a run with --set record.capture=true); iperf3; flent"


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == ["switch"]:
        # simple_switch_grpc has its gRPC options behind a --.
        given = [argument for argument in given if argument != "--"]
    options = parser().parse_args(given)
    command: Callable[[argparse.Namespace], int] = options.command
    try:
        return command(options)
    except InputError as error:
        for line in str(error).splitlines():
            print(f"narrows: {line}", file=sys.stderr)
        return WRONG
    except catalogue.EngineMissingError as error:
        print(f"narrows: {error}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        print("narrows: stopped; finished runs are intact", file=sys.stderr)
        return FAILED
    except BrokenPipeError:
        # The reader of our output is gone; nothing is left to say, not even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except OSError as error:
        # A full disk, or a place that may not be written to.
        place = f"{error.filename}: " if error.filename else ""
        print(f"narrows: {place}{error.strerror or error}", file=sys.stderr)
        return FAILED


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(
        prog="narrows", description="A programmable-switch testbed for TCP congestion control."
    )
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    run.add_command(commands)
    add_results(commands)
    add_parts(commands)
    listing.add_command(commands)
    switchd.add_command(commands)
    hostd.add_command(commands)
    calibrate.add_command(commands)
    pktgen.add_command(commands)
    generate.add_command(commands)

    doctor.add_command(commands)
    return top


def add_results(commands: Any) -> None:
    """The commands that make something of runs, and their options."""
    report = commands.add_parser("report", help="one HTML page of results")
    report.add_argument("results", type=Path, nargs="+", metavar="DIR", help="results/<scenario>")
    report.add_argument("--out", type=Path, metavar="FILE.html", help="(<first DIR>/report.html)")
    report.set_defaults(command=write_report)

    export = commands.add_parser("export", help="runs in the formats of other tools")
    export.add_argument("results", type=Path, nargs="+", metavar="DIR", help="results/<scenario>")
    export.add_argument("--format", required=True, choices=EXPORTS, help=EXPORT_HELP)
    export.add_argument("--out", type=Path, metavar="DIR", help="(<DIR>/export)")
    export.set_defaults(command=export_runs)

    paper = commands.add_parser("reproduce", help="a paper's numbers and claims beside ours")
    paper.add_argument("paper", help="its name (narrows list papers)")
    paper.add_argument("--quick", action="store_true", help="fewer points, seeds and seconds")
    paper.add_argument("--fresh", action="store_true", help="run again what is there already")
    paper.add_argument(
        "--out", type=Path, default=Path("results/reproduce"), help="(results/reproduce)"
    )
    paper.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="runs at a time (one per core)"
    )
    paper.set_defaults(command=reproduce_paper)


def add_parts(commands: Any) -> None:
    """The commands that use a part of the testbed alone, and their options."""
    stf = commands.add_parser("stf", help="run STF tests on the software switch, in virtual time")
    stf.add_argument("tests", type=Path, nargs="+", metavar="TEST.stf", help="the tests")
    stf.add_argument("--program", type=Path, required=True, metavar="P.json", help="bmv2 JSON")
    stf.add_argument("--p4info", type=Path, metavar="FILE.txtpb", help="checked against P.json")
    stf.set_defaults(command=run_stf)

    kernel = commands.add_parser(
        "kernel", help="run a program with our variants in the Linux kernel (eBPF)"
    )
    kernel.add_argument("variants", nargs="?", default="", metavar="VARIANT,…", help="by name")
    kernel.add_argument("program", nargs=argparse.REMAINDER, help="and its arguments")
    kernel.set_defaults(command=run_with_kernel)

    drill = commands.add_parser("packetdrill", help="play packetdrill scripts to our TCP")
    drill.add_argument("scripts", type=Path, nargs="+", metavar="SCRIPT.pkt", help="the scripts")
    drill.set_defaults(command=run_packetdrill)


def write_report(options: argparse.Namespace) -> int:
    """`narrows report`."""
    from narrows.analysis import report
    from narrows.analysis.load import LoadError

    out = options.out or options.results[0] / "report.html"
    try:
        report.write(options.results, out)
    except LoadError as error:
        raise InputError("report", [Problem("", str(error))]) from None
    print(out)
    return DONE


def export_runs(options: argparse.Namespace) -> int:
    """`narrows export`."""
    from narrows.analysis.export import ExportError, export
    from narrows.analysis.load import LoadError

    try:
        for path in export(options.results, options.format, options.out):
            print(path)
    except (LoadError, ExportError) as error:
        raise InputError("export", [Problem("", str(error))]) from None
    except OSError as error:
        print(f"narrows: export: {error}", file=sys.stderr)
        return FAILED
    return DONE


def reproduce_paper(options: argparse.Namespace) -> int:
    """`narrows reproduce`."""
    from narrows.testbed import papers as reproduce
    from narrows.testbed.cli.tables import claims_table
    from narrows.testbed.papers import execute
    from narrows.testbed.runs.progress import console

    papers = {paper.name: paper for paper in reproduce.PAPERS}
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


def run_with_kernel(options: argparse.Namespace) -> int:
    """`narrows kernel`."""
    from narrows.testbed.tools import kernel

    return kernel.main(options.variants.split(","), options.program)


def run_packetdrill(options: argparse.Namespace) -> int:
    """`narrows packetdrill`."""
    from narrows.testbed.tools.packetdrill import play

    return play.main(options.scripts)


def run_stf(options: argparse.Namespace) -> int:
    """`narrows stf`."""
    from narrows.testbed.tools import stf

    return stf.main(options.program, options.p4info, options.tests)
