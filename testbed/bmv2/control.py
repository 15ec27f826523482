"""The controller's part of a run on bmv2: program, entries and rates before it, events during it,
counts after it.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from controller.client import SwitchClient
from controller.drivers import DriverError
from controller.drivers.bmv2 import Bmv2Driver
from controller.events import Controlled, Done, carry_out
from controller.state import SwitchState
from testbed.bmv2.switch import Bmv2

Json = dict[str, Any]

DROPS = "NarrowsIngress.count_drops.drops"
RANDOM_LOSS = 5
"""Of p4/metadata.p4."""
FLOWS = "NarrowsIngress.identify_flow.flow"
DELAY_COUNT = "NarrowsEgress.measure_delay.delay_count"
QUIET_S = 0.1
DRAIN_S = 10.0
PS_PER_NS = 1000


@dataclass(frozen=True)
class Shaped:
    """What became of a port's rate and queue limit: bmv2 has whole packets only."""

    port: int
    asked_bps: int
    in_force_bps: int
    packet_bytes: int
    asked_queue: Json
    queue_packets: int

    @property
    def packets_per_s(self) -> int:
        """The rate as bmv2 has it."""
        return self.in_force_bps // (8 * self.packet_bytes)


@dataclass(frozen=True)
class Counts:
    """What the program has counted."""

    dropped: dict[int, int]
    """By ingress, by reason."""
    of_flows: int
    """Packets of flows that have an entry, both ways, before random loss."""
    dequeued: dict[int, int]
    """Packets that left their queues, by port."""


class Control:
    """The controller of one bmv2. Methods raise `ControllerError` and `DriverError`."""

    def __init__(self, switch: Bmv2, plan: Json, packet_bytes: int) -> None:
        self.switch, self.plan, self.packet_bytes = switch, plan, packet_bytes
        self.ports = [port["port"] for port in plan["config"]["ports"]]

    def set_up(self) -> list[Shaped]:
        """Pushes the program and all that belongs on the switch; the ports that have a rate."""

        async def work() -> list[Shaped]:
            async with self._client(push=True) as client:
                await client.write(SwitchState.from_json(self.plan))
            with closing(self._driver()) as driver:
                return [
                    shaped
                    for port in self.plan["config"]["ports"]
                    if (shaped := await self._shape(driver, port))
                ]

        return asyncio.run(work())

    @contextmanager
    def events(self, events: list[Json], begin: Begin) -> Iterator[list[Done]]:
        """Carries events out while the run goes on; those done are in the list afterwards."""
        done, failed = list[Done](), list[Exception]()

        async def work() -> None:
            async with self._client() as client:
                with closing(self._driver()) as driver:
                    controlled = {self.plan["name"]: Controlled(client, driver)}
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

    def counts(self) -> Counts:
        """What was counted, once no packet moves any more."""
        with closing(self._driver()) as driver:
            until, before = time.monotonic() + DRAIN_S, list[int]()
            while (
                dequeued := [driver.register(DELAY_COUNT, port) for port in self.ports]
            ) != before:
                if time.monotonic() > until:
                    raise DriverError(f"{self.plan['name']}: packets still leave after {DRAIN_S} s")
                before = dequeued
                time.sleep(QUIET_S)

        async def work() -> Counts:
            async with self._client() as client:
                cells = await client.read_counters(DROPS)
                flows = await client.read_entry_counts(FLOWS)
            dropped = {reason: count.packets for reason, count in cells.items() if count.packets}
            of_flows = sum(count.packets for count in flows.values())
            return Counts(dropped, of_flows, dict(zip(self.ports, dequeued, strict=True)))

        return asyncio.run(work())

    async def _shape(self, driver: Bmv2Driver, port: Json) -> Shaped | None:
        number, rate_bps, limit = port["port"], port["rate_bps"], port["queue"]
        if rate_bps is None:
            await driver.set_queue_limit(number, limit)
            return None
        in_force = await driver.set_rate(number, rate_bps)
        packets = (await driver.set_queue_limit(number, limit))["packets"]
        return Shaped(number, rate_bps, in_force, self.packet_bytes, limit, packets)

    def _client(self, *, push: bool = False) -> SwitchClient:
        program = Path(self.plan["program"])
        return SwitchClient(
            self.switch.address,
            p4info=program.with_suffix(".p4info.txtpb") if push else None,
            program=program if push else None,
            device_id=self.switch.device_id,
        )

    def _driver(self) -> Bmv2Driver:
        return self.switch.thrift(self.packet_bytes)


class RunOver(Exception):  # noqa: N818 (no error)
    """The run has ended before an event was due."""


class Begin:
    """The run's clock for events: begins when the engine says so, ends with the run."""

    def __init__(self) -> None:
        self._began = threading.Event()
        self._over = threading.Event()
        self.at_ns = 0

    def begin(self, at_ns: int) -> None:
        """The run's zero, by `CLOCK_MONOTONIC_RAW`."""
        self.at_ns = at_ns
        self._began.set()

    def end(self) -> None:
        """No event is waited for any longer."""
        self._over.set()
        self._began.set()

    def now_ps(self) -> int:
        """Time since the run began."""
        return (time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW) - self.at_ns) * PS_PER_NS

    async def wait_until(self, at_ps: int) -> None:
        """Returns at that time; raises `RunOver` when the run ends before."""
        await asyncio.to_thread(self._began.wait)
        ahead_s = max(at_ps - self.now_ps(), 0) / 1e12
        if await asyncio.to_thread(self._over.wait, ahead_s):
            raise RunOver
