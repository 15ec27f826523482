"""The `narrows` command.

Exit codes: 0 done, 1 a run failed or is invalid, 2 the input is wrong.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from narrows.testbed import catalogue
from narrows.testbed.cli import list as listing
from narrows.testbed.problems import InputError, Problem
from narrows.testbed.targets.dpdk import setup as dpdk
from narrows.testbed.tools import calibrate, generate, pktgen
from narrows.testbed.tools import host as hostd
from narrows.testbed.tools.switch import daemon as switchd

if TYPE_CHECKING:
    from narrows.testbed.runs.process import Spare

DONE, FAILED, WRONG = 0, 1, 2

HOSTS = {
    "narrows": "our TCP",
    "linux": "the Linux kernel's TCP, each host a network namespace; in real time only",
    "iperf3": "the same, bulk flows by iperf3",
}
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
    add_run(commands)
    add_results(commands)
    add_parts(commands)
    listing.add_command(commands)
    switchd.add_command(commands)
    hostd.add_command(commands)
    calibrate.add_command(commands)
    pktgen.add_command(commands)
    generate.add_command(commands)

    doctor = commands.add_parser("doctor", help="what this machine can run, and what mends it")
    doctor.add_argument("--target", choices=["tofino"], help="what a lab lacks for it; with --lab")
    doctor.add_argument("--lab", type=Path, metavar="FILE", help="lab.toml (docs/hardware.md)")
    doctor.set_defaults(command=examine)
    return top


def add_run(commands: Any) -> None:
    """`narrows run` and its options."""
    run = commands.add_parser("run", help="run a scenario, draw its figures, print its table")
    run.add_argument("scenario", type=Path, help="a TOML file (narrows list scenarios)")
    run.add_argument(
        "--target", default="sim", choices=listing.TARGETS, help="what it runs on (sim)"
    )
    run.add_argument("--hosts", default="narrows", choices=HOSTS, help="whose TCP (narrows)")
    run.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", dest="settings",
        help='sets a key by its path, e.g. bottleneck.rate="10Mbps" or flow.count=3',
    )  # fmt: skip
    run.add_argument("--seed", type=int, help="the first seed; same as --set seed=N")
    run.add_argument("--out", type=Path, default=Path("results"), help="where results go (results)")
    run.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="runs at a time (one per core)"
    )
    run.add_argument(
        "--scheduler", metavar="ADDRESS",
        help="run on the workers of this Dask scheduler, e.g. tcp://10.0.0.1:8786",
    )  # fmt: skip
    run.add_argument(
        "--processes", action=argparse.BooleanOptionalAction,
        help="with --target dpdk: switches and hosts in a process each, joined by shared memory "
        "(where three cores or more are there)",
    )  # fmt: skip
    run.add_argument("--resume", action="store_true", help="keep finished runs that are the same")
    run.add_argument(
        "--lab", type=Path, metavar="FILE",
        help="with --target tofino: lab.toml, its switch, ports and cards (docs/hardware.md)",
    )  # fmt: skip
    run.add_argument("--no-figures", action="store_true", help="draw none")
    run.set_defaults(command=run_scenario)


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


def run_scenario(options: argparse.Namespace) -> int:
    """`narrows run`."""
    from narrows.testbed.runs import process

    check_lab(options)
    if options.target == "tofino":
        lab_file(options)
        if options.hosts != "narrows":
            raise InputError("--hosts", [Problem(options.hosts, "have no cards; narrows' have")])
    if options.target == "bmv2":
        from narrows.testbed.targets.bmv2.switch import missing

        if lacking := missing():
            raise InputError("--target", [Problem("bmv2", "; ".join(lacking))])
    if options.target != "sim":
        # Two runs at a time would be late by each other.
        options.jobs = 1
    if options.hosts != "narrows" and options.target == "sim":
        raise InputError("--hosts", [Problem(options.hosts, "is in real time: --target dpdk")])
    may_part = (options.target, options.hosts) == ("dpdk", "narrows")
    if options.processes is None:
        options.processes = may_part and dpdk.cores() > 2
    if options.processes and not may_part:
        problem = Problem(
            f"{options.target}, {options.hosts}", "only our hosts on dpdk can have one"
        )
        raise InputError("--processes", [problem])
    if options.jobs < 1:
        raise InputError("--jobs", [Problem(str(options.jobs), "expected at least 1")])
    if options.scheduler and options.target != "sim":
        problem = Problem(options.target, "needs ports of this machine; sim does not")
        raise InputError("--scheduler", [problem])
    # The first worker starts up while the scenario is read.
    with process.spare() as spare:
        return run_points(options, spare)


def run_points(options: argparse.Namespace, spare: Spare) -> int:
    """Runs the scenario's points and shows what came of them."""
    from narrows.testbed.cli import terminal as show
    from narrows.testbed.runs import jobs as runs
    from narrows.testbed.scenario import sweep as points

    real_time = None
    if options.target != "sim":
        bench = options.lab if options.target == "tofino" else None
        real_time = dpdk.RealTime(dpdk.setup(), options.processes, lab=bench)
    settings = [points.parse_setting(text) for text in options.settings]
    if options.seed is not None:
        settings.append(("seed", options.seed))
    source: Path = options.scenario
    read = points.read(source, settings)
    figures = check_figures(str(source), read[0].scenario.report.figures)
    todo = runs.jobs(source, read, options.out, options.target, options.hosts, real_time)
    title = read[0].scenario.title
    results = options.out / source.stem
    with show.Shown(len(todo)) as shown:
        if options.scheduler:
            from narrows.testbed.runs import cluster

            shown.line(f"{title}: {len(todo)} runs on {options.scheduler}")
            outcomes = cluster.run_all(options.scheduler, todo, options.resume, shown)
        else:
            shown.line(f"{title}: {len(todo)} runs, {min(options.jobs, len(todo))} at a time")
            outcomes = runs.run_all(todo, options.jobs, options.resume, shown, spare)
    write_host(results, outcomes)
    show.console().print(show.results_table(title, outcomes))
    print(f"results: {results}")
    good = [outcome for outcome in outcomes if outcome.state in ("done", "reused")]
    code = DONE if len(good) == len(outcomes) else FAILED
    if any(outcome.state == "refused" for outcome in outcomes):
        code = WRONG
    for outcome in outcomes:
        if outcome not in good:
            print(f"narrows: {source}: {outcome.job.name}: {outcome.message}", file=sys.stderr)
    names = {outcome.job.name for outcome in outcomes}
    others = [
        path.parent for path in results.glob("[!.]*/run.json") if path.parent.name not in names
    ]
    if others:
        print(f"note: {results} has {len(others)} runs of other points, which the figures show too")
    if good and figures and not options.no_figures:
        from narrows.analysis.figures import draw

        drawn = draw(results, figures)
        print(f"figures: {results / 'figures'} ({len(drawn)} files)")
    return code


