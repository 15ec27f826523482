"""The controller of a run on bmv2. It writes program, entries and rates before the run, runs events
during it, and reads counters after it.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from narrows.controller import aqm
from narrows.controller.client import SwitchClient
from narrows.controller.drivers.bmv2 import Bmv2Driver
from narrows.controller.errors import DriverError
from narrows.controller.events import Done, ManagedSwitch, carry_out
from narrows.controller.state import SwitchState
from narrows.controller.switch import IP_TABLES
from narrows.schema.units import PS_PER_NS, PS_PER_S
from narrows.testbed.targets.bmv2.clock import US_NS
from narrows.testbed.targets.bmv2.switch import Bmv2
from narrows.testbed.targets.switch_plan import SwitchPlan

if TYPE_CHECKING:
    from narrows.schema.plan import EventPlan
    from narrows.schema.switch import PortConfig, QueueLimit


DROPS = "NarrowsIngress.count_drops.drops"
RANDOM_LOSS = 5
"""From p4/metadata.p4."""
DELAY_COUNT = "NarrowsEgress.measure_delay.delay_count"
AQM_DROPS = "NarrowsEgress.after_queue.signal.aqm_drops"
MARKS = ("NarrowsEgress.after_queue.signal.aqm_marks", "NarrowsEgress.mark_ecn.ecn_marks")
"""Of a discipline after the queue, and of `ecn_threshold`, which leaves marked packets alone."""
DUPLICATES = "NarrowsIngress.random_duplicate.duplicates"
QUIET_S = 0.1
DRAIN_S = 10.0


@dataclass(frozen=True)
class Shaped:
    """A port's requested and actual rate and queue limit; bmv2 has only whole packets."""

    port: int
    asked_bps: int
    in_force_bps: int
    packet_bytes: int
    asked_queue: QueueLimit
    queue_packets: int

    @property
    def packets_per_s(self) -> int:
        """The rate that bmv2 uses."""
        return self.in_force_bps // (8 * self.packet_bytes)


@dataclass(frozen=True)
class ProgramCounts:
    """The program's counters."""

    dropped: dict[int, int]
    """Dropped in ingress, by reason."""
    of_flows: int
    """Packets of flows that have an entry, before random loss."""
    to_bottleneck: int
    """Of these, packets towards the bottleneck."""
    dequeued: dict[int, int]
    """Packets dequeued and sent, by port."""
    dropped_after_queue: dict[int, int]
    """Packets that a discipline of the program dropped after the queue, by port."""
    marked: dict[int, int]
    """Packets that the program marked, by port."""
    duplicated: dict[int, int]
    """Packets that the program sent twice, by port."""

    @property
    def taken(self) -> int:
        """Packets that reached the program."""
        lost = self.dropped.get(RANDOM_LOSS, 0)
        return self.of_flows + sum(self.dropped.values()) - lost

    def since(self, before: ProgramCounts) -> ProgramCounts:
        """The difference from an earlier reading."""

        def more(here: dict[int, int], there: dict[int, int]) -> dict[int, int]:
            return {key: count - there.get(key, 0) for key, count in here.items()}

        return ProgramCounts(
            more(self.dropped, before.dropped),
            self.of_flows - before.of_flows,
            self.to_bottleneck - before.to_bottleneck,
            more(self.dequeued, before.dequeued),
            more(self.dropped_after_queue, before.dropped_after_queue),
            more(self.marked, before.marked),
            more(self.duplicated, before.duplicated),
        )


