"""What a target is, and what hosts are.

A target is what a scenario's plan runs on: a switch with its ports, under a clock. Hosts are whose
TCP is at the plan's ends. Each is one object in a package of its own and one line of a list in
`narrows.testbed.targets`; the command, the workers and `narrows doctor` ask these objects.

A package's `__init__.py` is loaded at every start of `narrows`, so it imports what a run needs
inside its methods. The run itself is in the package's `run.py`.
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
    from narrows.schema.plan import Plan
    from narrows.schema.run import Settings
    from narrows.schema.summary import Progress, Summary
    from narrows.testbed.scenario.schema import Scenario

Tell = Callable[["Progress"], bool]
"""Takes the engine's progress; False stops the run."""
SwitchSide = Callable[[Any, Tell], "Summary"]
"""Runs the plan to its end and returns the summary. It is given the hosts' `Sockets` of the engine,
None for our own hosts, and whom to tell its progress.
"""

TABLES = ("queue", "flows", "packets", "messages", "capture")
"""The keys of a scenario's `[record]`, each a table."""


@dataclass(frozen=True)
class Option:
    """An option of `narrows run` that only one target has."""

    flag: str
    help: str
    metavar: str | None = None
    """None for an option that is on (`--flag`) or off (`--no-flag`)."""
    names_hardware: bool = False
    """True where `narrows doctor` needs it too."""

    @property
    def key(self) -> str:
        """The option's key among the options given."""
        return self.flag.removeprefix("--").replace("-", "_")


class Hosts(ABC):
    """Whose TCP is at the ends of a plan."""

    name: ClassVar[str]
    title: ClassVar[str]
    in_kernel: ClassVar[bool] = True
    """False for the engine's own. The kernel's TCP is in real time, and each host has a device."""

    def missing(self) -> list[str]:
        """What this machine lacks for them, each with what mends it."""
        return []

    def problems(self, plan: Plan) -> list[Problem]:
        """Why a plan's hosts cannot be these on this machine; empty when they can."""
        return []

    def versions(self) -> dict[str, str]:
        """The versions of what is not part of Narrows, for `run.json`."""
        return {}

    @abstractmethod
    def run(self, plan: str, out: Path, progress: Tell, switch_side: SwitchSide) -> Summary:
        """Makes the hosts of a plan (JSON) and has the switch side run it with them.

        Leaves the tables and `summary.json` in `out`; returns the summary. Raises what
        `worker_messages.reported` knows.
        """


class Target(ABC):
    """What a plan runs on."""

    name: ClassVar[str]
    title: ClassVar[str]
    in_real_time: ClassVar[bool] = True
    """True where a run takes this machine's devices for as long as its scenario lasts. Such runs go
    one at a time, each in a process of its own, and not on another machine.
    """
    no_kernel_hosts: ClassVar[str] = ""
    """Why its hosts cannot be the kernel's; empty where they can."""
    records: ClassVar[tuple[str, ...]] = TABLES
    """The tables that it can record."""
    disciplines: ClassVar[tuple[str, ...] | None] = None
    """The queue disciplines that it has; None: the engine's."""
    options: ClassVar[tuple[Option, ...]] = ()

    def missing(self) -> list[str]:
        """What this machine lacks for it, each with what mends it."""
        return []

    def findings(self, options: Mapping[str, Any]) -> list[Finding]:
        """What `narrows doctor` says of it. `options` are its own that name hardware."""
        what = f"target {self.name}"
        return [Finding(what, None, lack) for lack in self.missing()] or [Finding(what, "ready")]

    def settings(self, hosts: Hosts, options: Mapping[str, Any]) -> Settings:
        """What a run of it is told besides the plan. `options` are its own. Raises `InputError`."""
        return {}

    def ports(self, settings: Settings) -> Sequence[int]:
        """The switch's numbers of a dumbbell's ports 1, 2 and 3; empty where these are free."""
        return ()

    def check(self, scenario: Scenario, source: str, settings: Settings) -> None:
        """Raises `InputError` that names `source` for a scenario that it cannot run.

        Here: one that asks for a table that it cannot record, or a discipline that it lacks.
        """
        asked = [key for key in scenario.record.model_fields_set if key in TABLES]
        what = f"is not recorded by --target {self.name}"
        problems = [
            Problem(f"record.{key}", what)
            for key in asked
            if key not in self.records and getattr(scenario.record, key) not in (False, "off")
        ]
        if self.disciplines is not None:
            what = f"--target {self.name} has {', '.join(self.disciplines)} only"
            problems += [
                Problem(f"{key}.discipline", what, port.discipline.name)
                for key, port in scenario.ports().items()
                if port.discipline.name not in self.disciplines
            ]
        if problems:
            raise InputError(source, problems)

    def prepare(self) -> None:
        """Imports what `run` needs. A worker does so before it has a job."""
        importlib.import_module(f"{type(self).__module__}.run")

    @abstractmethod
    def run(
        self, plan: str, out: Path, progress: Tell, settings: Settings, sockets: Any = None
    ) -> Summary:
        """Runs a plan (JSON). Leaves the tables and `summary.json` in `out`; returns the summary.

        `settings` are those of `settings`, `sockets` the engine's for hosts in the kernel. Raises
        what `worker_messages.reported` knows.
        """
