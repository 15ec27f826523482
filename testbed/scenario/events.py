"""Converts a scenario's events to the plan's: operations of the controller at ports, in
base units.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from narrows.controller.state import TableEntry
from narrows.controller.topology import End
from narrows.testbed import catalogue
from narrows.testbed.problems import Problem
from narrows.testbed.scenario.schema import PortChange, Scenario
from narrows.testbed.scenario.topologies.layout import Layout, LayoutError, packets, queue_limit

if TYPE_CHECKING:
    from narrows.schema.plan import EntryOperation, EventPlan, QueueShare
    from narrows.schema.switch import TableEntry as TableEntryPlan


def events(scenario: Scenario, layout: Layout) -> list[EventPlan]:
    """The controller's operations during the run, in order of time. Raises `LayoutError`."""
    planned: list[EventPlan] = []
    state = EventState(scenario, layout)
    indexed = sorted(enumerate(scenario.event), key=lambda pair: pair[1].at)
    for index, event in indexed:
        for name, change in event.set.by_link():
            key = f"event.{index}.set.{name}"
            if name not in layout.links:
                known = [link for link in layout.links if link != "bottleneck"]
                what = catalogue.unknown("link", name, known)
                raise LayoutError([Problem(f"event.{index}.set.link", what, name)])
            there, back = layout.links[name]
            both = name == "bottleneck" and scenario.is_dumbbell
            for end in (there, back) if both else (there,):
                planned += state.apply(event.at, end, change, key)
    return planned


class EntryChange(TypedDict):
    """The write of a table entry."""

    entry: TableEntryPlan
    op: EntryOperation


class EventState:
    """The state of the ports after the previous events."""

    def __init__(self, scenario: Scenario, layout: Layout) -> None:
        self.scenario = scenario
        self.layout = layout
        self.stages = {
            End(switch.name, port.number): dict(port.stages)
            for switch in layout.topology.switches
            for port in switch.ports
        }
        self.rates_bps = {
            end: settings.scenario.rate
            for end, settings in layout.ports.items()
            if settings.scenario
        }

    def shares(self, end: End, change: PortChange, key: str) -> list[QueueShare]:
        """The changes of a port's several queues. Raises `LayoutError` for one that it lacks."""
        own = self.layout.ports[end].scenario
        assert own is not None, "a link's port has settings"
        for index, queue in enumerate(change.queues):
            if queue.queue >= len(own.queues):
                what = f"is not one of the port's {len(own.queues)} queues"
                raise LayoutError([Problem(f"{key}.queues.{index}.queue", what, queue.queue)])
            if queue.weight and own.queues[queue.queue].weight is None:
                what = "the queue has strict priority; expected one with a weight"
                raise LayoutError([Problem(f"{key}.queues.{index}.weight", what, queue.weight)])
        return [
            {"queue": one.queue, "weight": one.weight, "rate_bps": one.rate}
            for one in change.queues
        ]

    def apply(self, at_ps: int, end: End, change: PortChange, key: str) -> list[EventPlan]:
        """The plan's events for one change at one port. Raises `LayoutError`."""
        planned: list[EventPlan] = []
        here: EventPlan = {"at_ps": at_ps, "switch": end.switch}
        if change.rate is not None and self.layout.follows_trace(end):
            what = "the port follows a trace; expected one without"
            raise LayoutError([Problem(f"{key}.rate", what)])
        if change.rate is not None:
            self.rates_bps[end] = change.rate
            planned.append(here | {"port": end.port, "rate_bps": change.rate})
        if change.queue is not None:
            limit = queue_limit(self.layout, end, change.queue, self.rates_bps[end], f"{key}.queue")
            planned.append(here | {"port": end.port, "queue": limit})
        own = self.layout.ports[end].scenario
        if change.discipline is not None:
            if own is not None and own.discipline.is_stage:
                what = f"the port's discipline is a stage of the P4 program, {own.discipline.name}"
                raise LayoutError([Problem(f"{key}.discipline", what)])
            discipline = change.discipline.planned()
            planned.append(here | {"port": end.port, "discipline": discipline})
        planned += [
            here | {"port": end.port, "share": one} for one in self.shares(end, change, key)
        ]
        if not self.layout.ports[end].forward:
            return planned
        stages = self.stages[end]
        rate_bps = self.rates_bps[end]
        assert own is not None, "a port in the data's direction has settings"
        values = change.stage_values(lambda limit: packets(self.scenario, own, limit, rate_bps))
        for stage, value in values.items():
            if value is not None:
                old, new = (
                    stage.entry(end.port, each) if each not in (None, stage.off) else None
                    for each in (stages.get(stage), value)
                )
                if old != new:
                    planned.append({**here, **entry_change(old, new)})
                stages[stage] = value
        return planned


def entry_change(old: TableEntry | None, new: TableEntry | None) -> EntryChange:
    """The write that changes one table entry into another."""
    if new is not None:
        return {"entry": new.as_json(), "op": "modify" if old else "insert"}
    assert old is not None, "one of the two is there"
    return {"entry": old.as_json(), "op": "delete"}
