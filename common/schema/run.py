"""A run as the testbed's processes exchange it, and as `run.json` stores it.

Some parts are plain JSON because only their writer and named readers know the keys. These are a
scenario as text, a point of a sweep, the options of one target, and what that target found at its
switch.
"""

from __future__ import annotations

from typing import Any, Final, NotRequired, TypedDict

from narrows.schema.summary import Instrument, Progress, Summary
from narrows.schema.switch import QueueLimit

POINTS: Final = "points.json"
"""Names the points of a scenario's latest run in order; it is beside their directories."""

JsonObject = dict[str, Any]
"""An object of plain JSON."""
Settings = JsonObject
"""A target's own keys, passed besides the plan."""


class VirtualClock(TypedDict):
    """The instrument of a run in virtual time, where an event is never late."""

    clock: str
    error_ps: int


class RunRecord(TypedDict):
    """`run.json`: the settings of the run, its environment and validity."""

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
    """The TCP implementation of the hosts."""
    segment_bytes: list[int]
    """Payload bytes of a full segment or datagram, as planned: of each flow, in the plan's order.
    The kernel's TCP can have other segments.
    """
    program: dict[str, str]
    """The P4 program's `sha256`."""
    versions: dict[str, str]
    instrument: NotRequired[Instrument | VirtualClock]
    """Absent before the run, as are the next two."""
    files: NotRequired[dict[str, str]]
    """SHA-256 of each other file of the directory, and of this record without `files`."""
    valid: NotRequired[bool]
    invalid_reason: NotRequired[str | None]


class WorkerJob(TypedDict):
    """A worker's task."""

    plan: str
    """The engine's plan as JSON text."""
    record: RunRecord
    partial: str
    """The directory of the run until it is complete."""
    final: str
    settings: Settings


class WorkerMessage(TypedDict, total=False):
    """A message from a process of a run: one of these."""

    progress: Progress
    summary: Summary
    refused: str
    """Why the engine refused the plan."""
    failed: str
    """Why the run failed."""
    ready: bool
    """All ports have their links."""
    storing: bool
    """The run has ended, and its files go to the disk."""


class TargetInstrument(Instrument, total=False):
    """The instrument of a run on an external switch."""

    switch: JsonObject
    """The error of that switch: its target's own keys."""


class TargetSummary(Summary, total=False):
    """The summary of a run on an external switch."""

    switch: JsonObject
    """What the controller found at the switch: its target's own keys."""


class WatchedPort(TypedDict):
    """A port with a rate, with its counts since the run began."""

    switch: str
    port: int
    rate_bps: int
    queue: QueueLimit
    transmitted_bytes: int
    dropped: int
    marked: int
    waiting_packets: int
    waiting_bytes: int


class WatchView(TypedDict):
    """A run at one instant."""

    time_ps: int
    ports: list[WatchedPort]
    windows_bytes: dict[int, int]
    """The congestion windows of the flows that have rows, by their numbers."""
