"""A run on a Tofino. The controller configures the switch over BfRuntime, runs the plan's events,
and reads the queue counters. The hosts use the cards of `lab.py`.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Self

from narrows.controller.bfrt.client import BfrtClient, BfrtError
from narrows.controller.bfrt.switch import BfrtSwitch
from narrows.controller.drivers.bfrt import BfrtDriver
from narrows.controller.events import ManagedSwitch, WallClock, carry_out
from narrows.controller.state import SwitchState
from narrows.testbed import engine
from narrows.testbed.files import write_summary
from narrows.testbed.targets.base import Tell
from narrows.testbed.targets.dpdk import setup as dpdk
from narrows.testbed.targets.switch_plan import SwitchPlan
from narrows.testbed.targets.tofino.lab import Lab, read
from narrows.testbed.targets.tofino.reports import with_bottleneck

if TYPE_CHECKING:
    from narrows.schema.plan import Plan
    from narrows.schema.run import JsonObject, Settings, TargetSummary

LINK_S = 30.0
"""Time limit for a port's link to come up."""
POLL_S = 0.2


@asynccontextmanager
async def connected(lab: Lab) -> AsyncIterator[ManagedSwitch]:
    """The lab's switch. Raises `BfrtError`."""
    switch = lab.switch
    client = BfrtClient(switch.address, program=switch.program, device_id=switch.device_id)
    async with client:
        yield ManagedSwitch(BfrtSwitch(client, switch.packet), BfrtDriver(client, switch.packet))


async def set_up(tofino: ManagedSwitch, lab: Lab, plan: Plan) -> list[JsonObject]:
    """Configures ports, state, rates and limits of the plan's only switch. Returns the requested
    and actual value of each rate and limit. Raises `DriverError`.
    """
    driver, switch = tofino.driver, tofino.client
    assert isinstance(driver, BfrtDriver)
    assert isinstance(switch, BfrtSwitch)
    for port in lab.sides.values():
        await driver.set_port(port.device_port, port.speed, port.fec)
    [planned] = plan["switches"]
    await switch.make(SwitchState.from_json(planned))
    rounded: list[JsonObject] = []
    for own in planned["config"]["ports"]:
        number, rate_bps = own["port"], own["rate_bps"]
        if rate_bps is None:
            continue
        rate_in_force = await driver.set_rate(number, rate_bps)
        rounded.append({"port": number, "rate_bps": rate_bps, "in_force": rate_in_force})
        limit_in_force = await driver.set_queue_limit(number, own["queue"])
        rounded.append({"port": number, "queue": own["queue"], "in_force": limit_in_force})
    await links(driver, lab)
    return rounded


async def links(driver: BfrtDriver, lab: Lab) -> None:
    """Waits until all links are up. Raises `BfrtError`, naming a port without link."""
    for name, port in lab.sides.items():
        waited_s = 0.0
        while not await driver.port_is_up(port.device_port):
            if waited_s >= LINK_S:
                what = f"{name}: port {port.device_port} has no link after {LINK_S:g} s"
                raise BfrtError(f"{what}: check its cable, speed and fec")
            await asyncio.sleep(POLL_S)
            waited_s += POLL_S


async def queues(tofino: ManagedSwitch, plan: Plan) -> list[JsonObject]:
    """Queue counters of the ports with rates, since the switch started counting."""
    [planned] = plan["switches"]
    return [
        {"port": port["port"], **dataclasses.asdict(await tofino.driver.queue_state(port["port"]))}
        for port in planned["config"]["ports"]
        if port["rate_bps"] is not None
    ]


def since(before: list[JsonObject], after: list[JsonObject]) -> list[JsonObject]:
    """The counters of a run, from two readings; the maximum depth is since the switch started
    counting.
    """
    counts = ("transmitted", "transmitted_bytes", "dropped")
    return [
        now | {count: now[count] - then[count] for count in counts}
        for then, now in zip(before, after, strict=True)
    ]


class Control:
    """The controller of a run, on a separate thread, since the hosts use the main one. It
    configures the switch, runs the scenario's events, and reads the queue counters at the end. A
    context manager; waiting for a step raises its errors.
    """

    def __init__(self, lab: Lab, plan: Plan) -> None:
        self.lab, self.plan = lab, plan
        self.switch_record: JsonObject = {"events": []}
        """The switch's part of `summary.json`."""
        self.cells_per_packet = 1
        self._ready, self._begun, self._ended = (threading.Event() for _ in range(3))
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait()
        self._check()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._begun.set()
        self._ended.set()
        self._thread.join()
        if kind is None:
            self._check()

    def begin(self, _: int) -> None:
        """Called by the engine when its ports are up: starts the clock."""
        self._begun.set()

    def _check(self) -> None:
        if self._error is not None:
            self._thread.join()
            raise self._error

    def _run(self) -> None:
        try:
            asyncio.run(self._control())
        except BaseException as error:
            self._error = error
        finally:
            self._ready.set()

    async def _control(self) -> None:
        async with connected(self.lab) as tofino:
            self.switch_record["set"] = await set_up(tofino, self.lab, self.plan)
            assert isinstance(tofino.driver, BfrtDriver)
            self.cells_per_packet = tofino.driver.cells_per_packet
            before = await queues(tofino, self.plan)
            self._ready.set()
            await asyncio.to_thread(self._begun.wait)
            events = asyncio.create_task(self._events(tofino))
            await asyncio.to_thread(self._ended.wait)
            # Events after the end of the run are not executed.
            if events.done() or not events.cancel():
                events.result()
            self.switch_record["queues"] = since(before, await queues(tofino, self.plan))

    async def _events(self, tofino: ManagedSwitch) -> None:
        switches, clock = {switch["name"]: tofino for switch in self.plan["switches"]}, WallClock()
        for event in sorted(self.plan["events"], key=lambda event: int(event["at_ps"])):
            done = await carry_out([event], switches, clock)
            self.switch_record["events"] += map(dataclasses.asdict, done)


def run(plan_text: str, out: Path, progress: Tell, settings: Settings) -> TargetSummary:
    """Runs a plan on the lab's switch and cards; see `Target.run`."""
    plan = json.loads(plan_text)
    lab, switch_plan = read(Path(settings["lab"])), SwitchPlan(plan)
    devices = lab.devices(plan)
    setup = dpdk.setup(devices.values()).as_text()
    hosts = json.dumps(of_hosts(plan))
    with Control(lab, plan) as control:
        of_hosts_only = engine.run_real_time(
            hosts, str(out), setup, progress, devices=devices, meet=control.begin
        )
    summary = with_bottleneck(
        of_hosts_only, plan, switch_plan, control.switch_record, control.cells_per_packet, out
    )
    write_summary(out, summary)
    return summary


def of_hosts(plan: Plan) -> Plan:
    """The plan for the hosts: without events, which the controller runs. The switch cannot delay
    packets, so the access links add the cable's delay, in both directions.
    """
    delays = {
        cable["b"]["group"]: cable["delay_ps"] for cable in plan["cables"] if "group" in cable["b"]
    }
    hosts = []
    for host in plan["hosts"]:
        access = host["config"]["access"]
        longer = access | {"delay_ps": access["delay_ps"] + delays[host["group"]]}
        hosts.append(host | {"config": host["config"] | {"access": longer}})
    cables = [cable | {"delay_ps": 0} for cable in plan["cables"]]
    return plan | {"events": [], "hosts": hosts, "cables": cables}
