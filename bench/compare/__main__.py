"""Checks that two checkouts give the same results: `python -m bench.compare OLD NEW`.

Each committed scenario of OLD is taken shortened, at a few points of its sweep: the i-th point has
the i-th value of each swept key. Compared are

- the plans, with the state of the switches,
- with `--writes` what each checkout's controller sends over P4Runtime to set up these switches,
- for each `--target` a run: in virtual time the values of tables and summary, in real time, where
  values differ from run to run, the tables' columns and the summary's keys.

Exit code 0: no difference; 1: the differences are printed. Both checkouts are set up
(`make setup`), and this machine has the targets.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from bench.compare import differences
from bench.compare.checkout import Checkout, CommandError
from narrows.testbed.targets import TARGETS

PLAN, WRITES = "plan", "P4Runtime"
"""What is compared besides the runs of a target."""

Result = TypeVar("Result")


@dataclass(frozen=True)
class Comparison:
    """A point of a scenario in both checkouts."""

    old: Checkout
    new: Checkout
    scenario: str
    """The file, relative to the checkout."""
    settings: tuple[str, ...]
    """`key=value`, as `--set` takes them."""
    what: str
    """`PLAN`, `WRITES` or a target."""

    @property
    def in_real_time(self) -> bool:
        """True if it must have the machine for itself."""
        return self.what in TARGETS and TARGETS[self.what].in_real_time

    def differences(self) -> list[str]:
        """The differences, one per line."""
        compare = {PLAN: self._plans, WRITES: self._writes}.get(self.what, self._runs)
        return [f"{self.what}: {line}" for line in compare()]

    def _plans(self) -> Iterator[str]:
        return self._documents(lambda checkout: checkout.plan(self.scenario, self.settings))

    def _writes(self) -> Iterator[str]:
        def writes(checkout: Checkout) -> dict[str, list[str]]:
            switches = checkout.plan(self.scenario, self.settings)["switches"]
            return {switch["name"]: checkout.writes(switch) for switch in switches}

        return self._documents(writes)

    def _runs(self) -> Iterator[str]:
        with tempfile.TemporaryDirectory() as scratch:

            def run(checkout: Checkout) -> Path:
                out = Path(scratch, "old" if checkout is self.old else "new")
                return checkout.run(self.scenario, self.settings, self.what, out)

            found, failures = self._both(run)
            yield from failures or differences.of_runs(*found, values=not self.in_real_time)

    def _documents(self, made: Callable[[Checkout], Any]) -> Iterator[str]:
        found, failures = self._both(made)
        yield from failures or differences.of_documents(*found)

    def _both(self, made: Callable[[Checkout], Result]) -> tuple[list[Result], list[str]]:
        """What both make, and a line for each that fails."""
        found, failures = list[Result](), list[str]()
        for name, checkout in (("OLD", self.old), ("NEW", self.new)):
            try:
                found.append(made(checkout))
            except CommandError as error:
                failures.append(f"{name}: {error}")
        return found, failures


def comparisons(options: argparse.Namespace) -> Iterator[Comparison]:
    """What to compare: each thing at each point."""
    old, new = Checkout(options.old.resolve()), Checkout(options.new.resolve())
    whats = [PLAN, *([WRITES] if options.writes else []), *options.target]
    for file in sorted((old.root / "scenarios").rglob(options.only)):
        for settings in points(file, options.points, options.duration):
            for what in whats:
                yield Comparison(old, new, str(file.relative_to(old.root)), settings, what)


def points(file: Path, most: int, duration: str) -> Iterator[tuple[str, ...]]:
    """The settings of a scenario's points: as many as its longest swept list has, up to `most`."""
    sweep = tomllib.loads(file.read_text()).get("sweep", {})
    lists = {key: values for key, values in flat(sweep) if isinstance(values, list)}
    longest = max((len(values) for values in lists.values()), default=1)
    count = min(longest, most)
    for index in range(count):
        at = index * longest // count
        swept = (f"sweep.{key}=[{toml(values[at % len(values)])}]" for key, values in lists.items())
        yield (f"duration={json.dumps(duration)}", "sweep.repeat=1", *swept)


def flat(tree: dict[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    """A tree's leaves by their dotted paths."""
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from flat(value, f"{path}{key}.")
        else:
            yield f"{path}{key}", value


def toml(value: Any) -> str:
    """A value in TOML."""
    if isinstance(value, dict):
        return "{" + ", ".join(f'"{key}" = {toml(one)}' for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value)


def compared(found: Iterable[Comparison]) -> Iterator[tuple[Comparison, list[str]]]:
    """Each with its differences: two at a time, then those in real time alone."""
    alone = list[Comparison]()
    together = list[Comparison]()
    for one in found:
        (alone if one.in_real_time else together).append(one)
    for workers, some in ((2, together), (1, alone)):
        with ThreadPoolExecutor(workers) as pool:
            yield from zip(some, pool.map(Comparison.differences, some), strict=True)


def main(arguments: list[str] | None = None) -> int:
    """Compares; prints a line per difference, then how many comparisons differ."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.compare",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--only", default="*.toml", help="scenario files by pattern")
    parser.add_argument("--points", type=int, default=5, help="points per scenario, at most (5)")
    parser.add_argument("--duration", default="2s", help="simulated time per run (2s)")
    parser.add_argument(
        "--target", nargs="*", choices=TARGETS, default=["sim"], help="runs on these (sim)"
    )
    parser.add_argument("--writes", action="store_true", help="what goes over P4Runtime")
    counts = dict[str, list[int]]()
    for one, found in compared(comparisons(parser.parse_args(arguments))):
        for line in found:
            print(f"{one.scenario} {' '.join(one.settings)}: {line}", flush=True)
        count = counts.setdefault(one.what, [0, 0])
        count[0] += 1
        count[1] += bool(found)
    for what, (of, differ) in counts.items():
        print(f"{what}: {of} compared, {differ} differ")
    return int(not counts or any(differ for _, differ in counts.values()))


if __name__ == "__main__":
    sys.exit(main())
