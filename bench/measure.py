"""Measures one run in its own process: `python -m bench.measure SCENARIO SETTINGS [CORES]`.

The result is the CPU time of the engine's thread (`engine_s`). Other load on the machine hardly
changes it, and on an idle machine it equals the wall-clock time. Another thread writes the tables;
`process_s` includes its time.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.section import output
from narrows.testbed.child_process import environment

#: No table is written.
NO_TABLES = {"record.queue": False, "record.flows": "off", "record.messages": False}


def cost(scenario: Path, settings: dict[str, Any], rounds: int = 1) -> dict[str, Any]:
    """The cheapest of several runs of a scenario's only point. Raises `RuntimeError`."""
    runs = [once(scenario, settings) for _ in range(rounds)]
    return min(runs, key=lambda run: float(run["engine_s"]))


def once(scenario: Path, settings: dict[str, Any]) -> dict[str, Any]:
    """A run in a process like those of `narrows run`."""
    command = [sys.executable, "-m", "bench.measure", str(scenario), json.dumps(settings)]
    found: dict[str, Any] = json.loads(output(command, environment()))
    return found


def memory_kib(field: str) -> int:
    """This process's memory by Linux's count:

    `VmRSS` is the resident size, `VmHWM` its maximum. The maximum of getrusage also covers the
    process that started this one.
    """
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{field}:"))


def main() -> int:
    """Runs, and prints the cost as one JSON object."""
    from narrows.testbed import engine
    from narrows.testbed.scenario import plan, sweep

    scenario, settings = Path(sys.argv[1]), json.loads(sys.argv[2])
    cores = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    (point,) = sweep.read(scenario, list(settings.items()))
    text = json.dumps(plan.make_plan(point.scenario, str(scenario)))
    before_kib = memory_kib("VmRSS")
    # This resets the high-water mark to the resident size.
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    with tempfile.TemporaryDirectory() as out:
        wall, process, thread = time.perf_counter(), time.process_time(), time.thread_time()
        summary = engine.run(text, out, None, threads=cores)
        wall_s = time.perf_counter() - wall
        process_s, engine_s = time.process_time() - process, time.thread_time() - thread
        written = sum(file.stat().st_size for file in os.scandir(out))
    peak_kib = memory_kib("VmHWM")
    packets = summary["bottleneck"]["dequeued"]
    print(
        json.dumps(
            {
                "packets": packets,
                "events": summary["engine"]["events"],
                "simulated_s": summary["duration_s"],
                "utilization": summary["bottleneck"]["utilization"],
                "wall_s": round(wall_s, 4),
                "process_s": round(process_s, 4),
                "engine_s": round(engine_s, 4),
                "packets_per_s": round(packets / engine_s),
                "events_per_s": round(summary["engine"]["events"] / engine_s),
                "memory_mb": round((peak_kib - before_kib) * 1024 / 1e6, 1),
                "written_mb": round(written / 1e6, 1),
            }
        )
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
