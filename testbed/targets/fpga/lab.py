"""`lab.toml` for a board: its address, and the ports of this machine at its two cables.

The runbook is docs/guide/hardware-bottleneck.md.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import Field

from narrows.testbed.problems import Problem
from narrows.testbed.scenario.values import Model, matching
from narrows.testbed.targets import lab_file
from narrows.testbed.targets.dpdk.setup import PCI_ADDRESS, af_packet

INTERFACE: Final = re.compile(r"[A-Za-z0-9_.-]{1,15}")
"""The names of Linux's interfaces (IFNAMSIZ), as far as DPDK's device strings can hold them."""
FIRST_DEVICE: Final = 1000
"""The kernel's hosts number their devices from 0."""
ADDRESS: Final = r"(25[0-5]|2[0-4]\d|1?\d?\d)(\.(25[0-5]|2[0-4]\d|1?\d?\d)){3}"


class Board(Model):
    """The board, and how the controller reaches it."""

    kind: Literal["fpga"]
    address: Annotated[str, matching(ADDRESS, "an IPv4 address", "192.168.78.66")] = "192.168.78.66"
    """Its address, at port 0."""
    interface: Annotated[str, matching(INTERFACE.pattern, "an interface", "eth1")] | None = None
    """This machine's interface on the cable of port 0; absent: `port.senders.nic`."""


class Port(Model):
    """A port of this machine at one of the board's cables."""

    nic: Annotated[str, Field(min_length=1)]
    """An interface of Linux, a PCI address, or any other device string of DPDK."""

    @property
    def interface(self) -> str | None:
        """Its interface of Linux; None if the kernel does not have it."""
        is_interface = INTERFACE.fullmatch(self.nic) and not PCI_ADDRESS.fullmatch(self.nic)
        return self.nic if is_interface else None

    def device(self, number: int) -> str:
        """Its device string of DPDK."""
        if self.interface is None:
            return self.nic
        # Frames past the queueing discipline would be seen by no packet socket.
        return f"{af_packet(FIRST_DEVICE + number, self.interface)},qdisc_bypass=0"


class Ports(Model):
    """The two sides of a dumbbell: the board's port 0, and its port 1."""

    senders: Port
    receivers: Port


class Lab(Model):
    """The whole file."""

    switch: Board
    port: Ports

    @property
    def interface(self) -> str:
        """The interface by which the controller reaches the board."""
        found = self.switch.interface or self.port.senders.interface
        assert found is not None, "read() checks it"
        return found

    @property
    def sides(self) -> dict[str, Port]:
        """The ports by the side of a dumbbell, in the order of the board's ports."""
        return {"senders": self.port.senders, "receivers": self.port.receivers}


def read(path: Path) -> Lab:
    """Reads the file. Raises `InputError` with all problems."""
    lab = lab_file.read(path, Lab)
    problems = list[Problem]()
    senders, receivers = lab.sides.values()
    if senders.nic == receivers.nic:
        what = "is also used by another side"
        problems.append(Problem("port.receivers.nic", what, receivers.nic))
    if lab.switch.interface is None and senders.interface is None:
        what = f"is missing; the kernel does not have {senders.nic}, so it needs another one there"
        problems.append(Problem("switch.interface", what))
    if lab.switch.interface is not None and lab.switch.interface == receivers.nic:
        what = "is at port 1; expected the cable of port 0, where the board answers"
        problems.append(Problem("switch.interface", what, lab.switch.interface))
    if problems:
        raise lab_file.wrong(path, problems)
    return lab
