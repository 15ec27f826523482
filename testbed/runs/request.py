"""The arguments of `narrows run`. This module imports little, since the first worker starts before
the rest loads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

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
