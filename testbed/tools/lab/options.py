"""The options of `narrows lab TOPOLOGY.json`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from narrows.testbed.problems import InputError, Problem
from narrows.testbed.targets.dpdk.setup import PortOptions
from narrows.testbed.tools.switch.options import parse_limit

MOST_TCP_PORT = 65_535


@dataclass(frozen=True)
class LabOptions:
    """The options; a quantity is text with its unit."""

    topology: Path
    program: Path | None
    """What switches without a program of their own begin with."""
    queue: str
    """The limit of every port's queues."""
    counts: str
    """The bytes that count against rates and queues."""
    capture: bool
    """Whether to write the packets of every port."""
    prompt: bool
    """Whether to read commands from the standard input."""
    grpc_port: int
    """The TCP port of the first switch's controllers; 0 for any that is free."""
    seed: int
    out: Path
    name: str
    ports: PortOptions

    @property
    def directory(self) -> Path:
        """The run's directory."""
        return self.out / self.name

    def check(self) -> None:
        """Raises `InputError` for options without a meaning."""
        problems = list(self._problems())
        if problems:
            raise InputError("narrows lab", problems)
        parse_limit(self.queue)

    def _problems(self) -> Iterator[Problem]:
        if not 0 <= self.grpc_port <= MOST_TCP_PORT:
            yield Problem("--grpc-port", f"expected 0 to {MOST_TCP_PORT}", self.grpc_port)
        if not 0 <= self.seed < 1 << 64:
            yield Problem("--seed", "expected 0 to 2^64 - 1", self.seed)
        if not self.name or "/" in self.name or self.name.startswith("."):
            yield Problem("--name", "expected the name of a directory", self.name)
