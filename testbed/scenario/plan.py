"""A scenario's point as the engine's plan: everything resolved, base units only, no defaults.

The plan is JSON (`engine/src/plan.rs` reads it). A flow's null is its profile's value.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from narrows.controller.switch import switch_state
from narrows.controller.topology import Address, End
from narrows.schema.units import PS_PER_S
from narrows.testbed import catalogue
from narrows.testbed.paths import PROGRAM
from narrows.testbed.problems import InputError, Problem
from narrows.testbed.scenario.events import events
from narrows.testbed.scenario.flows import App, Flow
from narrows.testbed.scenario.network import Access, Port, PortQueue
from narrows.testbed.scenario.packets import payload_bytes
from narrows.testbed.scenario.schema import Scenario
from narrows.testbed.scenario.topologies.dumbbell import Dumbbell
from narrows.testbed.scenario.topologies.layout import Layout, LayoutError, PlacedFlow, queue_limit
from narrows.testbed.scenario.topologies.link_impairments import impair
from narrows.testbed.scenario.topologies.own_topology import OwnTopology
from narrows.testbed.scenario.topologies.parking_lot import ParkingLot
from narrows.testbed.scenario.traces import links, packets
from narrows.testbed.scenario.traces.links import LinkTrace
from narrows.testbed.scenario.values import in_base_units

if TYPE_CHECKING:
    from narrows.schema.flow import App as AppPlan
    from narrows.schema.flow import Endpoint, FlowConfig, LinkConfig, Spacing
    from narrows.schema.plan import (
        CablePlan,
        FlowPlan,
        HostPlan,
        Limits,
        Plan,
        PortName,
        SwitchPlan,
    )
    from narrows.schema.switch import PortConfig, QueueConfig

SCHEMA = 1


def program_path(scenario: Scenario, source: str) -> Path:
    """The P4 program of a scenario read from the file `source`."""
    if scenario.program is None:
        return PROGRAM
    return (Path(source).parent / scenario.program).resolve()


def make_plan(scenario: Scenario, source: str, numbers: Sequence[int] = ()) -> Plan:
    """The plan of one point; `numbers` as in `lay_out`. Raises `InputError`, naming the file, if
    parts are inconsistent.
    """
    return laid_out_plan(scenario, source, numbers)[1]


def laid_out_plan(
    scenario: Scenario, source: str, numbers: Sequence[int] = ()
) -> tuple[Layout, Plan]:
    """The layout of one point and its plan, as `make_plan`. Raises `InputError`."""
    try:
        layout = lay_out(scenario, numbers)
        return layout, plan_of(scenario, layout, source)
    except LayoutError as error:
        raise InputError(source, error.problems) from None


def plan_of(scenario: Scenario, layout: Layout, source: str) -> Plan:
    """The plan of a point that has been laid out. Raises `LayoutError`."""
    between = cables(scenario, layout, Path(source).parent)
    return {
        "schema": SCHEMA,
        "seed": scenario.seed,
        "duration_ps": None if scenario.duration == "completion" else scenario.duration,
        "limit_ps": scenario.limit,
        "switches": switches(scenario, layout, source),
        "groups": list(layout.groups),
        "cables": between,
        "hosts": hosts(layout),
        "flows": flows(scenario, layout, Path(source).parent),
        "events": events(scenario, layout),
        "bottleneck": as_json(layout.bottleneck),
        "reverse": reverse(scenario, layout),
        "record": {
            "queue": scenario.record.queue in (True, "both"),
            "packets": scenario.record.packets,
            "flows": scenario.record.flows != "off",
            "messages": scenario.record.messages,
            "capture": scenario.record.capture,
            "links": scenario.record.links
            and any(cable.get("there") or cable.get("back") for cable in between),
        },
        "instrument": cast("Limits", in_base_units(scenario.instrument)),
    }


def lay_out(scenario: Scenario, numbers: Sequence[int] = ()) -> Layout:
    """Builds the layout. `numbers` replace a dumbbell's port numbers 1, 2 and 3. Raises
    `LayoutError`.
    """
    if scenario.is_dumbbell:
        return Dumbbell(scenario, numbers).layout()
    if scenario.parking_lot:
        return ParkingLot(scenario).layout()
    return OwnTopology(scenario).layout()


def expected_ps(scenario: Scenario, plan: Plan) -> int:
    """Approximate duration of the run in simulated picoseconds, for the progress bar only."""
    if scenario.duration != "completion":
        return int(scenario.duration)
    apps = [flow["flow"]["app"] for flow in plan["flows"]]
    size_bytes = sum(app["bytes"] or 0 for app in apps if "bytes" in app)
    rates = [
        port["rate_bps"]
        for switch in plan["switches"]
        for port in switch["config"]["ports"]
        if port["rate_bps"]
    ]
    return int(size_bytes * 8 * PS_PER_S * 1.04 / min(rates)) + PS_PER_S // 10


def switches(scenario: Scenario, layout: Layout, source: str) -> list[SwitchPlan]:
    """Every switch: its program, its ports, and the controller's state."""
    planned: list[SwitchPlan] = []
    program, directory = str(program_path(scenario, source)), Path(source).parent
    for switch in layout.topology.switches:
        state = switch_state(layout.topology, layout.routes, switch)
        ends = [End(switch.name, port.number) for port in switch.ports]
        ports = [port(scenario, layout, end, directory) for end in ends]
        planned.append(
            {
                "name": switch.name,
                "program": program,
                "config": {
                    "timestamp_unit": "ns",
                    "flow_field": "meta.flow_id",
                    "record_queue": any(one["record"] for one in ports),
                    "ports": ports,
                },
                "entries": [entry.as_json() for entry in state.entries],
                "clone_sessions": [session.as_json() for session in state.clone_sessions],
                "multicast_groups": [group.as_json() for group in state.multicast_groups],
                "registers": [cell.as_json() for cell in state.registers],
            }
        )
    return planned


