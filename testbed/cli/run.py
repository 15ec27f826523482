"""`narrows run`: runs a scenario, draws its figures, prints its table."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from narrows.schema.units import PS_PER_S
from narrows.testbed.cli.exit_codes import DONE, FAILED, WRONG
from narrows.testbed.cli.options import add_target_options, own_options, request_of
from narrows.testbed.problems import InputError, Problem
from narrows.testbed.shipped import scenario_path
from narrows.testbed.targets import HOSTS, TARGETS
from narrows.testbed.terminal import console, plain

if TYPE_CHECKING:
    from narrows.testbed.runs.request import RunRequest
    from narrows.testbed.runs.scenario import Results


def add_command(commands: Any) -> None:
    """The sub-command and its options."""
    command = commands.add_parser("run", help="run a scenario, draw its figures, print its table")
    add = command.add_argument
    target, hosts = next(iter(TARGETS)), next(iter(HOSTS))
    add("scenario", type=scenario_path, help="a TOML file, or a name (narrows list scenarios)")
    add(
        "--target",
        default=target,
        choices=TARGETS,
        help=f"the switch to run on (default: {target})",
    )
    add(
        "--hosts", default=hosts, choices=HOSTS, help=f"whose TCP the hosts have (default: {hosts})"
    )
    add("--set", action="append", default=[], metavar="KEY=VALUE", dest="overrides",
        help='set a key by its path, e.g. bottleneck.rate="10Mbps" or flow.count=3')  # fmt: skip
    add("--seed", type=int, help="the first seed; same as --set seed=N")
    add(
        "--out",
        type=Path,
        default=Path("results"),
        help="the directory for results (default: results)",
    )
    add(
        "--jobs",
        type=int,
        default=os.cpu_count() or 1,
        help="runs at a time, and then figures (default: one per core)",
    )
    add("--scheduler", metavar="ADDRESS",
        help="run on the workers of this Dask scheduler, e.g. tcp://10.0.0.1:8786")  # fmt: skip
    add("--live", type=int, nargs="?", const=0, metavar="PORT",
        help="a page for a browser on this machine, with queues, windows and sliders, at this TCP "
        "port (any free one); of a scenario with one run")  # fmt: skip
    add("--pace", type=float, default=1.0, metavar="FACTOR",
        help="with --live in virtual time: seconds of the run per second (default: 1)")  # fmt: skip
    add("--resume", action="store_true", help="keep finished runs whose inputs are the same")
    add("--no-figures", action="store_true", help="draw no figures")
    add("--dry-run", action="store_true", help="print what would run, and exit")
    add("--quiet", action="store_true", help="print errors only")
    add("--json", action="store_true", help="print the results as JSON instead of the table")
    add_target_options(command)
    command.set_defaults(command=run)


def run(options: argparse.Namespace) -> int:
    """`narrows run`. Raises `InputError`."""
    from narrows.testbed.runs import worker_process

    request = run_request(options)
    if options.dry_run:
        return preview(request, as_json=options.json)
    if options.live is not None:
        return show(live(request, options), request, options)
    request.check()
    # The first worker starts while the scenario is read.
    with worker_process.spare(request.target) as spare:
        from narrows.testbed.runs.scenario import run_scenario

        results = run_scenario(request, spare)
    return show(results, request, options)


def live(request: RunRequest, options: argparse.Namespace) -> Results:
    """Runs the scenario with a page. Raises `InputError`."""
    from narrows.testbed.tools.live.run import run as run_live

    if request.scheduler or request.resume:
        option = "--scheduler" if request.scheduler else "--resume"
        raise InputError("--live", [Problem("", f"expected no {option} with it")])

    def tell(address: str) -> None:
        print(f"live view at {address}", file=sys.stderr, flush=True)

    return run_live(request, options.live, options.pace, tell)


def preview(request: RunRequest, *, as_json: bool) -> int:
    """Prints the runs that would be done; returns the exit code. Raises `InputError`."""
    from narrows.testbed.runs.scenario import counted, prepare

    prepared = prepare(request)
    plans = [json.loads(job.plan) for job in prepared.jobs]
    points = {json.dumps({k: v for k, v in job.record["point"].items() if k != "seed"})
              for job in prepared.jobs}  # fmt: skip
    flows = sorted({len(plan["flows"]) for plan in plans})
    ends = " to ".join(dict.fromkeys(str(number) for number in (flows[0], flows[-1])))
    understood = prepared.described()
    if as_json:
        runs = [{"name": job.name, "directory": str(job.final)} for job in prepared.jobs]
        content = {"schema": 1, "title": prepared.title, "path": understood, "runs": runs}
        print(json.dumps(content, indent=1, ensure_ascii=False))
        return DONE
    lasts_s = sum(job.expected_ps for job in prepared.jobs) / PS_PER_S
    kind = "real time" if request.target.in_real_time else "simulated time"
    lines = [
        prepared.title,
        f"{counted(len(plans), 'run')} of {counted(len(points), 'point')}, {ends} flows each,"
        f" about {lasts_s:.0f} s of {kind}",
        f"target {request.target.name}, hosts {request.hosts.name}",
        *understood,
        f"results {prepared.jobs[0].final.parent}",
        f"figures {', '.join(prepared.figures) or 'none'}",
    ]
    print("\n".join(map(plain, lines)))
    return DONE


def run_request(options: argparse.Namespace) -> RunRequest:
    """The request given by the options. Raises `InputError`."""
    from narrows.testbed.runs.request import RunRequest, execution_of

    target, hosts = TARGETS[options.target], HOSTS[options.hosts]
    own = own_options(options, target)
    execution = execution_of(target, hosts, own, options.jobs, options.scheduler)
    return request_of(RunRequest, options, **vars(execution))


def show(results: Results, request: RunRequest, options: argparse.Namespace) -> int:
    """Prints the outcomes of the runs and draws their figures; returns the exit code."""
    outcomes, directory, good = results.outcomes, results.directory, results.good
    says = not (options.quiet or options.json)
    if options.json:
        from narrows.testbed.cli.results import results_json

        content = results_json(results.title, outcomes) | {"results": str(directory)}
        print(json.dumps(content, indent=1, ensure_ascii=False))
    elif says:
        from narrows.testbed.cli.results_table import results_table

        screen = console()
        screen.print(results_table(results.title, outcomes, screen))
        print(f"results: {directory}")
    for outcome in outcomes:
        if outcome.state in ("refused", "failed"):
            where = f"{request.scenario}: {outcome.job.name}"
            print(plain(f"narrows: {where}: {outcome.message}"), file=sys.stderr)
    if says and (others := results.others):
        count = len(others)
        what = f"{count} run{'s' * (count > 1)} of other points, which the figures leave out"
        print(f"note: {directory} has {what}")
    results.write_rows()
    if good and results.figures and not options.no_figures:
        for line in draw(results, options.jobs):
            if says:
                print(line)
    if any(outcome.state == "refused" for outcome in outcomes):
        return WRONG
    return DONE if len(good) == len(outcomes) else FAILED


def draw(results: Results, at_once: int) -> list[str]:
    """Draws the scenario's figures in so many processes; returns notes about them."""
    from narrows.analysis.figures import not_drawn
    from narrows.testbed.runs import figure_processes

    drawn = figure_processes.draw(results.directory, results.figures, at_once)
    stems = {path.stem for path in drawn}
    missing = not_drawn(results.directory, [n for n in results.figures if n not in stems])
    files = f"figures: {results.directory / 'figures'} ({len(drawn)} files)"
    return [files, *(f"note: {line}" for line in missing)]
