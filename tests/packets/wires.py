"""Carries frames to a switch's ports and back: in this process, or by this machine's interfaces."""

from __future__ import annotations

import selectors
import socket
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

ETH_P_ALL = 3
SO_RCVBUFFORCE = 33
"""From asm-generic/socket.h."""
BUFFER_BYTES = 1 << 22
LISTEN_S = 0.05
FRAME_BYTES = 2048

Frames = list[tuple[int, bytes]]
"""Frames by the port that they left."""


class Wires(Protocol):
    """The tester's ends of the cables."""

    least_bytes: int
    """The minimum length of a frame that can be sent unpadded."""
    keeps_fragments: bool
    """False if the kernel reassembles fragments on their way into the switch."""

    def send(self, port: int, frames: Iterable[bytes]) -> None:
        """Sends frames to a port, at once."""

    def receive(self) -> Frames:
        """The frames that have come out; if none has, those that come within `LISTEN_S`."""


class InProcess:
    """A switch of this process, in virtual time: a microsecond between frames."""

    least_bytes = 0
    keeps_fragments = True

    def __init__(self, switch: Any) -> None:
        self.switch = switch

    def send(self, port: int, frames: Iterable[bytes]) -> None:
        """See `Wires`."""
        for frame in frames:
            self.switch.handle_packet(port, frame, self.switch.now_ps() + 10**6)

    def receive(self) -> Frames:
        """See `Wires`."""
        until_ps = self.switch.now_ps() + round(LISTEN_S * 1e12)
        return [(port, frame) for port, _, _, frame in self.switch.run_until(until_ps)]


def packet_socket(interface: str) -> socket.socket:
    """Every frame of an interface."""
    # Without a protocol it receives nothing until it is bound, so no foreign frames (packet(7)).
    made = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    made.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER_BYTES)
    made.bind((interface, ETH_P_ALL))
    made.setblocking(False)
    return made


class Interfaces:
    """A switch behind network interfaces, in real time."""

    def __init__(
        self, sockets: Mapping[int, socket.socket], least_bytes: int, keeps_fragments: bool = True
    ) -> None:
        self.sockets = sockets
        self.least_bytes, self.keeps_fragments = least_bytes, keeps_fragments
        self._selector = selectors.DefaultSelector()
        for port, one in sockets.items():
            self._selector.register(one, selectors.EVENT_READ, port)

    def send(self, port: int, frames: Iterable[bytes]) -> None:
        """See `Wires`."""
        for frame in frames:
            self.sockets[port].send(frame)

    def receive(self) -> Frames:
        """See `Wires`."""
        found: Frames = []
        for key, _ in self._selector.select(LISTEN_S):
            try:
                while True:
                    frame, (_, _, kind, *_) = self.sockets[key.data].recvfrom(FRAME_BYTES)
                    if kind != socket.PACKET_OUTGOING:
                        found.append((key.data, frame))
            except BlockingIOError:
                pass
        return found

    def close(self) -> None:
        """Closes the interfaces."""
        self._selector.close()
        for one in self.sockets.values():
            one.close()
