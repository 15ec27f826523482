"""Shared parts of whole-run tests: a scenario's text to a run directory, and the command."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from unittest import mock

import polars as pl

from narrows.testbed import engine, needs
from narrows.testbed.cli.main import main
from narrows.testbed.scenario import plan, sweep

ROOT = Path(__file__).resolve().parents[2]

TWO_FLOWS = """
title = "Two flows through 5 Mb/s"
duration = "5s"
profile = "linux"
[bottleneck]
rate = "5Mbps"
delay = "5ms"
queue = "20packets"
[access]
rate = "100Mbps"
delay = "1ms"
[[flow]]
variant = "reno"
count = 2
start = { every = "100ms" }
"""


@dataclass(frozen=True)
class RunDirectory:
    """A finished run."""

    path: Path
    stalled_us: float = 0.0
    """How long the machine stalled during the run, measured outside it."""

    @cached_property
    def summary(self) -> dict[str, Any]:
        loaded: dict[str, Any] = json.loads((self.path / "summary.json").read_text())
        return loaded

    @property
    def longest_gap_us(self) -> float:
        """For a run in real time: the longest gap between two polls of its loop, or the machine's
        longest stall. The loop may run while the kernel's hosts wait for a core.
        """
        gap: float = self.summary["instrument"]["polls"]["gap_max_us"]
        return max(gap, self.stalled_us)

    def table(self, name: str) -> pl.DataFrame:
        return pl.read_parquet(self.path / f"{name}.parquet")


def write(directory: Path, text: str, name: str = "scenario") -> Path:
    """The text as a scenario file."""
    path = directory / f"{name}.toml"
    path.write_text(text)
    return path


def run(directory: Path, text: str, **settings: Any) -> RunDirectory:
    """Runs the first point of a scenario in this process. A setting's dots are double underscores
    (`bottleneck__rate="1Mbps"`)."""
    directory.mkdir(exist_ok=True, parents=True)
    overrides = [(key.replace("__", "."), value) for key, value in settings.items()]
    source = write(directory, text)
    point = sweep.read(source, overrides)[0]
    out = directory / "run"
    out.mkdir()
    made = json.dumps(plan.make_plan(point.scenario, str(source)))
    engine.run(made, str(out), None)
    return RunDirectory(out)


def rename_crates(tree: Path, suffix: str) -> None:
    """Gives the crates of a copy of the tree another version:

    `0.2.0-guide`. So a copy can compile in the checkout's `target/`, with the dependencies built
    there. Cargo distinguishes crates of one name by their version, not by the folder of their
    workspace. The engine's library gets another name, `narrows_engine_guide`: the file of a shared
    library has no version in its name, so the copy's would replace the checkout's.
    """
    for manifest, found, renamed in (
        ("Cargo.toml", r'^(version = "[\d.]+)"$', rf'\1-{suffix}"'),
        ("engine/Cargo.toml", r'^(name = "narrows_engine)"$', rf'\1_{suffix}"'),
    ):
        path = tree / manifest
        text = path.read_text(encoding="utf-8")
        changed = re.sub(found, renamed, text, count=1, flags=re.M)
        assert changed != text
        path.write_text(changed, encoding="utf-8")


def example(name: str) -> Path:
    """The program of one of our crates' examples.

    Built for the whole workspace, as by `cargo test`: with the features that a single crate asks
    of its dependencies, cargo would compile these again.
    """
    build = ("cargo", "build", "--quiet", "--profile", "test", "--workspace", "--example", name)
    done = subprocess.run(
        build, cwd=ROOT, env=needs.cargo_environment(), capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(build)}: {done.stderr.strip()[-2000:]}")
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "debug/examples" / name


def compile_fast(tree: Path, tested: str = "") -> None:
    """Sets cargo not to optimise the crates of a copy, whose compilation takes longer than its
    steps. Their dependencies stay as they are built for the checkout. The crate whose properties
    are `tested` many thousand times stays optimised in tests.
    """
    names = [
        re.findall(r'^name = "([\w-]+)"', manifest.read_text("utf-8"), re.M)[0]
        for manifest in (*sorted(tree.glob("*/Cargo.toml")), tree / "fpga/driver/Cargo.toml")
    ]
    profiles = (
        f"[profile.{profile}.package.{name}]\nopt-level = 0\ndebug = false\n"
        for profile in ("dev", "test")
        for name in names
        if (profile, name) != ("test", tested)
    )
    (tree / ".cargo").mkdir()
    (tree / ".cargo/config.toml").write_text("".join(profiles), encoding="utf-8")


@contextmanager
def leaves_nothing(found: Callable[[], set[str]], seconds: float = 15) -> Iterator[None]:
    """Asserts that this soon after the block nothing is found that was not there before."""
    before = found()
    yield
    deadline = time.monotonic() + seconds
    while (left := found() - before) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not left


def command(*arguments: str | Path) -> list[str]:
    """The `narrows` command of this interpreter."""
    return [sys.executable, "-m", "narrows", *map(str, arguments)]


def environment() -> dict[str, str]:
    """The environment of a command run outside the checkout."""
    inherited = os.environ.get("PYTHONPATH", "")
    return {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{inherited}", "COLUMNS": "200"}


def narrows(*arguments: str | Path, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Runs the command to its end, without a terminal or standard input."""
    return subprocess.run(
        command(*arguments),
        cwd=cwd,
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def called(*arguments: str | Path, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """What `narrows` does, in this process: a start takes longer than most commands. For verbs
    that neither handle signals nor keep a thread.
    """
    words = list(map(str, arguments))
    out, errors = io.StringIO(), io.StringIO()
    with (
        contextlib.chdir(cwd),
        mock.patch.dict(os.environ, {"COLUMNS": "200"}),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(errors),
    ):
        try:
            code = main(words)
        except SystemExit as ended:  # argparse ends so.
            code = int(ended.code or 0)
    return subprocess.CompletedProcess(words, code, out.getvalue(), errors.getvalue())
