"""Starts and ends `narrows switch` for the tests."""

from __future__ import annotations

import re
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.world import ROOT, command, environment

PROGRAM = ROOT / "p4/build/v1model.json"


P4INFO = ROOT / "p4/build/v1model.p4info.txtpb"


class Running:
    """A `narrows switch`: its lines, and its gRPC port."""

    def __init__(self, *arguments: str | Path) -> None:
        self.lines: list[str] = []
        self._news = threading.Condition()
        self.process = subprocess.Popen(
            command("switch", "--grpc-server-addr", "127.0.0.1:0", *arguments),
            cwd=ROOT,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        threading.Thread(target=self._read, daemon=True).start()
        self.address = re.sub(r".* at ", "", self.wait_for("controllers at"))

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self._news:
                self.lines.append(line.rstrip())
                self._news.notify_all()

    def wait_for(self, text: str) -> str:
        """The first line that has the text."""

        def found() -> str | None:
            return next((line for line in self.lines if text in line), None)

        with self._news:
            line = self._news.wait_for(found, timeout=30)
        assert line, f"no line has '{text}': {self.lines}"
        return line

    def end(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        """Stops it; returns the exit code and the text on standard error."""
        self.process.send_signal(number)
        assert self.process.stderr is not None
        errors = self.process.stderr.read()
        return self.process.wait(timeout=20), errors

    def longest_gap_us(self) -> float:
        """The longest gap between two polls of its ports, which it prints when it ends."""
        return float(re.sub(r".*longest gap (\S+) us.*", r"\1", self.wait_for("longest gap")))


@pytest.fixture
def start() -> Iterator[Callable[..., Running]]:
    """Starts switches that don't outlive the test."""
    started: list[Running] = []

    def begin(*arguments: str | Path) -> Running:
        started.append(Running(*arguments))
        return started[-1]

    yield begin
    for running in started:
        running.process.kill()
        running.process.wait()
        for pipe in (running.process.stdout, running.process.stderr):
            assert pipe is not None
            pipe.close()
