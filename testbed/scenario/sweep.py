"""Reads a scenario file, applies `--set`, expands the sweep, and checks every point."""

from __future__ import annotations

import copy
import hashlib
import itertools
import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from pydantic import ValidationError

from narrows.testbed import catalogue
from narrows.testbed.files import read_text
from narrows.testbed.problems import InputError, Problem
from narrows.testbed.scenario.explain import explain, explain_toml
from narrows.testbed.scenario.schema import Scenario, Sweep
from narrows.testbed.shipped import unknown_scenario

Tree = dict[str, Any]
"""A parsed TOML file, before the schema checks it."""

MAX_POINTS = 100_000
MAX_DEPTH = 20
TOO_DEEP = Problem("", f"is nested too deeply; expected at most {MAX_DEPTH} levels")
MAX_BYTES = 10**7
"""Of a scenario's file."""
MAX_DOTS = 10**7
"""The sum of the squares of each line's dots, with which tomllib's time for dotted keys grows: to
a third of a second here. A line of 3,000 decimal fractions is allowed.
"""

NAMELESS = ("report.", "record.", "telemetry.")
"""What is drawn and recorded: an override of these does not name a point."""


@dataclass(frozen=True)
class Point:
    """One run of a scenario."""

    name: str
    """The name of its directory, such as `count=2,variant=new-aimd,seed=1`."""
    values: dict[str, Any]
    """The sweep's keys with this point's values; includes the seed if runs are repeated."""
    scenario: Scenario


def read(
    path: Path, overrides: Sequence[tuple[str, Any]] = (), tree: Mapping[str, Any] | None = None
) -> list[Point]:
    """The points of the scenario in `path`, in the file's order. With a `tree`, of that scenario;
    `path` is then its name, and its directory that of the files which it names.

    `overrides` are dotted paths with values that replace the file's, like a sweep over one value.
    They appear in the points' names, except for the seed (always present), figures and recorded
    tables (`NAMELESS`), and the sweep's own lists (`sweep.repeat`, `sweep.flow.count`). Raises
    `InputError` with all problems of all points.
    """
    tree = read_toml(path) if tree is None else of_python(str(path), tree)
    choices = read_choices(str(path), tree.pop("choice", {}))
    swept = dict(flatten(tree.pop("sweep", {})))
    swept |= {key[6:]: value for key, value in overrides if key.startswith("sweep.")}
    sweep = read_sweep(str(path), swept)
    for key, value in overrides:
        if key == "seed" or key.startswith(NAMELESS):
            override(str(path), tree, key, value)
        elif key in ("sweep", "choice"):
            what = "is a table; expected one of its keys, such as sweep.repeat=3"
            raise InputError("--set", [Problem(key, what)])
        elif not key.startswith("sweep."):
            sweep.values[key] = [value]
    points, problems = [], list[Problem]()
    for values in sweep.combinations():
        point_tree = copy.deepcopy(tree)
        for key, value in values.items():
            for chosen, setting in choices.settings(str(path), key, value):
                override(str(path), point_tree, chosen, setting)
        try:
            first = Scenario.model_validate(point_tree)
        except ValidationError as error:
            problems += explain(error)
            continue
        for seed in range(first.seed, first.seed + sweep.repeat):
            scenario = first.model_copy(update={"seed": seed})
            named = {**values, "seed": seed}
            kept = named if sweep.repeat > 1 else values
            points.append(Point(point_name(named), kept, scenario))
    twice = [name for name, times in Counter(point.name for point in points).items() if times > 1]
    problems += [Problem("sweep", f'contains the point "{name}" twice') for name in twice]
    if problems:
        raise InputError(str(path), problems)
    return points


