"""The controller of a run on a board. It sets the board up, gives it the scenario's events ahead of
their instants, watches that it answers, and reads its counts.

It runs on a thread of its own, since the hosts use the main one. A board that stops answering ends
the run, and what has been recorded until then is kept.
"""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Final, Self

from narrows.controller.drivers.fpga import FpgaDriver, PassedError
from narrows.controller.drivers.fpga_counts import SPAN, Counts
from narrows.controller.drivers.fpga_protocol import Board, Direction
from narrows.controller.errors import DriverError
from narrows.controller.events import Done
from narrows.schema.units import PS_PER_MS, PS_PER_NS, PS_PER_S
from narrows.testbed.targets.fpga import settings
from narrows.testbed.targets.fpga.clock import Reading, now_ns, read_clock
from narrows.testbed.targets.fpga.collector import ip_of, mac_of
from narrows.testbed.targets.fpga.lab import Lab
from narrows.testbed.targets.fpga.settings import BoardSettings, Limits, board_settings
from narrows.testbed.targets.switch_plan import SwitchPlan

if TYPE_CHECKING:
    from narrows.schema.plan import EventPlan, Plan
    from narrows.schema.run import JsonObject
    from narrows.schema.summary import Progress
    from narrows.schema.switch import DisciplineConfig, QueueLimit
    from narrows.testbed.targets.base import Tell

AHEAD_NS: Final = 50_000_000
"""From the reading of the clock to the start of the run."""
LEAD_S: Final = 0.1
"""How long before its instant the board is given an event, or ..."""
LEAD_PERIODS: Final = 1 << 17
"""... so many clock periods: an answer waits for at most half as many (frame_arbiter.sv)."""
WATCH_S: Final = 1.0
"""How often the board is asked whether it is there."""
POLL_S: Final = 0.05
QUIET_PS: Final = 200 * PS_PER_MS
"""No packet moves if the counts stay as they are for so long."""
DRAIN_PS: Final = 5 * PS_PER_S
"""How long packets may still leave after the run, besides the time that a full queue takes."""


