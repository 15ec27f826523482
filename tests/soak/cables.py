"""The cables of the soak's switch: veth pairs, the frames sent into them, and the kernel's counts.

A cable has a near end, which the switch opens, and a far end, where this process sends.
"""

from __future__ import annotations

import errno
import fcntl
import socket
import struct
import threading
from dataclasses import dataclass, field
from pathlib import Path

from narrows.testbed.targets.linux.namespaces import Plumbing

SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1
"""From linux/sockios.h and linux/if.h."""
IFREQ = struct.Struct("16sh22x")
"""`struct ifreq` with flags."""


@dataclass(frozen=True)
class Counts:
    """What the kernel counted at an interface."""

    received: int
    sent: int
    send_dropped: int
    receive_dropped: int


@dataclass
class Cable:
    """A cable of one port."""

    port: int
    near: str
    far: str
    handed: int = 0
    """Frames that reached the far end's device, which sends or drops them."""
    refused: int = 0
    """Frames that the kernel refused before, since the far end was down."""
    flaps: int = 0
    _socket: socket.socket = field(init=False, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def __post_init__(self) -> None:
        # Protocol 0: it receives nothing.
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        self._socket.bind((self.far, 0))

    def send(self, frame: bytes) -> None:
        """Sends a frame to the switch."""
        with self._lock:
            try:
                self._socket.send(frame)
            except OSError as error:
                # With another error the device has dropped it.
                is_refused = error.errno == errno.ENETDOWN
            else:
                is_refused = False
            self.refused += is_refused
            self.handed += not is_refused

    def set_link(self, interface: str, *, is_up: bool) -> None:
        """Sets an end up or down. No frame is sent meanwhile."""
        with self._lock:
            request = fcntl.ioctl(self._socket, SIOCGIFFLAGS, IFREQ.pack(interface.encode(), 0))
            flags = IFREQ.unpack(request)[1]
            flags = flags | IFF_UP if is_up else flags & ~IFF_UP
            fcntl.ioctl(self._socket, SIOCSIFFLAGS, IFREQ.pack(interface.encode(), flags))
            self.flaps += is_up

    def close(self) -> None:
        """Closes its socket."""
        self._socket.close()


def lay(plumbing: Plumbing, ports: range) -> dict[int, Cable]:
    """A cable for each port."""
    return {port: Cable(port, *plumbing.add_cable(f"soak{port}")) for port in ports}


def counts(interface: str) -> Counts:
    """The kernel's counts of an interface."""
    at = Path("/sys/class/net") / interface / "statistics"
    names = ("rx_packets", "tx_packets", "tx_dropped", "rx_dropped")
    return Counts(*(int((at / name).read_text()) for name in names))


def probes_at(cable: Cable, kind: int) -> socket.socket:
    """A socket that receives the frames of one Ethernet type at the far end."""
    made = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(kind))
    made.bind((cable.far, kind))
    made.settimeout(1.0)
    return made
