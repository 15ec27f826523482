"""The model of the decision core from Python, by the functions of fpga/model/core.h."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from narrows.testbed.targets.rtl.library import library

FATES = ("sent", "dropped", "diverted")
KINDS = ("enqueue", "dequeue", "drop", "mark")
DROPS = ("queue-full", "egress-program", "random-loss", "memory-full", "codel")
MARKS = ("threshold-packets", "threshold-bytes", "threshold-time", "codel")
BASES = ("ip", "frame", "wire")
LIMITS = ("packets", "bytes", "time_ps")


class Row(NamedTuple):
    """A row of the ledger."""

    at_ps: int
    kind: str
    reason: str
    number: int
    counted: int
    packets: int
    bytes: int
    sojourn_ps: int


@dataclass(frozen=True)
class CoDel:
    """CoDel's settings at a core."""

    target_ps: int
    interval_ps: int
    mtu: int = 1514
    is_marking: bool = False


@dataclass
class Settings:
    """The settings of a core."""

    rate_bps: int
    limit: tuple[str, int] = ("bytes", 2**63)
    basis: str = "frame"
    ecn: tuple[int | None, int | None, int | None] = (None, None, None)
    """Thresholds of packets, bytes and picoseconds; None is not in force."""
    loss_threshold: int = 0
    loss_state: tuple[int, ...] = field(default=())
    codel: CoDel | None = None


class _Settings(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_uint64) for name in (
            "rate_bps", "limit", "ecn_packets", "ecn_bytes", "ecn_time_ps", "loss_threshold",
        )),
        ("loss_state", ctypes.c_uint64 * 4),
        ("codel_target_ps", ctypes.c_uint64), ("codel_interval_ps", ctypes.c_uint64),
        ("codel_mtu", ctypes.c_uint32),
        *((name, ctypes.c_uint8) for name in (
            "basis", "limit_kind", "ecn_enable", "loss_set_state", "codel_enable", "codel_marks",
        )),
    ]  # fmt: skip


class _Row(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_uint64) for name in ("number", "at_ps", "bytes", "sojourn_ps")),
        *((name, ctypes.c_uint32) for name in ("packets", "counted")),
        *((name, ctypes.c_uint8) for name in ("kind", "reason")),
    ]


class Dequeued(ctypes.Structure):
    """A packet that left the queue."""

    _fields_ = [
        ("number", ctypes.c_uint64), ("at_ps", ctypes.c_uint64), ("is_marked", ctypes.c_uint8),
    ]  # fmt: skip


@cache
def _loaded() -> ctypes.CDLL:
    loaded = ctypes.CDLL(str(library()))
    loaded.core_new.restype = ctypes.c_void_p
    loaded.core_error.restype = ctypes.c_char_p
    loaded.core_cycles.restype = ctypes.c_uint64
    return loaded


class Core:
    """One port's queue and serializer."""

    def __init__(self) -> None:
        self._library = _loaded()
        self._core = ctypes.c_void_p(self._library.core_new())

    def __del__(self) -> None:
        self._library.core_free(self._core)

    def _call(self, name: str, *arguments: object) -> int:
        done: int = getattr(self._library, f"core_{name}")(self._core, *arguments)
        if done < 0:
            raise RuntimeError(self._library.core_error(self._core).decode())
        return done

    def set(self, at_ps: int, settings: Settings) -> None:
        """Settings take effect."""
        kind, limit = settings.limit
        packets, bytes_, time_ps = (value or 0 for value in settings.ecn)
        enable = sum(1 << bit for bit, value in enumerate(settings.ecn) if value is not None)
        state = (ctypes.c_uint64 * 4)(*settings.loss_state)
        codel = settings.codel or CoDel(0, 0)
        given = _Settings(
            settings.rate_bps, limit, packets, bytes_, time_ps, settings.loss_threshold, state,
            codel.target_ps, codel.interval_ps, codel.mtu,
            BASES.index(settings.basis), LIMITS.index(kind), enable, bool(settings.loss_state),
            bool(settings.codel), codel.is_marking,
        )  # fmt: skip
        self._call("set", ctypes.c_uint64(at_ps), ctypes.byref(given))

    def offer(self, at_ps: int, frame_bytes: int, ecn_capable: bool = False) -> bool:
        """A packet arrives; True if it is in the queue now."""
        size = ctypes.c_uint32(frame_bytes)
        return self._call("offer", ctypes.c_uint64(at_ps), size, int(ecn_capable)) == 1

    def dequeue(self, by_ps: int) -> Dequeued | None:
        """The next packet due by a time."""
        found = Dequeued()
        got = self._call("dequeue", ctypes.c_uint64(by_ps), ctypes.byref(found))
        return found if got else None

    def finish(self, frame_bytes: int, fate: str = "sent") -> tuple[int, int]:
        """What became of the dequeued packet: the times of its transmission."""
        start, end = ctypes.c_uint64(), ctypes.c_uint64()
        size = ctypes.c_uint32(frame_bytes)
        self._call("finish", FATES.index(fate), size, ctypes.byref(start), ctypes.byref(end))
        return start.value, end.value

    def rows(self) -> list[Row]:
        """The rows since the last call."""
        taken: list[Row] = []
        part = (_Row * 256)()
        while count := self._call("rows", part, ctypes.c_uint32(len(part))):
            taken += map(_row, part[:count])
        return taken

    def cycles(self) -> int:
        """Cycles of the clock since the start."""
        return int(self._library.core_cycles(self._core))


def _row(row: _Row) -> Row:
    reasons = {"drop": DROPS, "mark": MARKS}.get(KINDS[row.kind])
    return Row(
        row.at_ps, KINDS[row.kind], reasons[row.reason] if reasons else "", row.number,
        row.counted, row.packets, row.bytes, row.sojourn_ps,
    )  # fmt: skip


class Driven:
    """A core that sends whatever is due, as a board does."""

    def __init__(self, settings: Settings) -> None:
        self.core = Core()
        self.sent: list[tuple[int, int, int, bool]] = []
        self.frames: list[int] = []
        self.core.set(0, settings)

    def run(self, until_ps: int) -> None:
        while found := self.core.dequeue(until_ps):
            times = self.core.finish(self.frames[found.number])
            self.sent.append((found.number, *times, bool(found.is_marked)))

    def offer(self, at_ps: int, frame_bytes: int, is_ecn_capable: bool = False) -> None:
        self.run(at_ps)
        self.frames.append(frame_bytes)
        self.core.offer(at_ps, frame_bytes, is_ecn_capable)
        self.run(at_ps)

    def set(self, at_ps: int, settings: Settings) -> None:
        self.run(at_ps)
        self.core.set(at_ps, settings)
