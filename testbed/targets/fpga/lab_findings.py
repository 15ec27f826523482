"""`narrows doctor --target fpga`: checks the board and its cables, item by item, with remedies.

It reads the board's registers, and the machine through /sys and /proc. It changes nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

from narrows.controller.drivers.fpga import FpgaDriver
from narrows.controller.drivers.fpga_protocol import Board
from narrows.controller.errors import DriverError
from narrows.schema import units
from narrows.testbed.findings import Finding
from narrows.testbed.needs import NEEDS
from narrows.testbed.targets.dpdk.setup import PCI_ADDRESS
from narrows.testbed.targets.fpga.collector import ip_of
from narrows.testbed.targets.fpga.lab import Lab

GUIDE = "docs/guide/hardware-bottleneck.md"


def findings(lab: Lab) -> list[Finding]:
    """The findings about this machine and the board."""
    return [*of_machine(lab), *asyncio.run(of_board(lab))]


async def of_board(lab: Lab) -> list[Finding]:
    """The board's: whether it answers, and as what."""
    name = f"board {lab.switch.address}"
    try:
        async with FpgaDriver(lab.switch.address, interface=lab.interface) as board:
            line_bps = await board.read(Board.LINE_RATE)
            period_ps = await board.read(Board.PERIOD_PS)
            version = await board.read(Board.VERSION)
            faults = await board.read(Board.FAULTS)
    except DriverError as error:
        mend = f"{error}\n           see the cable of port 0 and its link, and {GUIDE}"
        return [Finding(name, None, mend)]
    line = units.format_rate(line_bps)
    found = f"registers {version}, line {line}, clock period {period_ps} ps"
    return [
        Finding(name, found),
        Finding("faults", f"{faults:#04x} since they were cleared; a run clears them"),
    ]


def of_machine(lab: Lab, root: Path = Path("/")) -> Iterator[Finding]:
    """This machine's: DPDK, the ports, the controller's interface. `root` has /sys and /proc."""
    for need in NEEDS:
        if need.name in ("libdpdk", "root"):
            yield Finding(need.name, need.find(), need.mend())
    for side, port in lab.sides.items():
        if port.interface is not None:
            yield from of_interface(f"{side} {port.interface}", port.interface, root)
        elif PCI_ADDRESS.fullmatch(port.nic):
            found = root / "sys/bus/pci/devices" / full_address(port.nic)
            mend = "no such card: lspci -D | grep -i ethernet"
            yield Finding(f"{side} {port.nic}", "there" if found.exists() else None, mend)
    try:
        yield Finding(f"controller at {lab.interface}", ip_of(lab.interface))
    except DriverError as error:
        yield Finding(f"controller at {lab.interface}", None, str(error))


def of_interface(name: str, interface: str, root: Path) -> Iterator[Finding]:
    """Whether an interface is up, and sends nothing of its own."""
    directory = root / "sys/class/net" / interface
    if not directory.exists():
        yield Finding(name, None, "no such interface: ip link")
        return
    is_up = text(directory / "carrier") == "1"
    mend = f"ip link set {interface} up; is its cable in?"
    yield Finding(name, "up" if is_up else None, mend)
    key = f"net.ipv6.conf.{interface}.disable_ipv6"
    path = root / "proc/sys" / key.replace(".", "/")
    silent = not path.exists() or text(path) == "1"
    mend = f"sysctl -w {key}=1: its own packets would be in the queue"
    yield Finding(f"{interface} without IPv6", "yes" if silent else None, mend)


def full_address(nic: str) -> str:
    """A PCI address with its domain."""
    return (nic if nic.count(":") == 2 else f"0000:{nic}").lower()


def text(path: Path) -> str:
    """A file's text; empty if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8").strip()
    except OSError:
        return ""
