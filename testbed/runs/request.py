"""What `narrows run` is asked for. It imports little: the first worker starts before the rest."""

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
    """A scenario's points on a target."""

    scenario: Path
    """The scenario's file."""
    overrides: Sequence[str]
    """`KEY=VALUE`, each sets a key of the scenario."""
    seed: int | None
    """The first seed; None: the scenario's."""
    target: Target
    hosts: Hosts
    settings: Settings
    """The target's."""
    out: Path
    at_once: int
    """Runs at a time."""
    scheduler: str | None
    """The address of a Dask scheduler; None: this machine."""
    resume: bool
    """True: finished runs that are the same stay."""
    quiet: bool = False
    """True: no progress is shown."""
