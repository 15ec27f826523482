"""The live view of a run: its ports with a rate, its windows, and sliders.

A slider's change becomes an operation on the run's switch, as a controller's or an event's does. A
run that was changed by hand is not the scenario's: it is invalid.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from narrows.schema.units import PS_PER_S
from narrows.testbed import engine
from narrows.testbed.files import write_summary
from narrows.testbed.problems import InputError, Problem
from narrows.testbed.runs.jobs import Job, Outcome
from narrows.testbed.runs.run_directories import sweep_leftovers
from narrows.testbed.runs.scenario import Results, prepare, write_host, write_points
from narrows.testbed.runs.worker import store
from narrows.testbed.targets.base import Tell
from narrows.testbed.targets.linux.run import voided
from narrows.testbed.tools.live.feed import Change, ControlError, PortState, Snapshot
from narrows.testbed.tools.live.page import served

if TYPE_CHECKING:
    from narrows._engine import Sockets, Watch
    from narrows.schema.plan import Plan
    from narrows.schema.run import WatchedPort
    from narrows.schema.summary import Progress, Summary
    from narrows.testbed.runs.request import RunRequest

CHANGED: Final = "its ports were changed by hand (--live)"


class RunView:
    """A run's ports and windows for a page, and the page's changes for the run."""

    def __init__(self, watch: Watch, plan: Plan) -> None:
        self.watch = watch
        self.is_changed = False
        """Whether a page has changed the run."""
        self._bottleneck = plan["bottleneck"]
        self._ports: list[tuple[str, int]] = []
        """The page's numbers of the ports are their places here."""
        self._names = {one["flow"]["id"]: flow_name(one) for one in plan["flows"]}

    def snapshot(self) -> Snapshot | None:
        """The run now; None before it begins and after its end."""
        seen = self.watch.view()
        if seen is None:
            return None
        # The bottleneck comes first, as in the summary.
        ordered = sorted(seen["ports"], key=lambda one: not self._is_bottleneck(one))
        self._ports = [(one["switch"], one["port"]) for one in ordered]
        ports = [
            PortState(
                f"{one['switch']} port {one['port']}", number, one["rate_bps"], one["queue"],
                one["transmitted_bytes"], one["dropped"], one["marked"], one["waiting_packets"],
                one["waiting_bytes"],
            )
            for number, one in enumerate(ordered)
        ]  # fmt: skip
        windows = {
            self._names.get(flow, f"flow {flow}"): size
            for flow, size in seen["windows_bytes"].items()
        }
        return Snapshot(seen["time_ps"] / PS_PER_S, ports, windows)

    def _is_bottleneck(self, port: WatchedPort) -> bool:
        known = self._bottleneck
        return (port["switch"], port["port"]) == (known["switch"], known["port"])

    async def control(self, change: Change) -> None:
        """Makes a change. Raises `ControlError`."""
        await asyncio.to_thread(self.make, change)

    def make(self, change: Change) -> None:
        """Makes a change. Raises `ControlError`."""
        if change.port >= len(self._ports):
            raise ControlError(f"port {change.port}: no such port")
        switch, port = self._ports[change.port]
        try:
            if change.rate_bps is not None:
                self.watch.set_rate(switch, port, change.rate_bps)
            if change.queue_limit is not None:
                self.watch.set_queue_limit(switch, port, change.queue_limit)
        except (engine.PlanError, engine.RunError) as error:
            raise ControlError(str(error)) from None
        self.is_changed = True


def flow_name(flow: Mapping[str, object]) -> str:
    """A flow's name on the page."""
    config = flow["flow"]
    assert isinstance(config, dict)
    return f"flow {config['id']}, {flow['from']} to {flow['to']}"


def run(request: RunRequest, port: int, pace: float, tell: Callable[[str], None]) -> Results:
    """Runs a scenario's only run in this process, with a page. In virtual time it takes its time
    divided by `pace`. Raises `InputError`, or what the engine raises.
    """
    if not request.target.can_watch:
        what = "has no live view; expected --target sim or dpdk"
        raise InputError("--live", [Problem(request.target.name, what)])
    if not 0 < pace <= 1e6:
        raise InputError("--pace", [Problem(str(pace), "expected above 0, at most 1000000")])
    request.check()
    prepared = prepare(request)
    if len(prepared.jobs) != 1:
        what = f"has {len(prepared.jobs)} runs; expected one: choose a point with --set"
        raise InputError("--live", [Problem(str(request.scenario), what)])
    [job] = prepared.jobs
    results = job.final.parent
    write_points(results, [job.name])
    sweep_leftovers(results)
    began = time.monotonic()
    summary = carried_out(job, request, (port, pace), tell)
    reason = "" if summary["valid"] else f"invalid: {summary['invalid_reason']}"
    wall_s = time.monotonic() - began
    outcome = Outcome(job, "failed" if reason else "done", reason, summary, wall_s)
    write_host(results, [outcome])
    return Results(prepared.title, results, [outcome], prepared.figures)


def carried_out(
    job: Job, request: RunRequest, page: tuple[int, float], tell: Callable[[str], None]
) -> Summary:
    """Runs a job with a page at a TCP port and at a pace; stores its directory."""
    port, pace = page
    watch = engine.Watch(None if request.target.in_real_time else pace)
    view = RunView(watch, json.loads(job.plan))
    out = job.partial

    def switch_side(sockets: Sockets | None, progress: Tell) -> Summary:
        return request.target.run(job.plan, out, progress, job.settings, sockets, watch)

    try:
        out.mkdir(parents=True)
        with served(view.snapshot, view.control, port, tell):
            summary = request.hosts.run(job.plan, out, go_on, switch_side)
        if view.is_changed:
            summary = voided(summary, [CHANGED])
            write_summary(out, summary)
        store(job.record, summary, out, job.final)
    finally:
        shutil.rmtree(out, ignore_errors=True)
    return summary


def go_on(_: Progress) -> bool:
    """The run goes on; Ctrl-C ends it."""
    return True