def port(scenario: Scenario, layout: Layout, end: End, directory: Path) -> PortConfig:
    """A port's traffic manager. A port towards hosts or the collector has no rate limit. Traces are
    relative to the scenario's directory.
    """
    settings = layout.ports[end]
    own = settings.scenario
    if own is None:
        return {
            "port": end.port,
            "rate_bps": None,
            "queue": {"packets": 1000},
            "counts": "frame",
            "queues": 1,
            "record": False,
        }
    is_recorded = scenario.record.both_directions or settings.forward
    classes = [queue_class(layout, end, own, queue) for queue in own.queues]
    if settings.forward:
        classes = classes or own.discipline.queues()
    trace = link_trace(layout, end, directory)
    return {
        "port": end.port,
        "rate_bps": trace.mean_bps if trace else own.rate,
        "trace": trace.planned() if trace else None,
        "queue": queue_limit(layout, end, own.queue, own.rate, "queue"),
        "discipline": own.discipline.planned(),
        "counts": own.counts,
        "queues": max(len(classes), 1),
        "classes": classes,
        "record": is_recorded and scenario.record.queue is not False,
    }


def link_trace(layout: Layout, end: End, directory: Path) -> LinkTrace | None:
    """The trace that a port follows. Raises `LayoutError` if it cannot be read."""
    if not layout.follows_trace(end):
        return None
    own = layout.ports[end].scenario
    assert own is not None and own.trace is not None, "such a port has a trace"
    try:
        return links.read(directory / own.trace)
    except links.LinkTraceError as error:
        raise LayoutError([Problem("trace", str(error), own.trace)]) from None


def queue_class(layout: Layout, end: End, port: Port, queue: PortQueue) -> QueueConfig:
    """One of a port's several queues. A limit in time or BDPs is of the queue's own rate."""
    rate_bps = min(queue.rate or port.rate, port.rate)
    return {
        "dscp": queue.dscp,
        "weight": queue.weight,
        "rate_bps": queue.rate,
        "limit": None
        if queue.queue is None
        else queue_limit(layout, end, queue.queue, rate_bps, "queues.queue"),
        "discipline": None if queue.discipline is None else queue.discipline.planned(),
    }


def reverse(scenario: Scenario, layout: Layout) -> PortName | None:
    """The bottleneck's other direction, if it is recorded."""
    if not scenario.record.both_directions:
        return None
    _, back = layout.links["bottleneck"]
    return as_json(back)


def cables(scenario: Scenario, layout: Layout, directory: Path) -> list[CablePlan]:
    """The cables between ports. Delay traces are relative to the scenario's directory."""
    planned: list[CablePlan] = [
        {"a": as_json(cable.a), "b": as_json(cable.b), "delay_ps": cable.delay_ps}
        for cable in layout.topology.cables
    ]
    for group, (end, delay_ps) in layout.groups.items():
        planned.append({"a": as_json(end), "b": {"group": group}, "delay_ps": delay_ps})
    for cable in planned:
        impair(scenario, layout, cable, directory)
    planned += [
        {"a": as_json(collector.at), "b": {"collector": True}, "delay_ps": 0}
        for collector in layout.topology.collectors
    ]
    return planned


def as_json(end: End) -> PortName:
    """A port's name."""
    return {"switch": end.switch, "port": end.port}


RECONSTRUCTIONS: dict[bool | str, Spacing | None] = {
    False: None,
    True: "even",
    "adaptive": "adaptive",
}
"""The mode of ACK reconstruction, from the scenario's value."""


