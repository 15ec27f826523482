"""The guide's pages and the folder in which their steps run.

The folder is a copy of the sources, as a reader's checkout is. It has a fixed path under `target/`,
so that cargo compiles a second time only what changed; a lock keeps two test runs apart.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import Final

import pytest

from narrows.testbed import engine, needs
from narrows.testbed.targets.linux import namespaces
from narrows.testbed.tools import bootstrap
from tests.docs.markdown import Step, matches, pages_before, steps_of
from tests.support.world import ROOT, compile_fast, rename_crates

FOLDER = ROOT / "docs/guide"
PAGES: Final = tuple(
    re.findall(r"^\d+\. \[.*?\]\((.*?)\)", (FOLDER / "README.md").read_text("utf-8"), re.M)
)
"""The pages that the guide's index numbers, in order."""
STEPS: Final = {page: tuple(steps_of(FOLDER / page)) for page in PAGES}
WITH_RUST: Final = {
    page: steps for page, steps in STEPS.items() if any(step.path.endswith(".rs") for step in steps)
}
"""The pages that add to the engine."""
LEFT_OUT = {"target", "results", ".venv", ".git", "node_modules"}
BUILD = "make setup"
ACTIVATE = ". .venv/bin/activate"
COMMAND_TIMEOUT_S, READY_TIMEOUT_S = 300, 120
VOID = re.compile(r"\b(invalid|void)\b")
"""The output of `narrows run` if the run's own error is too large."""


class NotRun(Exception):  # noqa: N818
    """A step that cannot run here; the message is the reason to skip its test."""


def lacking(what: str) -> str | None:
    """Why this machine cannot run a step with this need; None if it can."""
    if what == "libdpdk":
        return "needs libdpdk: narrows doctor" if engine.dpdk_version() is None else None
    if what == "namespaces":
        return next(iter(namespaces.missing()), None)
    return None if shutil.which(what) else f"{what} is not installed"


