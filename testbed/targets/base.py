"""The interfaces of targets and of hosts.

A target runs a scenario's plan: a switch with its ports, under a clock. Hosts provide the TCP at
the plan's ends. Each is one object in its own package and one line of a list in
`narrows.testbed.targets`. The command, the workers and `narrows doctor` use these objects.

Every start of `narrows` loads a package's `__init__.py`, so its methods import what a run needs.
The run itself is in the package's `run.py`.
"""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from narrows.testbed.findings import Finding
from narrows.testbed.problems import InputError, Problem

if TYPE_CHECKING:
    from narrows._engine import Sockets, Watch
    from narrows.schema.plan import Plan
    from narrows.schema.run import Settings
    from narrows.schema.summary import Progress, Summary
    from narrows.testbed.scenario.schema import Scenario

Tell = Callable[["Progress"], bool]
"""Receives the engine's progress; returns False to stop the run."""
SwitchSide = Callable[["Sockets | None", Tell], "Summary"]
"""Runs the plan to its end and returns the summary. Arguments: the engine's `Sockets` of the hosts
(None for our hosts), and the receiver of progress.
"""

TABLES = ("queue", "flows", "packets", "messages", "capture", "links")
"""The keys of a scenario's `[record]`, each a table."""


@dataclass(frozen=True)
class Option:
    """An option of `narrows run` for a single target."""

    flag: str
    help: str
    metavar: str | None = None
    """None for a boolean option (`--flag`, `--no-flag`)."""
    names_hardware: bool = False
    """True if `narrows doctor` accepts it too."""

    @property
    def key(self) -> str:
        """The option's key in the parsed options."""
        return self.flag.removeprefix("--").replace("-", "_")


class Hosts(ABC):
    """The TCP at the ends of a plan."""

    name: ClassVar[str]
    title: ClassVar[str]
    in_kernel: ClassVar[bool] = True
    """True for the kernel's TCP, which needs real time and one device per host."""

    def missing(self) -> list[str]:
        """What this machine lacks for them, each with its remedy."""
        return []

    def problems(self, plan: Plan) -> list[Problem]:
        """Reasons why this machine cannot run a plan with these hosts; empty if it can."""
        return []

    def versions(self) -> dict[str, str]:
        """The versions of external software, for `run.json`."""
        return {}

    @abstractmethod
    def run(self, plan: str, out: Path, progress: Tell, switch_side: SwitchSide) -> Summary:
        """Creates the hosts of a plan (JSON) and runs the switch side with them.

        Leaves the tables and `summary.json` in `out`; returns the summary. Raises what
        `worker_messages.report_errors` knows.
        """


class Target(ABC):
    """Runs plans on one kind of switch."""

    name: ClassVar[str]
    title: ClassVar[str]
    in_real_time: ClassVar[bool] = True
    """True if a run occupies devices of this machine for the scenario's duration. Such runs execute
    one at a time, each in its own process, and only on this machine.
    """
    no_kernel_hosts: ClassVar[str] = ""
    """Why it cannot use the kernel's hosts; empty if it can."""
    records: ClassVar[tuple[str, ...]] = TABLES
    """Tables that it can record."""
    disciplines: ClassVar[tuple[str, ...] | None] = None
    """Queue disciplines that it supports; None means all of the engine's."""
    ip_versions: ClassVar[tuple[int, ...]] = (4, 6)
    """IP versions that it forwards."""
    lacks: ClassVar[tuple[str, ...]] = ()
    """Keys of a port that it does not support."""
    can_watch: ClassVar[bool] = False
    """Whether `run` takes a watcher."""
    no_impairments: ClassVar[str] = ""
    """Why its links have nothing but a fixed delay; empty if they are ours."""
    options: ClassVar[tuple[Option, ...]] = ()

    def missing(self) -> list[str]:
        """What this machine lacks for it, each with its remedy."""
        return []

    def findings(self, options: Mapping[str, Any]) -> list[Finding]:
        """The findings of `narrows doctor`. `options` are its options that name hardware."""
        what = f"target {self.name}"
        return [Finding(what, None, lack) for lack in self.missing()] or [Finding(what, "ready")]

    def settings(self, hosts: Hosts, options: Mapping[str, Any]) -> Settings:
        """The settings of a run besides the plan, from its own `options`. Raises `InputError`."""
        return {}

    def settings_of_each(self, settings: Settings, runs: int) -> Settings:
        """The settings of each of so many runs."""
        return settings

    def ports(self, settings: Settings) -> Sequence[int]:
        """The switch's port numbers for a dumbbell's ports 1, 2 and 3; empty if it keeps these."""
        return ()

    def check(self, scenario: Scenario, source: str, settings: Settings) -> None:
        """Raises `InputError`, naming `source`, for a scenario that it cannot run.

        The base class checks recorded tables and queue disciplines.
        """
        asked = [key for key in scenario.record.model_fields_set if key in TABLES]
        what = f"is not supported by --target {self.name}"
        problems = [
            Problem(f"record.{key}", what)
            for key in asked
            if key not in self.records and getattr(scenario.record, key) not in (False, "off")
        ]
        problems += [
            Problem(f"{key}.{name}", what)
            for key, port in scenario.ports().items()
            for name in self.lacks
            if getattr(port, name)
        ]
        problems += [
            Problem(f"event.{index}.set.{link}.{name}", what)
            for index, event in enumerate(scenario.event)
            for link, change in event.set.by_link()
            for name in self.lacks
            if getattr(change, name, None)
        ]
        if scenario.ip_version not in self.ip_versions:
            problems.append(Problem("ip_version", what, scenario.ip_version))
        if self.no_impairments:
            why = f"{what}: {self.no_impairments}"
            named = {problem.key for problem in problems}
            problems += [Problem(key, why) for key in scenario.impairments() if key not in named]
        if self.disciplines is not None:
            what = f"--target {self.name} supports only {', '.join(self.disciplines)}"
            problems += [
                Problem(f"{key}.discipline", what, port.discipline.name)
                for key, port in scenario.ports().items()
                if port.discipline.name not in self.disciplines
            ]
        if problems:
            raise InputError(source, problems)

    def planned(self, plan: Plan) -> Plan:
        """The plan as a run on it needs it: without change where the switch routes."""
        return plan

    def problems(self, plan: Plan, settings: Settings) -> list[Problem]:
        """Reasons why it cannot run a plan on this machine; empty if it can."""
        return []

    def prepare(self) -> None:
        """Imports what `run` needs. A worker calls it while it waits for its first job."""
        importlib.import_module(f"{type(self).__module__}.run")

    @abstractmethod
    def run(
        self,
        plan: str,
        out: Path,
        progress: Tell,
        settings: Settings,
        sockets: Sockets | None = None,
        watch: Watch | None = None,
    ) -> Summary:
        """Runs a plan (JSON). Leaves the tables and `summary.json` in `out`; returns the summary.

        `settings` come from the method `settings`; `sockets` are the engine's, for hosts in the
        kernel. A target with `can_watch` takes a `watch`, which sees and changes the run; such a
        run has one process. Raises the errors that `worker_messages.report_errors` lists.
        """
