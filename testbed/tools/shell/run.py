"""A run of `narrows shell`: both ends, the engine between them, the program, the run directory."""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from narrows.testbed import engine
from narrows.testbed.files import make_directory, write_summary
from narrows.testbed.problems import InputError, Problem
from narrows.testbed.runs.jobs import Job, Outcome, make_job
from narrows.testbed.runs.run_directories import sweep_leftovers
from narrows.testbed.runs.scenario import Results, write_host, write_points
from narrows.testbed.runs.worker import store
from narrows.testbed.scenario.sweep import Point
from narrows.testbed.targets.dpdk import DPDK
from narrows.testbed.targets.linux import LINUX
from narrows.testbed.targets.linux.namespaces import PlumbingError
from narrows.testbed.targets.linux.run import voided
from narrows.testbed.tools.live.page import served
from narrows.testbed.tools.live.run import CHANGED, RunView
from narrows.testbed.tools.shell import network, processes, rootless
from narrows.testbed.tools.shell.asker import Asker
from narrows.testbed.tools.shell.connections import Connections
from narrows.testbed.tools.shell.engine import Engine
from narrows.testbed.tools.shell.options import FIGURES, LINK, Direction, ShellOptions
from narrows.testbed.tools.switch import privileges

if TYPE_CHECKING:
    from narrows.schema.plan import Plan
    from narrows.schema.summary import BottleneckSummary, Summary

RUN: Final = "run"
"""The name of the run's directory."""
SETTLE_S: Final = 0.1
"""Between the program's end and the run's, for the last packets."""
SERVER_LOG: Final = "server.txt"
"""What the server wrote; in the run directory."""


class ShellError(Exception):
    """The path between program and far side could not be made, or failed."""


@dataclass(frozen=True)
class Ended:
    """A program that has ended."""

    code: int
    """Its exit code."""
    results: Results
    note: str
    """What the run lacks; empty if nothing."""


def run(options: ShellOptions, environment: Mapping[str, str]) -> Ended:
    """Runs the program behind the bottleneck, in this environment. Raises `InputError`,
    `ShellError`, or `KeyboardInterrupt` if the shell was ended before the program began.
    """
    options.check()
    rootless.enter_if_needed(options)
    if lacking := DPDK.missing() + LINUX.missing():
        raise InputError("narrows shell", [Problem("", what) for what in lacking])
    jobs: dict[Direction, Job] = {"down": job_of(options, "down"), "up": job_of(options, "up")}
    partial, final = jobs["down"].partial, jobs["down"].final
    asker = Asker.find(options.user)
    new = [path for path in (final.parent, *final.parent.parents) if not path.exists()]
    make_directory(final.parent)
    asker.own(*new)
    sweep_leftovers(final.parent)
    asker.check(final.parent)
    processes.hold_signals()
    began = time.monotonic()
    try:
        partial.mkdir()
        code, summary, connections = behind_the_bottleneck(
            options, jobs["down"], partial, environment, asker
        )
        # Its threads take no signal, so they would keep privileges if they began earlier.
        from narrows.testbed.tools.shell import flows

        direction, summary = busier(summary)
        senders = connections.of_side(LINK[direction][0])
        flows.write(senders, partial)
        summary = flows.described(summary, senders)
        write_summary(partial, summary)
        store(jobs[direction].record, summary, partial, final)
    except processes.ServerError as error:
        raise InputError("--server", [Problem(str(options.server), str(error))]) from None
    except (PlumbingError, engine.RunError, engine.DeviceError, engine.PlanError) as error:
        raise ShellError(str(error)) from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    write_points(final.parent, [RUN])
    reason = "" if summary["valid"] else f"invalid: {summary['invalid_reason']}"
    wall_s = time.monotonic() - began
    outcome = Outcome(jobs[direction], "failed" if reason else "done", reason, summary, wall_s)
    write_host(final.parent, [outcome])
    results = Results(options.title, final.parent, [outcome], list(FIGURES))
    return Ended(code, results, connections.problem)


def job_of(options: ShellOptions, direction: Direction) -> Job:
    """The run whose data goes in this direction. Raises `InputError`."""
    scenario, source = options.scenario(direction), Path("narrows shell")
    settings = DPDK.settings(LINUX, {"processes": False})
    DPDK.check(scenario, str(source), settings)
    final = options.out / options.name / RUN
    job = make_job(Point(RUN, {}, scenario), source, final, DPDK, LINUX, settings)
    # The flow that the scenario needs is not sent.
    job.record["scenario"]["flow"] = []
    job.record["segment_bytes"] = []
    return job


def behind_the_bottleneck(
    options: ShellOptions, job: Job, out: Path, environment: Mapping[str, str], asker: Asker
) -> tuple[int, Summary, Connections]:
    """Makes the path, gives up what this took, runs the program, and removes the path. Returns the
    program's exit code, the run's summary, and its connections; the tables are in `out`.
    """
    plan: Plan = json.loads(job.plan)
    with ExitStack() as stack:
        ends = stack.enter_context(network.made(plan, options, out))
        tell = ends.guard.signal
        if options.server is not None:
            assert ends.far is not None
            log = stack.enter_context((out / SERVER_LOG).open("wb"))
            command = asker.command(options.server_command)
            server = processes.Server(command, ends.far, log, tell)
            stack.callback(server.stop)
            server.wait_until_ready()
        connections = stack.enter_context(Connections(ends.sides))
        view = None if options.live is None else RunView(engine.Watch(), ends.plan)
        inside = ends.inside(environment, asker)
        pid = processes.start(ends.command(options.program, asker), inside)
        privileges.gain_no_more()
        path = stack.enter_context(Engine(ends, out, job, view.watch if view else None))
        connections.begin(path.wait_until_ready())
        if view is not None:
            page = served(view.snapshot, view.control, options.live or 0, say_address)
            stack.enter_context(page)
        asker.own(out, *out.iterdir())
        asker.become()
        code = processes.wait(pid, path.check, tell)
        time.sleep(SETTLE_S)
        connections.end()
        summary = path.end()
        excesses = ends.guard.excesses(ends.namespaces)
        if view is not None and view.is_changed:
            excesses.append(CHANGED)
        return code, voided(summary, excesses), connections


def say_address(address: str) -> None:
    """Says where the page is, beside the program's output."""
    print(f"narrows shell: live view at {address}", file=sys.stderr, flush=True)


def busier(summary: Summary) -> tuple[Direction, Summary]:
    """The direction that sent more, and the summary that describes it; of a run whose data goes
    down.
    """
    down, up = summary["bottleneck"], summary["reverse"]
    if sent_bits(down) >= sent_bits(up):
        return "down", summary
    return "up", summary | {"bottleneck": up, "reverse": down}


def sent_bits(port: BottleneckSummary) -> float:
    """What a port sent per second."""
    return (port["utilization"] or 0.0) * (port["rate_bps"] or 0)
