"""What links do to packets, from a scenario's keys and events to the plan's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from narrows.controller.topology import End
from narrows.testbed.problems import Problem
from narrows.testbed.scenario.impairments import Duplicate, GilbertElliott
from narrows.testbed.scenario.network import Port
from narrows.testbed.scenario.schema import Scenario
from narrows.testbed.scenario.topologies.layout import Layout, LayoutError
from narrows.testbed.scenario.traces import delays

if TYPE_CHECKING:
    from narrows.schema.plan import CablePlan, DelaySteps, ImpairmentConfig


def impair(scenario: Scenario, layout: Layout, planned: CablePlan, directory: Path) -> None:
    """Adds a cable's impairments to its plan, each direction's, where it has any. Delay traces are
    relative to the directory. Raises `LayoutError`.
    """
    a = End(planned["a"]["switch"], planned["a"]["port"])
    far = planned["b"]
    own = layout.ports[a]
    if own.scenario is None or not own.forward:
        return
    b = End(far["switch"], far["port"]) if "switch" in far else None
    traced = steps_of_trace(scenario, own.scenario, directory)
    for key, end in (("there", a), ("back", b)):
        delay = traced or steps_of_events(scenario, layout, a, end, planned["delay_ps"])
        port = layout.ports[end].scenario if end and layout.is_forward(end) else None
        if found := direction(scenario, port, own.scenario, delay):
            planned[key] = found  # type: ignore[literal-required]


def direction(
    scenario: Scenario, port: Port | None, cable: Port, delay: DelaySteps
) -> ImpairmentConfig | None:
    """One direction's impairments: those of its port, if it has keys of its own, and a changing
    delay. Raises `LayoutError`.
    """
    asked = port.impairments() if port else []
    if not asked and len(delay["steps"]) == 1:
        return None
    if port and port.reorder and not any(delay_ps for _, delay_ps in delay["steps"]):
        [key] = [key for key, each in scenario.ports().items() if each is port]
        what = "needs a delay above 0 that packets can skip"
        raise LayoutError([Problem(f"{key}.reorder", what)])
    loss = port.loss if port else None
    duplicate, reorder, jitter = (
        (port.duplicate, port.reorder, port.jitter) if port else (None, None, None)
    )
    return {
        "delay": delay,
        "loss": loss.planned() if isinstance(loss, GilbertElliott) else None,
        "duplicate": duplicate.planned() if isinstance(duplicate, Duplicate) else None,
        "reorder": reorder.planned() if reorder else None,
        "jitter": jitter.planned() if jitter else None,
        "keep_order": (port or cable).keep_order,
    }


def steps_of_trace(scenario: Scenario, cable: Port, directory: Path) -> DelaySteps | None:
    """The delays of a cable's trace, if it has one. Raises `LayoutError`."""
    name = getattr(cable, "delay_trace", None)
    if name is None:
        return None
    [key] = [key for key, each in scenario.ports().items() if each is cable]
    for index, event in enumerate(scenario.event):
        if any(change.delay is not None for _, change in event.set.by_link()):
            what = f"cannot change where {key} has a delay_trace; expected one or the other"
            raise LayoutError([Problem(f"event.{index}.set.delay", what)])
    try:
        return delays.read(directory / name)
    except delays.DelayTraceError as error:
        raise LayoutError([Problem(f"{key}.delay_trace", str(error), name)]) from None


def steps_of_events(
    scenario: Scenario, layout: Layout, near: End, end: End | None, delay_ps: int
) -> DelaySteps:
    """The delays of a link direction by the scenario's events. `near` is the cable's first end,
    `end` the one that the direction leaves, None for hosts.
    """
    steps = {0: delay_ps} | {
        at_ps: changed_ps
        for at_ps, there, is_both, changed_ps in delay_changes(scenario, layout)
        if there == end or (is_both and there == near)
    }
    return {"steps": [[at, delay] for at, delay in sorted(steps.items())], "period_ps": None}


def delay_changes(scenario: Scenario, layout: Layout) -> Iterator[tuple[int, End, bool, int]]:
    """Time, port, whether both directions change, and the new delay, in order of time."""
    for event in sorted(scenario.event, key=lambda event: event.at):
        for name, change in event.set.by_link():
            if change.delay is not None and name in layout.links:
                is_both = name == "bottleneck" and scenario.is_dumbbell
                yield event.at, layout.links[name][0], is_both, change.delay