def check_figures(source: str, names: list[str]) -> list[str]:
    """The scenario's figures. Raises `InputError` for one that does not exist."""
    if not names:
        return names
    from narrows.analysis.figures import FIGURES

    known = [figure.name for figure in FIGURES]
    problems = [
        Problem(f"report.figures.{index}", catalogue.unknown("figure", name, known), name)
        for index, name in enumerate(names)
        if name not in known
    ]
    if problems:
        raise InputError(source, problems)
    return names


def write_host(results: Path, outcomes: Sequence[Any]) -> None:
    """`host.json`: the machine, and what each run took of its wall clock."""
    from narrows.testbed.files import write_json

    partial = results / ".host.json.partial"
    write_json(
        partial,
        {
            "schema": 1,
            "platform": platform.platform(),
            "machine": platform.machine(),
            "cores": os.cpu_count(),
            "python": platform.python_version(),
            "wall_s": {o.job.name: round(o.wall_s, 3) for o in outcomes if o.state == "done"},
        },
    )
    partial.rename(results / "host.json")


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
    from narrows.testbed.cli import terminal as show
    from narrows.testbed.papers import execute

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
    show.console().print(show.claims_table(paper.title, done.content["claims"]))
    print(f"report: {done.report}")
    for outcome in done.failed:
        where = f"{outcome.job.final.parent.name}: {outcome.job.name}"
        print(f"narrows: {where}: {outcome.message}", file=sys.stderr)
    return FAILED if done.failed else DONE


def run_with_kernel(options: argparse.Namespace) -> int:
    """`narrows kernel`."""
    from narrows.testbed.targets.linux import command

    return command.main(options.variants.split(","), options.program)


def run_packetdrill(options: argparse.Namespace) -> int:
    """`narrows packetdrill`."""
    from narrows.testbed.tools.packetdrill import play

    return play.main(options.scripts)


def run_stf(options: argparse.Namespace) -> int:
    """`narrows stf`."""
    from narrows.testbed.tools import stf

    return stf.main(options.program, options.p4info, options.tests)


def examine(options: argparse.Namespace) -> int:
    """`narrows doctor`."""
    from narrows.testbed.tools import doctor

    check_lab(options)
    if options.target is None:
        return doctor.main()
    from narrows.testbed.targets.tofino import doctor as labdoctor
    from narrows.testbed.targets.tofino import lab

    return labdoctor.main(lab.read(lab_file(options)), options.lab)


def check_lab(options: argparse.Namespace) -> None:
    """Raises `InputError` for a `--lab` that nothing would read."""
    if options.lab is not None and options.target != "tofino":
        raise InputError("--lab", [Problem(str(options.lab), "expected --target tofino with it")])


def lab_file(options: argparse.Namespace) -> Path:
    """`--lab`. Raises `InputError` without."""
    if options.lab is None:
        what = "needs --lab FILE: which switch, ports and cards (docs/hardware.md)"
        raise InputError("--target", [Problem(options.target, what)])
    path: Path = options.lab
    return path
