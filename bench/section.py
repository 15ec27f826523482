"""A section of `make bench`: one file, and one line in `bench.run.SECTIONS`."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]

Json = dict[str, Any]


@dataclass(frozen=True)
class Options:
    """The thoroughness of a measurement."""

    rounds: int
    """Number of rounds, of which the fastest counts."""
    duration: str
    """Simulated time of most runs."""


@dataclass(frozen=True)
class Section:
    """A section of the results."""

    name: str
    """Its key in `bench/results.json`."""
    measure: Callable[[Options], Json]
    """Measures; prints a line per figure and returns the figures."""
    rates: Callable[[Json], Mapping[str, float]]
    """The figures that the check compares; higher is better for each."""


def output(command: list[str], environment: Mapping[str, str] | None = None) -> str:
    """A command's output. Raises `RuntimeError` with its error text if it failed."""
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()[-2000:]}")
    return done.stdout


def fastest(command: list[str], rounds: int) -> dict[str, float]:
    """Wall-clock and CPU seconds of a command, the minimum of several rounds."""
    wall_s = cpu_s = float("inf")
    # Bytecode is written as after an installation, whatever the environment sets.
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    for _ in range(rounds):
        before, began = os.times(), time.perf_counter()
        subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=True)
        wall_s, after = min(wall_s, time.perf_counter() - began), os.times()
        spent = after.children_user + after.children_system
        cpu_s = min(cpu_s, spent - before.children_user - before.children_system)
    return {"wall_s": round(wall_s, 3), "cpu_s": round(cpu_s, 3)}
