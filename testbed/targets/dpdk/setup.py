"""DPDK's set-up: memory, hugepages, and whether its loop occupies a core."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from narrows.testbed.problems import InputError, Problem

MBUF_BYTES = 2048 + 128 + 128 + 64
"""Bytes for a frame, DPDK's headroom, the mbuf, and the pool's header per object."""
OVERHEAD_MIB = 64
"""Memory for everything except mbufs: rings, and the environment itself."""
DEFAULT_MBUFS = 16_384
READINGS = 9
"""Readings of two clocks; the closest pair is used."""
HUGEPAGES = Path("/sys/kernel/mm/hugepages")
PCI_ADDRESS = re.compile(r"([0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]", re.IGNORECASE)


@dataclass(frozen=True)
class Setup:
    """The engine's settings (`Setup` in engine/src/python/live.rs)."""

    mbufs: int
    hugepages: bool
    pci: bool
    idle: str | None

    @property
    def memory_mib(self) -> int:
        """Memory for the mbufs and everything else."""
        return OVERHEAD_MIB + self.mbufs * MBUF_BYTES // 2**20

    def as_text(self) -> str:
        """The JSON that the engine reads."""
        fields: dict[str, Any] = {"hugepages": self.hugepages, "memory_mib": self.memory_mib}
        return json.dumps(fields | {"pci": self.pci, "mbufs": self.mbufs, "idle": self.idle})


@dataclass(frozen=True)
class RunSettings:
    """Settings of a run on DPDK ports, besides its plan."""

    setup: Setup
    processes: bool = False
    """Switches and hosts in two processes, joined by memif."""
    devices: dict[str, str] = field(default_factory=dict)
    """For `narrows host`: device strings of the wires that end in this process, by wire name."""
    begin_s: float | None = None
    """Start time in seconds since 1970; immediately if None."""

    def as_json(self) -> dict[str, Any]:
        """The JSON that the worker reads."""
        fields: dict[str, Any] = {"setup": self.setup.as_text(), "processes": self.processes}
        return fields | {"devices": self.devices, "begin_s": self.begin_s}


def begin_at(begin_s: float | None) -> Callable[[int], tuple[int, int] | None]:
    """The function that gives the engine its start on the clock that a machine's processes share.
    It raises `TimeoutError` if that time has passed.
    """

    def meet(rate: int) -> tuple[int, int] | None:
        if begin_s is None:
            return None
        now_ns, raw_ns = both_clocks()
        ahead_ns = round(begin_s * 1e9) - now_ns
        if ahead_ns < 0:
            raise TimeoutError(f"--begin passed {-ahead_ns / 1e9:.1f} s before all ports were up")
        return raw_ns + ahead_ns, rate

    return meet


def both_clocks() -> tuple[int, int]:
    """Nanoseconds since 1970, and `CLOCK_MONOTONIC_RAW` at that instant. Of several readings the
    shortest is used: a thread that loses its core between the two clocks reads them milliseconds
    apart.
    """

    def reading() -> tuple[int, int, int]:
        before = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
        now = time.time_ns()
        took = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW) - before
        return took, now, before + took // 2

    _, now_ns, raw_ns = min(reading() for _ in range(READINGS))
    return now_ns, raw_ns


@dataclass(frozen=True)
class PortOptions:
    """The requested set-up of DPDK."""

    mbufs: int = DEFAULT_MBUFS
    """Packets to reserve memory for."""
    no_huge: bool = False
    """True: use no hugepages, even if enough are free."""
    idle: str | None = None
    """`poll` or `yield`; None decides by the free cores."""


def setup_by(options: PortOptions, devices: list[str]) -> Setup:
    """Reads the set-up from options. Raises `InputError`."""
    if not 512 <= options.mbufs < 2**24:
        raise InputError("--mbufs", [Problem(str(options.mbufs), "expected 512 to 16777215")])
    return setup(devices, options.mbufs, may_be_huge=not options.no_huge, idle=options.idle)


def setup(
    devices: Iterable[str] = (),
    mbufs: int = DEFAULT_MBUFS,
    *,
    may_be_huge: bool = True,
    idle: str | None = None,
) -> Setup:
    """The set-up for these devices; uses hugepages if enough are free."""
    pci = any(PCI_ADDRESS.match(device) for device in devices)
    without = Setup(mbufs, hugepages=False, pci=pci, idle=idle)
    enough = may_be_huge and free_hugepages_mib() >= without.memory_mib
    return replace(without, hugepages=enough)


def missing() -> list[str]:
    """What this machine lacks for DPDK ports."""
    from narrows.testbed import engine

    if engine.dpdk_version() is None:
        return ["libdpdk cannot be loaded; narrows doctor shows the remedy"]
    return []


def af_packet(number: int, interface: str) -> str:
    """The device string of a network interface of this machine."""
    return f"net_af_packet{number},iface={interface}"


def free_hugepages_mib(sizes: Path = HUGEPAGES) -> int:
    """Memory in free hugepages."""
    kib = 0
    for size in sizes.glob("hugepages-*kB"):
        try:
            free = int((size / "free_hugepages").read_text())
        except (OSError, ValueError):
            continue
        kib += free * int(size.name.removeprefix("hugepages-").removesuffix("kB"))
    return kib // 1024


def more_hugepages(memory_mib: int) -> str:
    """The command that reserves enough hugepages of 2 MiB."""
    return f"sysctl -w vm.nr_hugepages={-(-memory_mib // 2)}"
