"""A run as the testbed's processes tell one another of it, and as `run.json` keeps it.

What is plain JSON here is so because nobody but its writer and its readers by name knows its keys:
a scenario as text, a point of a sweep, what one target alone is told, what it found at its switch.
"""

from __future__ import annotations

from typing import Any, Final, NotRequired, TypedDict

from narrows.schema.summary import Instrument, Progress, Summary

POINTS: Final = "points.json"
"""Names the points of a scenario's latest run, in its order, beside their directories."""

JsonObject = dict[str, Any]
"""An object of plain JSON."""
Settings = JsonObject
"""What a run's target is told besides the plan: each target's own keys."""


class VirtualClock(TypedDict):
    """The instrument of a run in virtual time, in which an event is never late."""

    clock: str
    error_ps: int


class RunRecord(TypedDict):
    """`run.json`: what was run, and whether it counts."""

    schema: int
    """The record's version, 1."""
    name: str
    """The scenario's name."""
    scenario: JsonObject
    """The point's scenario with its defaults, quantities as text."""
    point: JsonObject
    """The swept keys with this run's values."""
    seed: int
    target: str
    hosts: str
    """Whose TCP the hosts have."""
    program: dict[str, str]
    """The P4 program's `sha256`."""
    versions: dict[str, str]
    instrument: NotRequired[Instrument | VirtualClock]
    """Absent before the run, as are the two below."""
    files: NotRequired[dict[str, str]]
    """SHA-256 of each other file of the directory, and of this record without `files`."""
    valid: NotRequired[bool]
    invalid_reason: NotRequired[str | None]


class WorkerJob(TypedDict):
    """What a worker is told to do."""

    plan: str
    """The engine's plan as JSON text."""
    record: RunRecord
    partial: str
    """Where the run is written until it is complete."""
    final: str
    settings: Settings


class WorkerMessage(TypedDict, total=False):
    """What a process of a run says: one of these."""

    progress: Progress
    summary: Summary
    refused: str
    """Why the engine refused the plan."""
    failed: str
    """Why the run failed."""
    ready: bool
    """The ports have their links."""


class TargetInstrument(Instrument, total=False):
    """The instrument of a run on somebody else's switch."""

    switch: JsonObject
    """How far that switch was off: its target's own keys."""


class TargetSummary(Summary, total=False):
    """The summary of a run on somebody else's switch."""

    switch: JsonObject
    """What the controller found at it: its target's own keys."""
