"""Drives a port in the simulator: frames in, settings, and records of what comes out."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge

from tests.fpga.core import BASES, DROPS, KINDS, LIMITS, MARKS, CoDel, Row, Settings
from tests.fpga.specification import Port

DELAY_PS = 4_000_000
COMMIT_PS = 400_000
"""How long after its request new settings take effect, in these tests."""
SETTINGS = (
    ("rate", 40), ("basis", 2), ("limit_kind", 2), ("limit", 64), ("ecn_enable", 3),
    ("ecn_packets", 64), ("ecn_bytes", 64), ("ecn_time", 64), ("loss_threshold", 54),
    ("loss_set_state", 1), ("loss_state", 256), ("delay", 64), ("codel_enable", 1),
    ("codel_marks", 1), ("codel_target", 44), ("codel_interval", 47), ("codel_mtu", 20),
)  # fmt: skip
"""The fields of `narrows_settings_t` and their widths."""
ROW = (
    ("number", 48), ("at", 64), ("kind", 2), ("reason", 3), ("counted", 17), ("packets", 24),
    ("bytes", 41), ("sojourn", 64),
)  # fmt: skip
"""The fields of `narrows_row_t` and their widths."""


EVENTS = ("is_errored", "is_runt", "is_giant", "row_lost")
LEFT, ROW_TAKEN, OUT_VALID = 16, 32, 64
"""The bits of `happens` in port_top.sv."""


class Sent(NamedTuple):
    """A frame that left, and the time of the cycle that first offered its last word."""

    at_ps: int
    frame: bytes


class Given(NamedTuple):
    """A frame for the input: its words come one after the other, then idle cycles."""

    frame: bytes
    has_error: bool = False
    idle_cycles: int = 0


def packed(settings: Settings, delay_ps: int) -> int:
    """The settings as the bits of `narrows_settings_t`."""
    kind, limit = settings.limit
    packets, bytes_, time_ps = (value or 0 for value in settings.ecn)
    state = sum(word << 64 * n for n, word in enumerate(settings.loss_state))
    codel = settings.codel or CoDel(0, 0)
    values = {
        "rate": settings.rate_bps, "basis": BASES.index(settings.basis),
        "limit_kind": LIMITS.index(kind), "limit": limit,
        "ecn_enable": sum(1 << n for n, value in enumerate(settings.ecn) if value is not None),
        "ecn_packets": packets, "ecn_bytes": bytes_, "ecn_time": time_ps,
        "loss_threshold": settings.loss_threshold, "loss_set_state": int(bool(state)),
        "loss_state": state, "delay": delay_ps, "codel_enable": int(bool(settings.codel)),
        "codel_marks": int(codel.is_marking), "codel_target": codel.target_ps,
        "codel_interval": codel.interval_ps, "codel_mtu": codel.mtu,
    }  # fmt: skip
    bits = 0
    for name, width in SETTINGS:
        bits = bits << width | values[name]
    return bits


def unpacked(bits: int) -> Row:
    """A row from the bits of `narrows_row_t`."""
    values = dict[str, int]()
    for name, width in reversed(ROW):
        values[name] = bits & ((1 << width) - 1)
        bits >>= width
    reasons = {"drop": DROPS, "mark": MARKS}.get(KINDS[values["kind"]])
    return Row(
        values["at"], KINDS[values["kind"]], reasons[values["reason"]] if reasons else "",
        values["number"], values["counted"], values["packets"], values["bytes"], values["sojourn"],
    )  # fmt: skip


@dataclass
class PortBench:
    """A port under test. `start` resets it and begins to watch it."""

    dut: Any
    waiting: deque[Given] = field(default_factory=deque)
    arrived: list[tuple[int, bytes]] = field(default_factory=list)
    """Good frames, each with the time of its last word."""
    changes: list[tuple[int, Settings]] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    sent: list[Sent] = field(default_factory=list)
    events: dict[str, int] = field(default_factory=dict)
    late_ps: list[int] = field(default_factory=list)
    delay_ps: int = DELAY_PS
    period_ps: int = 0

    async def start(self) -> None:
        dut = self.dut
        self.period_ps = int(dut.PERIOD_PS.value)
        for name in ("in_valid", "in_data", "in_keep", "in_last", "in_error", "settings_valid",
                     "settings_at", "settings_bits", "count_read", "count_address"):  # fmt: skip
            getattr(dut, name).value = 0
        dut.out_ready.value = 1
        dut.row_ready.value = 1
        dut.rst.value = 1
        Clock(dut.line_clk, self.period_ps // 2, unit="ps").start()
        Clock(dut.clk, self.period_ps, unit="ps").start()
        await ClockCycles(dut.clk, 12)
        dut.rst.value = 0
        # The counts are cleared, an SDRAM is set up.
        await ClockCycles(dut.clk, 140 + int(dut.SDRAM_REST_CYCLES.value))
        cocotb.start_soon(self._drive())
        cocotb.start_soon(self._watch())

    @property
    def now_ps(self) -> int:
        return int(self.dut.now.value)

    async def set(self, settings: Settings, delay_ps: int | None = None) -> int:
        """New settings; returns the time at which they take effect."""
        if delay_ps is not None:
            self.delay_ps = delay_ps
        at_ps = self.now_ps + COMMIT_PS
        self.dut.settings_at.value = at_ps
        self.dut.settings_bits.value = packed(settings, self.delay_ps)
        self.dut.settings_valid.value = 1
        await RisingEdge(self.dut.clk)
        while not int(self.dut.settings_ready.value):
            await RisingEdge(self.dut.clk)
        self.dut.settings_valid.value = 0
        self.changes.append((at_ps, settings))
        return at_ps

    async def count(self, address: int) -> int:
        """A count of the ledger."""
        self.dut.count_address.value = address
        self.dut.count_read.value = 1
        await RisingEdge(self.dut.clk)
        while not int(self.dut.count_done.value):
            await RisingEdge(self.dut.clk)
        self.dut.count_read.value = 0
        found = int(self.dut.count.value)
        await RisingEdge(self.dut.clk)
        return found

    async def idle(self, frames: int, most_cycles: int = 100_000) -> None:
        """Waits until so many frames have left, and some cycles more."""
        for _ in range(most_cycles):
            await RisingEdge(self.dut.clk)
            if len(self.sent) >= frames and not self.waiting:
                break
        await ClockCycles(self.dut.clk, 200)

    def check_rows(self) -> None:
        """The ledger is the specification's."""
        for row, expected in zip(self.rows, self.specified().rows, strict=False):
            assert row == expected
        assert len(self.rows) == len(self.specified().rows)

    def specified(self) -> Port:
        """What the specification makes of the arrivals and the settings."""
        events: list[tuple[int, int, bytes | Settings]] = [
            *((at, 1, data) for at, data in self.arrived),
            *((at, 0, settings) for at, settings in self.changes),
        ]
        port = Port(Settings(10**9))
        for at_ps, _, what in sorted(events, key=lambda event: event[:2]):
            if isinstance(what, Settings):
                port.set(at_ps, what)
            else:
                port.offer(at_ps, len(what), what[15] & 3 != 0)
        port.run(2**62)
        return port

    async def _drive(self) -> None:
        dut = self.dut
        lanes = len(dut.in_keep)
        while True:
            if not self.waiting:
                await RisingEdge(dut.clk)
                continue
            given = self.waiting.popleft()
            for start in range(0, len(given.frame), lanes):
                word = given.frame[start : start + lanes]
                is_last = start + lanes >= len(given.frame)
                dut.in_data.value = int.from_bytes(word, "little")
                dut.in_keep.value = (1 << len(word)) - 1
                dut.in_last.value = int(is_last)
                dut.in_error.value = int(is_last and given.has_error)
                dut.in_valid.value = 1
                await RisingEdge(dut.clk)
                while not int(dut.in_ready.value):
                    await RisingEdge(dut.clk)
            dut.in_valid.value = 0
            if not given.has_error and 60 <= len(given.frame) <= 1518:
                self.arrived.append((self.now_ps, given.frame))
            if given.idle_cycles:
                await ClockCycles(dut.clk, given.idle_cycles)

    async def _watch(self) -> None:
        dut = self.dut
        last_ps, data = 0, bytearray()
        while True:
            await RisingEdge(dut.clk)
            happens = int(dut.happens.value)
            if not happens:
                continue
            for bit, name in enumerate(EVENTS):
                if happens >> bit & 1:
                    self.events[name] = self.events.get(name, 0) + 1
            if happens & LEFT:
                self.late_ps.append(int(dut.left_late_by.value))
            if happens & ROW_TAKEN:
                self.rows.append(unpacked(int(dut.row_bits.value)))
            if not happens & OUT_VALID:
                continue
            if int(dut.out_last.value):
                last_ps = last_ps or self.now_ps
            if int(dut.out_ready.value):
                keep = int(dut.out_keep.value).bit_length()
                data += int(dut.out_data.value).to_bytes(len(dut.out_keep), "little")[:keep]
                if int(dut.out_last.value):
                    assert (int(dut.violations.value), int(dut.starved.value)) == (0, 0)
                    self.sent.append(Sent(last_ps, bytes(data)))
                    last_ps, data = 0, bytearray()
