"""CoDel's control law in RTL, an integer root and division, against doubles."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

from narrows.testbed.targets.rtl.library import (
    cached,
    compile_model,
    missing,
    rtl_sources,
    verilate,
)
from tests.support import needs
from tests.support.world import ROOT

pytestmark = needs.without(missing())

BENCH = ROOT / "tests/fpga/bench/codel_law.cpp"


@cache
def bench(steps: int) -> Path:
    """A program that drives the module with so many digits in a cycle."""

    def build(directory: Path) -> Path:
        verilate("codel_law", rtl_sources(), directory, f"-GSTEPS={steps}")
        return compile_model([BENCH], [], directory / "codel_law")

    return cached(f"codel-law-{steps}", "", [*rtl_sources(), BENCH], build)


def agreeing(steps: int, *arguments: str) -> tuple[int, int, int]:
    """How many pairs agree, how many of them were rounded up, and the most cycles of one."""
    done = subprocess.run([bench(steps), *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    found = re.fullmatch(r"(\d+) agree, (\d+) rounded up, at most (\d+) cycles\n", done.stdout)
    assert found, done.stdout
    pairs, rounded, cycles = map(int, found.groups())
    return pairs, rounded, cycles


@pytest.mark.parametrize("interval", ["1000", "99999999999", "100000000000", "100000000000000"])
def test_every_count_has_the_doubles_time(interval: str) -> None:
    pairs, _, _ = agreeing(17, "every", interval, "1", "100000")
    assert pairs == 100_000


def test_the_last_counts_have_the_doubles_time() -> None:
    agreeing(17, "every", "100000000000000", str(2**32 - 1000), str(2**32 - 1))


@pytest.mark.parametrize("steps", [1, 17])
def test_random_pairs_have_the_doubles_time(steps: int) -> None:
    assert agreeing(steps, "random", "1", "20000")[0] == 20_000


@pytest.mark.parametrize("steps", [1, 17])
def test_quotients_near_a_whole_number_are_rounded(steps: int) -> None:
    pairs, rounded, _ = agreeing(steps, "hard", "1", "20000")
    assert rounded > 50
    assert pairs > 50_000


def test_a_digit_a_cycle_takes_at_most_200_cycles() -> None:
    # 15 to normalize, 54 of the root, 47 of the quotient, at most 54 of its fraction, 8 between.
    assert agreeing(1, "hard", "2", "20000")[2] <= 15 + 54 + 47 + 54 + 8
