"""`lab.toml`: the hardware of a lab, for every target that reads it.

Each target has its own model of the file. This module has the option that names the file, and reads
it. An error names the key and its line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

from narrows.testbed.problems import InputError, Problem
from narrows.testbed.targets.base import Option

LAB: Final = Option(
    "--lab",
    "with --target tofino or fpga: lab.toml with switch, ports and cards (docs/guide/hardware.md, "
    "docs/guide/hardware-bottleneck.md)",
    metavar="FILE",
    names_hardware=True,
)
TABLE = re.compile(r"\s*\[\[?(?P<name>[^\[\]]+)\]")
KEY = re.compile(r"""\s*(?P<name>[\w."'-]+)\s*=""")

Model = TypeVar("Model")


def lab_file(target: str, options: Mapping[str, Any]) -> Path:
    """The path that `--lab` gives. Raises `InputError` without one."""
    path: str | None = options.get(LAB.key)
    if path is None:
        what = "needs --lab FILE with switch, ports and cards (docs/guide/hardware.md)"
        raise InputError("--target", [Problem(target, what)])
    return Path(path)


def read(path: Path, model: type[Model]) -> Model:
    """Reads a lab file as a model of pydantic. Raises `InputError` with all problems."""
    from pydantic import ValidationError

    from narrows.testbed.scenario import sweep
    from narrows.testbed.scenario.explain import explain

    tree = sweep.read_toml(path)
    try:
        found: Model = model.model_validate(tree)  # type: ignore[attr-defined]
    except ValidationError as error:
        raise wrong(path, explain(error, model)) from None  # type: ignore[arg-type]
    return found


def wrong(path: Path, problems: Iterable[Problem]) -> InputError:
    """The error of a lab file, each problem with its line."""
    lines = dict(keys(path.read_text(encoding="utf-8")))
    return InputError(str(path), [at_its_line(problem, lines) for problem in problems])


def at_its_line(problem: Problem, lines: Mapping[str, int]) -> Problem:
    """A problem with the line of its key, or of the table that should have it."""
    key = problem.key
    while key and key not in lines:
        key = key.rpartition(".")[0]
    if not key:
        return problem
    return Problem(problem.key, f"{problem.what} (line {lines[key]})", problem.value)


def keys(text: str) -> Iterator[tuple[str, int]]:
    """The paths of a TOML text's tables and keys, each with its line, from 1."""
    table = ""
    for number, line in enumerate(text.splitlines(), 1):
        if found := TABLE.match(line):
            table = found["name"].strip()
            yield table, number
        elif found := KEY.match(line):
            yield f"{table}.{found['name']}".lstrip("."), number
