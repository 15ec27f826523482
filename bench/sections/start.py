"""The start-up time of `narrows run`, and the time to write and read results."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from bench.measure import cost
from bench.section import Json, Options, Section, fastest
from bench.sections.whole import ALL, DUMBBELL, RECORDS

READ = """
import sys
from pathlib import Path
from narrows.analysis.load import load
for run in load(Path(sys.argv[1])):
    for table in ("queue", "flows", "packets", "messages"):
        if run.has(table):
            run.table(table).collect()
"""


def measure(options: Options) -> Json:
    """Seconds from `narrows run` to the table of a run of 1 ms, and to read the tables of a run
    with everything recorded. The time to write them is that of the process beyond the engine's
    thread.
    """
    command = [sys.executable, "-m", "narrows", "run", str(DUMBBELL), "--no-figures"]
    with tempfile.TemporaryDirectory() as out:
        settings = ["--jobs", "1", "--out", out]
        start = fastest([*command, *settings, "--set", "duration=1ms"], options.rounds)
        fastest([*command, *settings, "--set", f"duration={options.duration}"], 1)
        read = fastest([sys.executable, "-c", READ, str(Path(out, DUMBBELL.stem))], options.rounds)
    everything = cost(DUMBBELL, {"duration": options.duration} | RECORDS[ALL], options.rounds)
    write = {"cpu_s": round(everything["process_s"] - everything["engine_s"], 3)}
    found = {"narrows run": start, "writing tables": write, "reading tables": read}
    print(f"\n{'seconds':32} {'wall':>9} {'cpu':>9}")
    for name, seconds in found.items():
        wall = f"{seconds['wall_s']:9.2f}" if "wall_s" in seconds else f"{'-':>9}"
        print(f"{name:32} {wall} {seconds['cpu_s']:9.2f}")
    return found


SECTION = Section(
    "start",
    measure,
    lambda found: {f"{name}, a second": 1 / spent["cpu_s"] for name, spent in found.items()},
)
