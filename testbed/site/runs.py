"""The runs that the site's pictures show, kept in results/site."""

from __future__ import annotations

import hashlib
import json
import shlex
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from narrows.analysis.figures import FIGURES, render
from narrows.analysis.figures.base import Results
from narrows.analysis.load import load
from narrows.testbed.paths import ROOT

RUNS = ROOT / "results/site"


class SiteError(Exception):
    """A run that failed; the message has its command and what that printed."""


@dataclass(frozen=True)
class Shown:
    """A scenario's runs."""

    scenario: str
    """The file, from the root."""
    settings: tuple[str, ...] = ()
    """`--set` keys and values."""

    @property
    def command(self) -> str:
        """What a reader types for these runs."""
        return shlex.join(["narrows", "run", self.scenario, *self.options])

    @property
    def options(self) -> list[str]:
        """The command's options."""
        return [part for setting in self.settings for part in ("--set", setting)]

    @property
    def text(self) -> str:
        """The scenario's file."""
        return (ROOT / self.scenario).read_text(encoding="utf-8")

    def run(self) -> Results:
        """Makes the runs that do not exist yet. Raises `SiteError`."""
        told = json.dumps([self.text, *self.settings])
        out = RUNS / hashlib.sha256(told.encode()).hexdigest()[:12]
        narrows("run", self.scenario, *self.options, "--out", str(out), "--resume", "--no-figures")
        return Results(tuple(load(out / Path(self.scenario).stem)))


def narrows(*arguments: str) -> None:
    """Runs the command. Raises `SiteError`."""
    command = [sys.executable, "-m", "narrows", *arguments]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise SiteError(f"{shlex.join(command)} failed:\n{ran.stdout}{ran.stderr}")


def draw(name: str, results: Results, path: Path) -> bool:
    """Draws a figure as PNG. False where it has nothing to show."""
    figure = next(each for each in FIGURES if each.name == name)
    for content in render(figure, results, ("png",)).values():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return True
    return False


def drawn(names: Sequence[str], results: Results, directory: Path, stem: str) -> list[str]:
    """Draws those of these figures that have something to show; their names."""
    paths = {name: directory / f"{stem}-{name}.png" for name in names}
    return [name for name, path in paths.items() if draw(name, results, path)]