def hosts(layout: Layout) -> list[HostPlan]:
    """Every host with its addresses and its access link."""
    planned: list[HostPlan] = []
    # Many hosts have the same access.
    accesses = {id(placed.access): placed.access for placed in layout.hosts}
    own_links = {number: access_link(access) for number, access in accesses.items()}
    for placed in layout.hosts:
        host, access = placed.host, placed.access
        gateway = layout.topology.by_name[host.at.switch].port(host.at.port)
        planned.append(
            {
                "group": placed.group,
                "config": {
                    "name": host.name,
                    "mac": mac_text(host.mac),
                    "ip": str(host.ip),
                    "gateway_mac": mac_text(gateway.mac),
                    "access": own_links[id(access)],
                    "reconstructs_acks": RECONSTRUCTIONS[access.reconstruct_acks],
                },
            }
        )
    return planned


def access_link(access: Access) -> LinkConfig:
    """A host's own link. Raises `LayoutError`."""
    try:
        queue_packets = access.queue_packets
    except ValueError as error:
        raise LayoutError([Problem("access", str(error))]) from None
    same = in_base_units(access, frozenset(("queue", "counts", "reconstruct_acks")))
    return cast("LinkConfig", {**same, "queue_packets": queue_packets, "counts": access.counts})


def flows(scenario: Scenario, layout: Layout, directory: Path) -> list[FlowPlan]:
    """Every connection; paths are relative to the scenario's directory. Raises `LayoutError` if a
    run to completion would never end.
    """
    endless = [placed for placed in layout.flows if not placed.settings.app.is_finite]
    if scenario.duration == "completion" and len(endless) == len(layout.flows):
        what = 'no flow ever finishes: give an app an end, bytes = "20000KB" or messages = 100'
        raise LayoutError([Problem("duration", what, "completion")])
    # Many connections have the same settings.
    settings = {id(placed.settings): placed.settings for placed in layout.flows}
    shared = {number: flow_keys(scenario, each, directory) for number, each in settings.items()}
    return [flow(placed, shared[id(placed.settings)]) for placed in layout.flows]


RESOLVED = frozenset(
    (
        "transport", "variant", "recovery", "profile", "name", "count", "from_", "to", "delay",
        "reverse", "link", "start", "app",
    )
)  # fmt: skip
"""Keys of a flow that the plan resolves. The other keys are copied, in base units."""


def flow(placed: PlacedFlow, keys: dict[str, Any]) -> FlowPlan:
    """One connection. `keys` are those of all connections with its settings."""
    network = placed.flow
    flow = {
        "id": network.id,
        "source": endpoint(network.source.ip, network.source_port),
        "destination": endpoint(network.destination.ip, network.destination_port),
        "start_ps": placed.start_ps,
        **keys,
    }
    return {
        "from": network.source.name,
        "to": network.destination.name,
        "flow": cast("FlowConfig", flow),
    }


def flow_keys(scenario: Scenario, settings: Flow, directory: Path) -> dict[str, Any]:
    """The keys of a connection that follow from its settings alone."""
    profile = scenario.profile_of(settings)
    recorded = scenario.record.flows
    return {
        "variant": settings.variant,
        "recovery": settings.recovery or catalogue.default_recovery(settings.variant, profile),
        "profile": profile,
        **in_base_units(settings, RESOLVED),
        "window_bytes": window_bytes(settings, profile, scenario.ip_version),
        "app": application(settings.app, directory),
        "record": recorded if isinstance(recorded, str) else {"interval_ps": recorded},
    }


def endpoint(ip: Address, port: int) -> Endpoint:
    """One end of a flow."""
    return {"ip": str(ip), "port": port}


def application(app: App, directory: Path) -> AppPlan:
    """The sender's application, with only the given keys, by their names in a plan. Raises
    `LayoutError`.
    """
    planned: dict[str, Any] = {"kind": app.kind} | (
        {} if app.bytes is None else {"bytes": app.bytes}
    )
    for name, value in (app.model_extra or {}).items():
        key = app.keys[name]
        planned[key["plan"]] = value
        if key["unit"] == "trace":
            try:
                planned[key["plan"]] = packets.read(directory / value)
            except packets.TraceError as error:
                raise LayoutError([Problem(f"flow.app.{name}", str(error), value)]) from None
    return cast("AppPlan", planned)


def window_bytes(settings: Flow, profile: str, version: int) -> int | None:
    """The receive window; packets are segments of the flow's or the profile's size."""
    if settings.window is None:
        return None
    record = catalogue.profile(profile)
    stamped = record["timestamps"] if settings.timestamps is None else settings.timestamps
    segment_bytes = payload_bytes(
        settings.variant, record, settings.segment, stamped=stamped, version=version
    )
    return settings.window.as_bytes(segment_bytes)


def mac_text(mac: int) -> str:
    """`02:00:00:00:00:01`."""
    return mac.to_bytes(6, "big").hex(":")
