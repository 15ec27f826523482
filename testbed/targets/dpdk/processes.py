"""A real-time run in two processes: hosts in the worker's process, switches in its child.

Each cable between them is a pair of DPDK's shared-memory interfaces (`net_memif`). Their socket is
abstract, so nothing remains when a process ends or crashes. Both clocks start at the same instant
with the same rate.

The child is `python -m` this module. On standard input it reads the job as a line of JSON, then
`{"begin": [ns, rate]}`, then `{"end_ps": time}` when the hosts are done. On standard output it
writes `{"ready": true}` when its ports have links, and finally `{"summary": ...}`, or `refused` or
`failed` as a worker does. It stops when its standard input ends, since its parent has then ended.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from narrows.schema.units import PS_PER_S
from narrows.testbed import engine
from narrows.testbed.child_process import environment
from narrows.testbed.files import write_summary
from narrows.testbed.targets.base import Tell
from narrows.testbed.targets.switch_setup import set_up
from narrows.testbed.worker_messages import report_errors, say

if TYPE_CHECKING:
    from narrows.schema.plan import Plan
    from narrows.schema.summary import Progress, Summary

AHEAD_NS = 100_000_000
"""Time from the last process's readiness to the start; both must receive it by then."""
PATIENCE_S = 60.0
"""Time limit for the child's summary after the run."""
STANDINGS = ("own", "fifo", "ordinary")
"""How a loop may use its core, from best to worst (`dpdk/src/idle.rs`)."""
RING = "rsize=12,bsize=2048"
"""Packets per ring (a power of two) and bytes per packet."""

Meet = Callable[[int], tuple[int, int]]


def devices(plan: Plan) -> tuple[dict[str, str], dict[str, str]]:
    """The devices of the switches' wires, and of the hosts' and collectors', by name."""
    switches, hosts = dict[str, str](), dict[str, str]()
    for number, cable in enumerate(plan["cables"]):
        switch, port, far = cable["a"]["switch"], cable["a"]["port"], cable["b"]
        if "switch" in far:
            continue
        shared = f"id={number},socket=narrows-{os.getpid()},{RING}"
        switches[f"{switch} port {port}"] = f"net_memif{number},role=server,{shared}"
        name = f"collector at {switch}"
        if "group" in far:
            name = far["group"]
        hosts[name] = f"net_memif{number},role=client,{shared}"
    return switches, hosts


def run(plan: str, setup: str, out: Path, report: Tell) -> Summary:
    """Runs a plan, writes its tables to `out`, and returns the merged summary."""
    theirs = out / "switches"
    theirs.mkdir()
    of_switches, of_hosts = devices(json.loads(plan))
    child = Child({"plan": plan, "setup": setup, "devices": of_switches, "out": str(theirs)})

    def watched(progress: Progress) -> bool:
        child.check()
        return report(progress)

    try:
        hosts = engine.run_real_time(
            plan, str(out), setup, watched, devices=of_hosts, meet=child.meet()
        )
        switches = child.end(round(hosts["duration_s"] * PS_PER_S))
    finally:
        child.stop()
    for table in theirs.glob("*.parquet"):
        table.rename(out / table.name)
    shutil.rmtree(theirs)
    summary = combined(hosts, switches)
    write_summary(out, summary)
    return summary