class Control:
    """The controller of one bmv2. Methods raise `ControllerError` and `DriverError`."""

    def __init__(self, switch: Bmv2, switch_plan: SwitchPlan) -> None:
        self.switch, self.switch_plan = switch, switch_plan

    def set_up(self) -> dict[int, Shaped]:
        """Pushes the program and the switch's state. Returns the ports with a rate."""

        async def work() -> dict[int, Shaped]:
            async with self._client(push=True) as client:
                state = SwitchState.from_json(self.switch_plan.switch)
                await client.write(aqm.with_copies(aqm.in_longer_ticks(state, US_NS)))
            with closing(self._driver()) as driver:
                found = [
                    await self._shape(driver, port) for port in self.switch_plan.ports.values()
                ]
            return {one.port: one for one in found if one}

        return asyncio.run(work())

    @contextmanager
    def events(self, events: list[EventPlan], begin: Begin) -> Iterator[list[Done]]:
        """Runs events during the run; appends the completed ones to the list."""
        done, failed = list[Done](), list[Exception]()

        async def work() -> None:
            async with self._client() as client:
                with closing(self._driver()) as driver:
                    controlled = {self.switch_plan.name: ManagedSwitch(client, driver)}
                    for event in events:
                        done.extend(await carry_out([event], controlled, begin))

        def on_a_thread() -> None:
            try:
                asyncio.run(work())
            except RunOver:
                return
            except Exception as error:
                failed.append(error)

        thread = threading.Thread(target=on_a_thread)
        if events:
            thread.start()
        try:
            yield done
        finally:
            begin.end()
            if events:
                thread.join()
        if failed:
            raise failed[0]

    def counts(self) -> ProgramCounts:
        """Reads the counters once no packet moves any more."""
        with closing(self._driver()) as driver:
            until, before = time.monotonic() + DRAIN_S, dict[int, int]()
            while before != (
                now := {port: driver.register(DELAY_COUNT, port) for port in self.switch_plan.ports}
            ):
                if time.monotonic() > until:
                    raise DriverError(
                        f"{self.switch_plan.name}: packets still leave {DRAIN_S} s after the run"
                    )
                before = now
                time.sleep(QUIET_S)

        async def work() -> ProgramCounts:
            async with self._client() as client:
                cells = await client.read_counters(DROPS)
                after_queue = await client.read_counters(AQM_DROPS)
                twice = await client.read_counters(DUPLICATES)
                marks = [await client.read_counters(each) for each in MARKS]
                lines = {
                    line: count
                    for tables in IP_TABLES.values()
                    for line, count in (await client.read_entry_counts(tables.flows)).items()
                }
            there = self.switch_plan.flows_to(self.switch_plan.port)
            return ProgramCounts(
                {reason: count.packets for reason, count in cells.items() if count.packets},
                sum(count.packets for count in lines.values()),
                sum(count.packets for line, count in lines.items() if line in there),
                now,
                {port: after_queue[port].packets for port in now},
                {port: sum(cells[port].packets for cells in marks) for port in now},
                {port: twice[port].packets for port in now},
            )

        return asyncio.run(work())

    async def _shape(self, driver: Bmv2Driver, port: PortConfig) -> Shaped | None:
        number, rate_bps, limit = port["port"], port["rate_bps"], port["queue"]
        if rate_bps is None:
            await driver.set_queue_limit(number, limit)
            return None
        in_force = await driver.set_rate(number, rate_bps)
        packets = (await driver.set_queue_limit(number, limit))["packets"]
        return Shaped(number, rate_bps, in_force, driver.packet_bytes, limit, packets)

    def _client(self, *, push: bool = False) -> SwitchClient:
        program = Path(self.switch_plan.switch["program"])
        return SwitchClient(
            self.switch.address,
            p4info=program.with_suffix(".p4info.txtpb") if push else None,
            program=program if push else None,
            device_id=self.switch.device_id,
        )

    def _driver(self) -> Bmv2Driver:
        return self.switch.thrift(self.switch_plan.packet_bytes)


class RunOver(Exception):  # noqa: N818 (no error)
    """The run ended before an event was due."""


class Begin:
    """The clock of events: the engine starts it, and it ends with the run."""

    def __init__(self) -> None:
        self._began = threading.Event()
        self._over = threading.Event()
        self.at_ns = 0

    def begin(self, at_ns: int) -> None:
        """Start of the run, by `CLOCK_MONOTONIC_RAW`."""
        self.at_ns = at_ns
        self._began.set()

    def end(self) -> None:
        """Ends all waiting for events."""
        self._over.set()
        self._began.set()

    def now_ps(self) -> int:
        """Time since the run began."""
        return (time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW) - self.at_ns) * PS_PER_NS

    async def wait_until(self, at_ps: int) -> None:
        """Returns at that time; raises `RunOver` if the run ends first."""
        await asyncio.to_thread(self._began.wait)
        ahead_s = max(at_ps - self.now_ps(), 0) / PS_PER_S
        if await asyncio.to_thread(self._over.wait, ahead_s):
            raise RunOver
