"""Has ns-3 run every case and records it.

`python -m tests.validation.disciplines.record_ns3 [ROW...]` writes `ns3_dumbbell.json`, a line a
run. With rows' names, only those are recorded again.
"""

from __future__ import annotations

import concurrent.futures
import functools
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.validation.disciplines import against_ns3
from tests.validation.disciplines.against_ns3 import CASES, RECORDED, RUNS, SECONDS, Case, starts_s

PROGRAM = Path(__file__).with_name("ns3_dumbbell.cc")
LIBRARIES = ("core", "network", "internet", "applications", "point-to-point", "traffic-control")
WORKERS = 2


def build(program: Path) -> None:
    """Compiles the program (Debian: `libns3-dev`)."""
    libraries = [f"-lns3-{name}" for name in LIBRARIES]
    command = ["g++", "-std=c++17", "-O2", str(PROGRAM), *libraries, "-o", str(program)]
    subprocess.run(command, check=True)


def version() -> str:
    """The installed version of ns-3."""
    command = ["pkg-config", "--modversion", "ns3-core"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def run(program: Path, case: Case, number: int) -> dict[str, Any]:
    """What ns-3 prints of a run."""
    command = [
        str(program), f"--discipline={case.discipline}", f"--ecn={int(case.ecn)}",
        f"--starts={','.join(map(str, starts_s(number)))}",
        f"--extra_ms={','.join(map(str, case.extra_ms))}",
        f"--seconds={SECONDS}", f"--run={number + 1}",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    printed: dict[str, Any] = json.loads(done.stdout)
    return printed


def write(runs: dict[str, list[dict[str, Any]]]) -> None:
    """The recording, in the cases' order."""
    rows = [
        f"{json.dumps(row)}: [\n" + ",\n".join(map(json.dumps, runs[row])) + "\n]"
        for row in CASES
        if row in runs
    ]
    head = f'"ns-3": {json.dumps(version())}, "seconds": {SECONDS}'
    body = ",\n".join(rows)
    RECORDED.write_text(f'{{{head}, "runs": {{\n{body}\n}}}}\n', encoding="utf-8")


def main(only: list[str]) -> None:
    """Records every case, or some."""
    runs = against_ns3.recording()["runs"] if RECORDED.exists() else {}
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "ns3_dumbbell"
        build(program)
        for row in only or CASES:
            print(row, file=sys.stderr)
            with concurrent.futures.ThreadPoolExecutor(WORKERS) as workers:
                of_number = functools.partial(run, program, CASES[row])
                runs[row] = list(workers.map(of_number, range(RUNS)))
            write(runs)


if __name__ == "__main__":
    main(sys.argv[1:])