class Child:
    """The parent's handle of the switches' process."""

    def __init__(self, job: Mapping[str, object]) -> None:
        self.errors = tempfile.TemporaryFile(mode="w+")  # noqa: SIM115 (see stop)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "narrows.testbed.targets.dpdk.processes"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
            env=environment(),
        )
        self.tell(job)

    def tell(self, message: Mapping[str, object]) -> None:
        """Writes a line to it. The next read detects a process that has ended."""
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps(message) + "\n")
            self.process.stdin.flush()

    def listen(self, key: str) -> Any:
        """Reads its next message. Raises `PlanError` or `RunError` if that is another."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        message = json.loads(line) if line else {}
        if key in message:
            return message[key]
        if "refused" in message:
            raise engine.PlanError(message["refused"])
        raise engine.RunError(message.get("failed") or self.ended())

    def ended(self) -> str:
        """Describes how it ended."""
        status = self.process.wait(PATIENCE_S)
        self.errors.seek(0)
        return f"the switches' process ended with status {status}: {self.errors.read().strip()}"

    def check(self) -> None:
        """Raises `RunError` if it has ended early."""
        if self.process.poll() not in (None, 0):
            raise engine.RunError(self.ended())

    def meet(self) -> Meet:
        """Starts both processes, with the given clock rate."""

        def begin(rate: int) -> tuple[int, int]:
            self.listen("ready")
            at_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW) + AHEAD_NS
            self.tell({"begin": [at_ns, rate]})
            return at_ns, rate

        return begin

    def end(self, end_ps: int) -> Summary:
        """Tells it when the hosts ended; returns its summary."""
        self.tell({"end_ps": end_ps})
        summary: Summary = self.listen("summary")
        return summary

    def stop(self) -> None:
        """Ends it if it still runs."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        try:
            self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.errors.close()


def combined(hosts: Summary, switches: Summary) -> Summary:
    """Merges the summaries of both processes."""
    halves = {"hosts": hosts, "switches": switches}
    reasons = [
        f"{name}: {half['invalid_reason']}"
        for name, half in halves.items()
        if half["invalid_reason"]
    ]
    both = [half["instrument"] for half in halves.values()]
    polls = [instrument["polls"] for instrument in both]
    ours = hosts.copy()
    if "bottleneck" in switches:
        ours["bottleneck"] = switches["bottleneck"]
    if "reverse" in switches:
        ours["reverse"] = switches["reverse"]
    if "switches" in switches:
        ours["switches"] = switches["switches"]
    return ours | {
        "valid": not reasons,
        "invalid_reason": "; ".join(reasons) or None,
        "engine": {
            "events": hosts["engine"]["events"] + switches["engine"]["events"],
            "packets": hosts["engine"]["packets"] + switches["engine"]["packets"],
        },
        "instrument": {
            "clock": hosts["instrument"]["clock"],
            "clock_error_ppm": max((one["clock_error_ppm"] for one in both), key=abs),
            "clock_steps_back": sum(one["clock_steps_back"] for one in both),
            "polls": {
                "core": max((one["core"] for one in polls), key=STANDINGS.index),
                "count": sum(one["count"] for one in polls),
                "gap_p99_us": max(one["gap_p99_us"] for one in polls),
                "gap_max_us": max(one["gap_max_us"] for one in polls),
            },
            "wires": [wire for instrument in both for wire in instrument["wires"]],
        },
    }


class Orders:
    """The parent's messages after the job, read on a separate thread."""

    def __init__(self) -> None:
        self.begin: queue.SimpleQueue[tuple[int, int] | None] = queue.SimpleQueue()
        """The start of the clock and its rate; None if the parent has ended."""
        self.verdict: bool | int = True
        """The answer to the engine's progress calls."""
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in sys.stdin:
            message = json.loads(line)
            if "begin" in message:
                at_ns, rate = message["begin"]
                self.begin.put((at_ns, rate))
            else:
                self.verdict = message["end_ps"]
                return
        self.verdict = False
        self.begin.put(None)


def main() -> int:
    """Runs the child."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    job = json.loads(sys.stdin.readline())
    orders = Orders()

    def meet(_: int) -> tuple[int, int]:
        say({"ready": True})
        begin = orders.begin.get()
        if begin is None:
            raise engine.Cancelled("the hosts' process has ended")
        return begin

    def verdict(_: Progress) -> bool | int:
        return orders.verdict

    with report_errors():
        switches = set_up(json.loads(job["plan"]))
        summary = engine.run_real_time(
            job["plan"],
            job["out"],
            job["setup"],
            verdict,
            switches,
            devices=job["devices"],
            meet=meet,
        )
        say({"summary": summary})
    return 0


if __name__ == "__main__":
    sys.exit(main())
