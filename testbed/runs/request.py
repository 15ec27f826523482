"""The arguments of `narrows run`. This module imports little, since the first worker starts before
the rest loads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from narrows.testbed.problems import InputError, Problem
from narrows.testbed.targets import TARGETS
from narrows.testbed.targets.base import Hosts, Target

if TYPE_CHECKING:
    from narrows.schema.run import Settings


@dataclass(frozen=True)
class RunRequest:
    """A request to run a scenario's points on a target."""

    scenario: Path
    """The scenario's file."""
    overrides: Sequence[str]
    """Overrides `KEY=VALUE` of scenario keys."""
    seed: int | None
    """The first seed; None means the scenario's."""
    target: Target
    hosts: Hosts
    settings: Settings
    """Options of the target."""
    out: Path
    at_once: int
    """Number of concurrent runs."""
    scheduler: str | None
    """Address of a Dask scheduler; None means this machine."""
    resume: bool
    """True: keep finished runs that would be the same."""
    quiet: bool = False
    """True: no progress is shown."""
    keys: Sequence[tuple[str, Any]] = ()
    """Further overrides: keys with their values."""
    tree: Mapping[str, Any] | None = None
    """A scenario of Python's objects, in place of the file's."""

    def check(self) -> None:
        """Raises `InputError` where this machine lacks something for the target."""
        check_machine(self.target)


def check_machine(target: Target) -> None:
    """Raises `InputError` where this machine lacks something for a target."""
    if lacking := target.missing():
        raise InputError("--target", [Problem(target.name, "; ".join(lacking))])


@dataclass(frozen=True)
class Execution:
    """How runs are executed: on a target, with hosts, so many at a time."""

    target: Target
    hosts: Hosts
    settings: Settings
    """Options of the target."""
    at_once: int

    def check(self) -> None:
        """Raises `InputError` where this machine lacks something for the target."""
        check_machine(self.target)


def execution_of(
    target: Target, hosts: Hosts, own: Mapping[str, Any], jobs: int, scheduler: str | None
) -> Execution:
    """How runs are executed; `own` are the target's options. Raises `InputError` for parts that do
    not go together.
    """
    if hosts.in_kernel and target.no_kernel_hosts:
        raise InputError("--hosts", [Problem(hosts.name, target.no_kernel_hosts)])
    settings = target.settings(hosts, own)
    # Two simultaneous runs in real time would delay each other.
    at_once = 1 if target.in_real_time else jobs
    if at_once < 1:
        raise InputError("--jobs", [Problem(str(at_once), "expected at least 1")])
    if scheduler and target.in_real_time:
        free = ", ".join(each.name for each in TARGETS.values() if not each.in_real_time)
        problem = Problem(target.name, f"needs ports of this machine; {free} does not")
        raise InputError("--scheduler", [problem])
    return Execution(target, hosts, settings, at_once)