@dataclass
class Found:
    """What the controller found at the board."""

    set: list[JsonObject] = field(default_factory=list)
    """The settings of each port, and the rate in force."""
    done: list[tuple[EventPlan, Done]] = field(default_factory=list)
    """The events that the board took: the instant is that of its clock."""
    at_set_up: dict[int, Counts] = field(default_factory=dict)
    """Each port's counts since reports are collected."""
    before: dict[int, Counts] = field(default_factory=dict)
    """Those when the hosts' ports are up. Opening them may cost an ARP question, and its row."""
    after: dict[int, Counts] = field(default_factory=dict)
    """Empty if the board did not answer at the end."""
    begin: Reading | None = None
    end: Reading | None = None
    """When the hosts had ended, before the last packets left."""
    begin_ns: int = 0
    lost: str | None = None
    """Why the run ended early."""
    latest_ps: dict[int, int] = field(default_factory=dict)
    """By how much the latest frame of each port was late, since the board started."""
    limits: Limits | None = None

    @property
    def begin_ps(self) -> int:
        """The board's time at the start of the run."""
        assert self.begin is not None
        return self.begin.at(self.begin_ns)

    @property
    def drift_ppm(self) -> float:
        """How much faster the board's clock ran than ours, in parts per million; 0 if unknown."""
        return self.end.drift_ppm(self.begin) if self.begin and self.end else 0.0

    def end_ps(self, end_ps: int) -> int:
        """The end of the run by the board's clock, since its start."""
        assert self.end is not None
        return self.end.at(self.begin_ns + end_ps // PS_PER_NS) - self.begin_ps


class Control:
    """The controller of a run, a context manager. Waiting for a step raises its errors."""

    def __init__(self, lab: Lab, plan: Plan, report_port: int, ports: tuple[int, ...]) -> None:
        self.lab, self.plan, self.report_port, self.ports = lab, plan, report_port, ports
        self.switch_plan = SwitchPlan(plan)
        self.found = Found()
        self.settings: BoardSettings | None = None
        self._ready, self._asked, self._read, self._ended = (threading.Event() for _ in range(4))
        self._error: BaseException | None = None
        self._reported_before = 0
        self._thread = threading.Thread(target=self._run, name="controller")

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait()
        self._check()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._asked.set()
        self._ended.set()
        self._thread.join()
        if kind is None:
            self._check()

    def meet(self, rate: int) -> tuple[int, int]:
        """Called by the engine when its ports are up: reads the board's clock, and starts ours."""
        self._asked.set()
        self._read.wait()
        self._check()
        return self.found.begin_ns, rate

    def watched(self, report: Tell) -> Tell:
        """A receiver of progress that ends the run where the board stopped answering."""

        def told(progress: Progress) -> bool | int:
            if self.found.lost is not None:
                return max(int(progress["time_ps"]), 2)
            return report(progress)

        return told  # type: ignore[return-value]

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
            self._read.set()

    async def _control(self) -> None:
        where = self.lab.switch.address
        async with FpgaDriver(where, interface=self.lab.interface) as board:
            await self._set_up(board)
            self._ready.set()
            await asyncio.to_thread(self._asked.wait)
            if self._ended.is_set():
                return
            self.found.before = await self._quiet(board)
            self.found.begin = await read_clock(board)
            self.found.begin_ns = now_ns() + AHEAD_NS
            self._read.set()
            tasks = [asyncio.create_task(self._guarded(work)) for work in (
                self._events(board), self._watch(board),
            )]  # fmt: skip
            await asyncio.to_thread(self._ended.wait)
            for task in tasks:
                task.cancel()
            with suppress(asyncio.CancelledError):
                await asyncio.gather(*tasks)
            if self.found.lost is None:
                await self._guarded(self._finish(board))

    async def _guarded(self, work: asyncio.Future[None] | object) -> None:
        """Does a part of the run. A board that does not answer any more ends the run."""
        try:
            await work  # type: ignore[misc]
        except DriverError as error:
            at_s = max(now_ns() - self.found.begin_ns, 0) * PS_PER_NS / PS_PER_S
            self.found.lost = f"{error}, {at_s:.1f} s after the start of the run"

    async def _set_up(self, board: FpgaDriver) -> None:
        await board.write(Board.REPORT_ENABLE, 0)
        limits = await settings.limits_of(board, self.ports)
        self.found.limits = limits
        self.settings = board_settings(self.plan, self.switch_plan, limits)
        self.found.set = [await settings.apply(board, port) for port in self.settings.ports]
        interface = self.lab.interface
        ip = int.from_bytes(bytes(map(int, ip_of(interface).split("."))), "big")
        await board.faults()
        self._reported_before = await board.read(Board.REPORTED)
        await board.report_to(mac_of(interface), ip, self.report_port, self.ports)
        self.found.at_set_up = await self._quiet(board)

    async def _quiet(self, board: FpgaDriver) -> dict[int, Counts]:
        """The counts of each port once no packet moves, by the board's clock. Raises
        `DriverError`.
        """
        rates = [self.switch_plan.ports[port]["rate_bps"] for port in self.ports]
        slowest_bps = min(filter(None, rates), default=1)
        assert self.found.limits is not None
        room_bytes = max(room["bytes"] for room in self.found.limits.room.values())
        most_ps = DRAIN_PS + 8 * room_bytes * PS_PER_S // slowest_bps
        before, since_ps = None, 0
        start_ps = await board.read(Board.NOW)
        while True:
            now = {port: await board.counts(port) for port in self.ports}
            now_ps = await board.read(Board.NOW)
            if now != before:
                before, since_ps = now, now_ps
            elif now_ps - since_ps >= QUIET_PS:
                return now
            if now_ps - start_ps > most_ps:
                raise DriverError(f"packets still pass {board.address[0]} although no host sends")
            await asyncio.sleep(POLL_S)

    async def _reported(self, board: FpgaDriver) -> None:
        """Returns when the reports of all rows have left the board, or none leaves any more."""
        counts = [self.found.after[port].since(self.found.at_set_up[port]) for port in self.ports]
        rows = sum(each.rows - each.events[Direction.ROWS_LOST] for each in counts)
        until_ps = await board.read(Board.NOW) + DRAIN_PS
        while await board.read(Board.NOW) < until_ps:
            if (await board.read(Board.REPORTED) - self._reported_before) % SPAN >= rows:
                return
            await asyncio.sleep(POLL_S)

    async def _watch(self, board: FpgaDriver) -> None:
        while True:
            await board.read(Board.NOW)
            await asyncio.sleep(WATCH_S)

    async def _finish(self, board: FpgaDriver) -> None:
        self.found.end = await read_clock(board)
        for port in self.ports:
            await board.cancel(port)
        self.found.after = await self._quiet(board)
        await self._reported(board)
        for port in self.ports:
            self.found.latest_ps[port] = await board.register(port, Direction.LATEST_PS)
        await board.write(Board.REPORT_ENABLE, 0)

    async def _events(self, board: FpgaDriver) -> None:
        assert self.found.limits is not None
        lead_ps = max(int(LEAD_S * PS_PER_S), LEAD_PERIODS * self.found.limits.period_ps)
        planned = sorted(self.plan["events"], key=lambda event: int(event["at_ps"]))
        for at_ps, together in groupby(planned, key=lambda event: int(event["at_ps"])):
            events = list(together)
            while (ahead_ns := self.found.begin_ns + (at_ps - lead_ps) // 1000 - now_ns()) > 0:
                await asyncio.sleep(ahead_ns / 1e9)
            by_port = dict[int, dict[str, int]]()
            ports = list[int]()
            for event in events:
                port, changes = await settings.registers(board, event)
                by_port.setdefault(port, {}).update(changes)
                ports.append(port)
            instants = {
                port: await self._schedule(board, port, at_ps, changes)
                for port, changes in by_port.items()
            }
            for event, port in zip(events, ports, strict=True):
                self.found.done.append((event, Done(at_ps, instants[port], in_force(event))))

    async def _schedule(
        self, board: FpgaDriver, port: int, at_ps: int, changes: dict[str, int]
    ) -> int:
        """Gives a port an event's settings; returns when they take effect, since the start."""
        await board.settled(port)
        try:
            instant_ps = await board.schedule(port, self.found.begin_ps + at_ps, **changes)
        except PassedError:
            instant_ps = await board.schedule(port, 0)
        return instant_ps - self.found.begin_ps


def in_force(event: EventPlan) -> int | QueueLimit | DisciplineConfig | None:
    """The value that an event sets, which a board takes as it is."""
    return event.get("rate_bps") or event.get("queue") or event.get("discipline")


def as_json(found: Found) -> JsonObject:
    """The controller's part of `summary.json`: settings, events, and each port's counts."""
    counts = {port: found.after[port].since(found.before[port]) for port in found.after}
    return {
        "set": found.set,
        "events": [asdict(done) for _, done in found.done],
        "queues": [
            {
                "port": port,
                **{f"{kind}{'-' if reason else ''}{reason}": packets
                   for (kind, reason), (packets, _) in one.cells.items()},
                **{event.name.lower(): count for event, count in one.events.items()},
                "latest_ps": found.latest_ps[port],
            }
            for port, one in counts.items()
        ],
    }  # fmt: skip