@contextmanager
def reader() -> Iterator[Reader]:
    """A reader in a fresh copy of the sources; processes that still run are ended."""
    place = ROOT / "target/guide"
    place.mkdir(parents=True, exist_ok=True)
    with (place / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        tree = place / "narrows"
        shutil.rmtree(tree, ignore_errors=True)

        def ignored(_: str, names: list[str]) -> set[str]:
            return {name for name in names if name in LEFT_OUT or name.endswith("_cache")}

        shutil.copytree(ROOT, tree, ignore=ignored, symlinks=True)
        rename_crates(tree, "guide")
        compile_fast(tree, tested="narrows-queueing")
        (tree / ".venv").symlink_to(sys.prefix)  # What `make setup` makes.
        with own_namespaces() as inside:
            following = Reader(tree, inside)
            try:
                yield following
            finally:
                following.end_background()


@contextmanager
def own_namespaces() -> Iterator[tuple[str, ...]]:
    """The prefix that runs a command in its own namespaces, with all ports and network namespaces
    free. Without root a command runs unchanged. The namespaces' end removes everything that a
    reader leaves there.
    """
    if namespaces.missing() or not shutil.which("nsenter"):
        yield ()
        return
    prepare = "mkdir -p /run/netns && mount -t tmpfs none /run/netns && ip link set lo up"
    holder = subprocess.Popen(
        ["unshare", "--net", "--mount", "bash", "-c", f"{prepare} && echo ready && exec cat"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert holder.stdin and holder.stdout
    try:
        assert holder.stdout.readline() == "ready\n"
        yield ("nsenter", "--target", str(holder.pid), "--net", "--mount")
    finally:
        holder.stdin.close()
        holder.wait()
        holder.stdout.close()


@dataclass
class Reader:
    """Follows the guide: runs each step once, after the steps before it."""

    tree: Path
    inside: tuple[str, ...] = ()
    """The prefix of every command."""
    done: dict[Step, Exception | None] = field(default_factory=dict)
    """The steps that were run, and their results."""
    background: dict[str, list[subprocess.Popen[str]]] = field(default_factory=dict)
    """By page."""
    released: Path | None = None
    """The checkout's engine, while one with the pages' additions is in its place."""

    def reach(self, step: Step) -> None:
        """Runs a step after all steps that it needs. Raises that step's error."""
        for page in pages_before(FOLDER / step.page):
            for before in STEPS[page]:
                self.reach_once(before)
        steps = STEPS[step.page]
        for before in steps[: steps.index(step)]:
            self.reach_once(before)
            if isinstance(self.done[before], AssertionError):
                raise NotRun("an earlier step of the guide's page failed")
        self.reach_once(step)
        if step is steps[-1]:
            self.end_background(step.page)
            self.restore_engine(step.page)
        if error := self.done[step]:
            raise error

    def reach_once(self, step: Step) -> None:
        """Runs a step unless it was run before, and remembers the result."""
        if step in self.done:
            return
        try:
            self.carry_out(step)
        except (AssertionError, NotRun) as error:
            self.done[step] = error
        else:
            self.done[step] = None

    def carry_out(self, step: Step) -> None:
        """Runs a step."""
        if (elsewhere := step.note("run by")) is not None:
            assert (ROOT / elsewhere).is_file(), f"{step.where}: no file {elsewhere}"
            raise NotRun(f"{elsewhere} runs it")
        if step.note("after Ctrl-C") is not None:
            self.end_background(step.page)
        for what in (step.note("needs") or "").split(", "):
            if what and (reason := lacking(what)):
                raise NotRun(reason)
        if step.path:
            file = self.tree / step.path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(step.text, encoding="utf-8")
        elif step.text == BUILD:
            self.build()
        elif step.note("background") is not None:
            self.background.setdefault(step.page, []).append(self.start(step))
        else:
            self.run(step)

    def environment(self) -> dict[str, str]:
        """The environment's variables, with the copy in place of the checkout."""
        found = needs.cargo_environment()
        active = Path(sys.executable).parent
        rest = [each for each in found["PATH"].split(os.pathsep) if each and Path(each) != active]
        return found | {
            "PATH": os.pathsep.join(rest if self.is_activated else [str(active), *rest]),
            "PYTHONPATH": str(self.tree),
            "CARGO_TARGET_DIR": str(ROOT / "target"),
            "COLUMNS": "100",
        }

    @property
    def is_activated(self) -> bool:
        """Whether commands run in the activated environment, as the install page says. Otherwise
        the tests themselves run outside an environment, and its programs are on the path.
        """
        return (self.tree / ".venv/bin/activate").exists()

    def command(self, text: str) -> list[str]:
        """A shell that runs a command of the guide in the copy, with the environment active."""
        script = 'cd "$0" && eval "$1"'
        if self.is_activated and text != BUILD:
            script = f'cd "$0" && {ACTIVATE} && eval "$1"'
        return [*self.inside, "bash", "-c", script, str(self.tree), text]

    def start(self, step: Step) -> subprocess.Popen[str]:
        """Starts a background command, and waits for the text that says it is ready."""
        log = self.tree.parent / f"{step.page}-{step.line}.log"
        with log.open("w") as output:
            process = subprocess.Popen(
                self.command(f"exec {step.text}"), env=self.environment(), stdout=output,
                stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT, text=True,
            )  # fmt: skip
        ready, until = step.note("background") or "", time.monotonic() + READY_TIMEOUT_S
        while ready not in (printed := log.read_text()):
            late = time.monotonic() > until or process.poll() is not None
            if late:
                process.kill()
                process.wait()
            assert not late, f"{step.where}: $ {step.text}\n{printed}does not say {ready!r}"
            time.sleep(0.1)
        return process

    def run(self, step: Step) -> None:
        """Runs a command to its end and compares its output with what the page shows."""
        ran = subprocess.run(
            self.command(step.text), env=self.environment(), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            timeout=COMMAND_TIMEOUT_S, check=False,
        )  # fmt: skip
        if step.note("real time") is not None and ran.returncode == 1 and VOID.search(ran.stdout):
            raise NotRun("a run in real time was void on this machine")
        said = f"{step.where}: $ {step.text}\n{ran.stdout}"
        expected = int(step.note("exits") or 0)
        assert ran.returncode == expected, f"{said}exit code {ran.returncode}, not {expected}"
        if step.shown is not None:
            assert matches(step.shown, ran.stdout), f"{said}is not what is shown:\n{step.shown}"

    def build(self) -> None:
        """Builds the engine if a page changed it: once, with the additions of all pages.

        The steps of those pages before their `make setup` are run first. The command is that of
        `make setup`, whose dependencies are there; our crates are not optimised (`compile_fast`).
        """
        if self.released or not any(step.path.endswith(".rs") for step in self.done):
            return
        for steps in WITH_RUST.values():
            for step in takewhile(lambda step: step.text != BUILD, steps):
                self.reach_once(step)
        environment = bootstrap.environment() | {"CARGO_TARGET_DIR": str(ROOT / "target")}
        ran = subprocess.run(
            bootstrap.ENGINE, cwd=self.tree, env=environment, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        assert ran.returncode == 0, ran.stderr
        [extension] = self.tree.glob("narrows/_engine.*so")
        self.released = extension.rename(self.tree.parent / extension.name)
        shutil.copy(ROOT / "target/debug/libnarrows_engine_guide.so", extension)

    def restore_engine(self, page: str) -> None:
        """Puts the optimised engine back after the last page that changes it."""
        if self.released and self.released.exists() and page == list(WITH_RUST)[-1]:
            self.released.rename(self.tree / "narrows" / self.released.name)

    def end_background(self, page: str | None = None) -> None:
        """Ends the background processes of a page, or of all pages, as Ctrl-C does."""
        for name in [page] if page else list(self.background):
            for process in reversed(self.background.pop(name, [])):
                process.send_signal(signal.SIGINT)
                try:
                    process.wait(10)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()


def follow(reader: Reader, step: Step) -> None:
    """Runs a step; skips its test if it, or a step before it, cannot run here."""
    try:
        reader.reach(step)
    except NotRun as reason:
        pytest.skip(str(reason))
