"""Checks that two checkouts give the same results: `python -m bench.compare OLD NEW`.

Each committed scenario of OLD is run in both, shortened, at a few points of its sweep: the i-th
run takes the i-th value of each swept key. Tables are compared by value and the summaries by
content. Exit code 0: no difference; 1: the differences are printed. Both checkouts are set up
(`make setup`).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl


@dataclass(frozen=True)
class Comparison:
    """One run in both checkouts."""

    old: Path
    new: Path
    scenario: str
    """The file, relative to the checkout."""
    settings: tuple[str, ...]
    """`key=value`, as `--set` takes them."""
    target: str

    def differences(self) -> list[str]:
        """The differences, one per line."""
        with tempfile.TemporaryDirectory() as scratch:
            old, new = (
                self.run(checkout, Path(scratch, name))
                for checkout, name in ((self.old, "old"), (self.new, "new"))
            )
            if isinstance(old, str) or isinstance(new, str):
                return [f"OLD: {old}", f"NEW: {new}"]
            return list(compared(old, new))

    def run(self, checkout: Path, out: Path) -> Path | str:
        """The run's directory, or how the command ended if it left none."""
        command: list[str | Path] = [checkout / ".venv/bin/narrows", "run"]
        command += [
            checkout / self.scenario,
            "--out",
            out,
            "--no-figures",
            "--jobs",
            "1",
            "--target",
            self.target,
        ]
        command += [word for setting in self.settings for word in ("--set", setting)]
        ended = subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=False)
        directories = [path.parent for path in out.glob("*/[!.]*/run.json")]
        if len(directories) == 1:
            return directories[0]
        said = ended.stderr.replace(str(checkout), "").strip().splitlines()
        return f"exit code {ended.returncode}: {' / '.join(said[-3:])}"


def compared(old: Path, new: Path) -> Iterator[str]:
    """The differences of two run directories."""
    names = {path.name for directory in (old, new) for path in directory.glob("*.parquet")}
    for name in sorted(names):
        if not (old / name).exists() or not (new / name).exists():
            yield f"{name}: only in {'OLD' if (old / name).exists() else 'NEW'}"
            continue
        before, after = (pl.read_parquet(directory / name) for directory in (old, new))
        if before.columns != after.columns:
            yield f"{name}: columns {before.columns} and {after.columns}"
        elif not before.equals(after):
            columns = [
                column
                for column in before.columns
                if len(before) != len(after) or not before[column].equals(after[column])
            ]
            yield f"{name}: {len(before)} and {len(after)} rows; values differ in {columns}"
    summaries = (json.loads((directory / "summary.json").read_text()) for directory in (old, new))
    yield from (f"summary.json: {line}" for line in differing("", *summaries))


def differing(path: str, old: Any, new: Any) -> Iterator[str]:
    """The paths in a JSON document at which the values differ."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            yield from differing(f"{path}.{key}", old.get(key), new.get(key))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, pair in enumerate(zip(old, new, strict=True)):
            yield from differing(f"{path}[{index}]", *pair)
    elif old != new:
        yield f"{path.removeprefix('.')}: {json.dumps(old)[:60]} and {json.dumps(new)[:60]}"


def comparisons(options: argparse.Namespace) -> Iterator[Comparison]:
    """The runs: per scenario as many as its longest swept list has values, up to `--points`."""
    for file in sorted((options.old / "scenarios").rglob(options.only)):
        sweep = tomllib.loads(file.read_text()).get("sweep", {})
        lists = {key: values for key, values in flat(sweep) if isinstance(values, list)}
        longest = max((len(values) for values in lists.values()), default=1)
        count = min(longest, options.points)
        for index in range(count):
            at = index * longest // count
            settings = [f"duration={json.dumps(options.duration)}", "sweep.repeat=1"]
            settings += [
                f"sweep.{key}=[{toml(values[at % len(values)])}]" for key, values in lists.items()
            ]
            yield Comparison(
                options.old, options.new, str(file.relative_to(options.old)), tuple(settings),
                options.target,
            )  # fmt: skip


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


def main() -> int:
    """Runs and compares; prints a line per difference."""
    parser = argparse.ArgumentParser(prog="python -m bench.compare", description=__doc__)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--only", default="*.toml", help="scenario files by pattern")
    parser.add_argument("--points", type=int, default=5, help="runs per scenario, at most (5)")
    parser.add_argument("--duration", default="2s", help="simulated time per run (2s)")
    parser.add_argument("--target", default="sim")
    options = parser.parse_args()
    options.old, options.new = options.old.resolve(), options.new.resolve()
    runs = list(comparisons(options))
    failed = 0
    with ThreadPoolExecutor(2) as pool:
        for run, found in zip(runs, pool.map(Comparison.differences, runs), strict=True):
            for line in found:
                print(f"{run.scenario} {' '.join(run.settings)}: {line}", flush=True)
            failed += bool(found)
    print(f"{len(runs)} runs compared, {failed} differ")
    return 1 if failed or not runs else 0


if __name__ == "__main__":
    sys.exit(main())