def read_toml(path: Path) -> Tree:
    """The file as a tree. Raises `InputError` when it cannot be read or is not valid TOML."""
    if not path.suffix and not path.exists():
        raise InputError(str(path), [Problem("", unknown_scenario(str(path)))])
    text = read_text(path, MAX_BYTES)
    if sum(line.count(".") ** 2 for line in text.split("\n")) > MAX_DOTS:
        raise InputError(str(path), [TOO_DEEP])
    try:
        tree = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(str(path), [Problem("", explain_toml(str(error), text))]) from None
    except RecursionError:
        raise InputError(str(path), [TOO_DEEP]) from None
    if depth(tree) > MAX_DEPTH:
        raise InputError(str(path), [TOO_DEEP])
    return tree


def of_python(source: str, tree: Mapping[str, Any]) -> Tree:
    """A copy of a scenario of Python's objects as TOML would give it: lists for tuples, text for
    paths. Raises `InputError` when it is nested too deeply.
    """
    if depth(tree) > MAX_DEPTH:
        raise InputError(source, [TOO_DEEP])
    copied: Tree = _as_toml(tree)
    return copied


def _as_toml(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _as_toml(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_as_toml(part) for part in value]
    return str(value) if isinstance(value, PurePath) else value


def depth(tree: object) -> int:
    """Levels of tables and lists below one another."""
    levels, level = 0, [tree]
    while level:
        level = [
            part
            for found in level
            if isinstance(found, Mapping | list | tuple)
            for part in (found.values() if isinstance(found, Mapping) else found)
        ]
        levels += 1
    return levels - 1


def scenario_name(path: Path) -> str:
    """What a scenario's results are called. Raises `InputError` for a name that no directory can
    have, or that is hidden.
    """
    if path.stem.startswith(".") or not path.stem:
        what = "results are called after the file; expected a name that does not begin with a dot"
        raise InputError(str(path), [Problem("", what)])
    return path.stem


def read_one(
    path: Path, overrides: Sequence[str], settings: Sequence[tuple[str, Any]] = ()
) -> Point:
    """The only point of a scenario, with overrides (`KEY=VALUE`) and settings (key, value). Raises
    `InputError`.
    """
    points = read(path, [*map(parse_setting, overrides), *settings])
    if len(points) != 1:
        what = f"has {len(points)} points; expected one (use --set)"
        raise InputError(str(path), [Problem("sweep", what)])
    return points[0]


def parse_setting(text: str) -> tuple[str, Any]:
    """Parses `key=value` of `--set`; a value that is not TOML is text. Raises `InputError`."""
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        what = 'expected key=value, such as bottleneck.rate="5Mbps"'
        raise InputError("--set", [Problem(text, what)])
    try:
        return key.strip(), tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return key.strip(), value
    except RecursionError:
        raise InputError("--set", [Problem(key.strip(), "is nested too deeply")]) from None


@dataclass
class Combinations:
    """A parsed sweep: paths with their values, and the number of runs per combination."""

    values: dict[str, list[Any]]
    repeat: int

    def combinations(self) -> Iterator[dict[str, Any]]:
        """All combinations; the last key changes fastest."""
        for values in itertools.product(*self.values.values()):
            yield dict(zip(self.values, values, strict=True))


def read_sweep(source: str, table: object) -> Combinations:
    """The `[sweep]` table. Raises `InputError`."""
    try:
        sweep = Sweep.model_validate(table)
    except ValidationError as error:
        raise InputError(source, explain(error, Sweep, "sweep")) from None
    values, problems = dict(flatten(sweep.model_extra or {})), []
    for key, listed in values.items():
        if not isinstance(listed, list) or not listed:
            problems.append(Problem(f"sweep.{key}", "expected a list of values", listed))
        elif key == "seed":
            problems.append(Problem("sweep.seed", "expected `repeat` instead, which counts seeds"))
    number = sweep.repeat
    for listed in values.values():
        number *= len(listed) if isinstance(listed, list) else 1
    if number > MAX_POINTS:
        problems.append(Problem("sweep", f"has {number} runs; expected at most {MAX_POINTS}"))
    if problems:
        raise InputError(source, problems)
    return Combinations(values, sweep.repeat)


@dataclass
class Choices:
    """The `[choice]` table: named groups of settings, which a sweep treats as one value.

    `[choice.tcp]` with `tahoe = { "flow.recovery" = "tahoe" }` gives a sweep the key `choice.tcp`
    and its value `"tahoe"`. A key is a dotted path in quotes; its value replaces the existing one.
    """

    families: dict[str, dict[str, Any]]

    def settings(self, source: str, key: str, value: Any) -> list[tuple[str, Any]]:
        """The settings of a sweep's key and value: the pair itself, or the settings of the choice.

        Raises `InputError` for an unknown choice.
        """
        head, _, family = key.partition(".")
        if head != "choice":
            return [(key, value)]
        if family not in self.families:
            what = catalogue.unknown("choice", family, self.families)
            raise InputError(source, [Problem(f"sweep.{key}", what)])
        named = self.families[family]
        if value not in named:
            what = catalogue.unknown(f"value of {key}", str(value), named)
            raise InputError(source, [Problem(f"sweep.{key}", what, value)])
        return list(named[value].items())


def read_choices(source: str, table: object) -> Choices:
    """The `[choice]` table. Raises `InputError` unless it is a table of tables."""
    families: dict[str, Any] = table if isinstance(table, dict) else {"": table}
    for family, named in families.items():
        for name, settings in named.items() if isinstance(named, dict) else [("", named)]:
            if not isinstance(settings, dict):
                key = ".".join(filter(None, ["choice", family, name]))
                what = 'expected a table of settings, for example { "flow.count" = 2 }'
                raise InputError(source, [Problem(key, what, settings)])
    return Choices(families)


def flatten(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Nested tables as dotted paths: `flow.count = [1]` is `"flow.count" = [1]`."""
    for key, value in table.items():
        if isinstance(value, dict):
            yield from flatten(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def override(source: str, tree: Tree, path: str, value: Any) -> None:
    """Sets the value at a dotted path; a list without an index means each of its tables.

    Creates missing tables; the schema checks the key later. Raises `InputError`.
    """
    *parents, last = path.split(".")
    tables = [tree]
    for depth, part in enumerate(parents):
        if part.isdigit():
            continue
        inner = [table.setdefault(part, {}) for table in tables]
        tables = [
            table for found in inner for table in (found if isinstance(found, list) else [found])
        ]
        index = parents[depth + 1] if depth + 1 < len(parents) else ""
        if index.isdigit():
            if int(index) >= len(tables):
                what = f"{part} has {len(tables)} tables; the first is {part}.0"
                raise InputError(source, [Problem(path, what)])
            tables = [tables[int(index)]]
        if not all(isinstance(table, dict) for table in tables):
            raise InputError(source, [Problem(path, f"{part} is not a table")])
    for table in tables:
        table[last] = copy.deepcopy(value)


def point_name(values: Mapping[str, Any]) -> str:
    """The directory name of a point: for each path its shortest unique suffix, and the value.

    It depends on the sweep's keys and this point's values only, so it is stable when values
    are added to a sweep.
    """
    return ",".join(f"{short(key, list(values))}={name(value)}" for key, value in values.items())


def short(path: str, paths: Sequence[str]) -> str:
    """The shortest suffix of a dotted path that no other path shares."""
    parts = path.split(".")
    for length in range(1, len(parts) + 1):
        ending = ".".join(parts[-length:])
        if sum(f".{other}".endswith(f".{ending}") for other in paths) == 1:
            return ending
    return path


def name(value: Any) -> str:
    """A value as part of a file name: itself if short, else its hash."""
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
    safe = re.sub(r"[^A-Za-z0-9._+-]+", "-", text).strip("-.")
    if safe != text or not safe or len(safe) > 40:
        digest = hashlib.sha256(text.encode()).hexdigest()[:8]
        return f"{safe[:24].rstrip('-')}-{digest}" if safe else digest
    return safe
