"""A scenario as a Python object, with the checks of a file."""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from narrows.testbed.problems import InputError, Problem
from narrows.testbed.scenario import sweep
from narrows.testbed.shipped import scenario_path

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_+-]{0,99}")


class Scenario:
    """A scenario: its name, its keys as nested dicts, and the directory of the files that it names.

    The keys are those of a scenario file (docs/reference/scenario.md): a `[table]` is a dict, a
    `[[table]]` a list of dicts, a quantity text with its unit. `sweep` and `choice` are keys too.
    Every point of the sweep is checked here, with the messages of `narrows run`.
    """

    def __init__(self, name: str, /, *, directory: str | Path = ".", **keys: Any) -> None:
        """`name` is what its results are called. Raises `InputError`, which names the key."""
        if not NAME.fullmatch(name):
            what = 'expected letters, digits, "-", "_" and "+", as "buffer-sizing"'
            raise InputError("Scenario", [Problem("name", what, name)])
        self.name = name
        self.directory = Path(directory)
        self._tree = sweep.of_python(name, keys)
        sweep.read(self.source, (), self._tree)

    @classmethod
    def read(cls, path: str | Path) -> Scenario:
        """A file's scenario, or one that comes with Narrows, by its name. Raises `InputError`."""
        file = scenario_path(path)
        return cls(sweep.scenario_name(file), directory=file.parent, **sweep.read_toml(file))

    @property
    def source(self) -> Path:
        """What messages call it, in the directory of the files that it names."""
        return self.directory / self.name

    @property
    def keys(self) -> dict[str, Any]:
        """A copy of its keys."""
        return copy.deepcopy(self._tree)

    @property
    def points(self) -> list[str]:
        """The names of its runs, in the sweep's order."""
        return [point.name for point in sweep.read(self.source, (), self._tree)]

    def but(self, **keys: Any) -> Scenario:
        """The same scenario with other values of some keys, such as `duration="5s"`,
        `bottleneck={"rate": "2Mbps"}` or `**{"flow.0.count": 3}`. Raises `InputError`.
        """
        tree = self.keys
        for key, value in settings_of(keys):
            sweep.override(str(self.source), tree, key, value)
        return Scenario(self.name, directory=self.directory, **tree)

    def __repr__(self) -> str:
        """Its name and title."""
        return f"<Scenario {self.name}: {self._tree.get('title', '')}>"


def settings_of(keys: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Keys given as Python arguments as dotted paths with values, as `--set` takes them."""
    return list(sweep.flatten(sweep.of_python("settings", keys)))
