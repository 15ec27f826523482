"""A raw port on a veth, and the faults of frames that pass it."""

from __future__ import annotations

import heapq
import random
import socket
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass, field

ETH_P_ALL = 3
PACKET_OUTGOING = 4
SO_RCVBUFFORCE = 33
IP_AT = 14
IPV4, IPV6 = b"\x08\x00", b"\x86\xdd"
TCP_BEGINS_AT = {IPV4: 34, IPV6: 54}
"""By the Ethernet type, since neither side sends IP options or extension headers."""


def now_ns() -> int:
    return time.monotonic_ns()


@dataclass
class Faults:
    """Probabilities per frame, in each direction; `delay_ms` each way for all."""

    delay_ms: float = 0.0
    loss: float = 0.0
    duplication: float = 0.0
    corruption: float = 0.0
    reordering: float = 0.0
    """The fault of waiting twice as long as the others, and 2 ms."""


def keep(frame: bytes) -> bytes | None:
    return frame


@dataclass
class Direction:
    """Frames on their way in one direction."""

    faults: Faults
    rng: random.Random
    deliver: Callable[[bytes], None]
    change: Callable[[bytes], bytes | None] = keep
    """A test's change of a frame: another frame, or None to drop it."""
    waiting: list[tuple[int, int, bytes]] = field(default_factory=list)
    frames: int = 0
    dropped: int = 0

    def handle(self, frame: bytes) -> None:
        self.frames += 1
        faults, rng = self.faults, self.rng
        changed = self.change(frame)
        if changed is None or rng.random() < faults.loss:
            self.dropped += 1
            return
        if rng.random() < faults.corruption:
            damaged = bytearray(changed)
            damaged[rng.randrange(IP_AT, len(changed))] ^= 1 << rng.randrange(8)
            changed = bytes(damaged)
        for _ in range(1 + (rng.random() < faults.duplication)):
            delay_ms = faults.delay_ms
            if rng.random() < faults.reordering:
                delay_ms = 2 * delay_ms + 2
            due_ns = now_ns() + int(delay_ms * 1e6)
            heapq.heappush(self.waiting, (due_ns, self.frames, changed))
        self.work()

    def work(self) -> None:
        while self.waiting and self.waiting[0][0] <= now_ns():
            self.deliver(heapq.heappop(self.waiting)[2])


class Port:
    """A veth's end by name: receives the far end's frames, sends ours."""

    def __init__(
        self, interface: str, faults: Faults, seed: int, handle: Callable[[bytes], None]
    ) -> None:
        # Without a protocol it receives nothing until it is bound: no foreign frames (packet(7)).
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW | socket.SOCK_NONBLOCK, 0)
        self.socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 25)
        self.socket.bind((interface, ETH_P_ALL))
        self.inward = Direction(faults, random.Random(f"{seed} in"), handle)
        self.outward = Direction(faults, random.Random(f"{seed} out"), self._transmit)

    def _transmit(self, frame: bytes) -> None:
        try:
            self.socket.send(frame)
        except BlockingIOError:
            self.outward.dropped += 1

    def send(self, frame: bytes) -> None:
        self.outward.handle(frame)

    def work(self) -> None:
        """Takes the received frames, and passes on those that are due."""
        for _ in range(64):
            try:
                frame, source = self.socket.recvfrom(1 << 16)
            except BlockingIOError:
                break
            if source[2] != PACKET_OUTGOING and frame[12:14] in TCP_BEGINS_AT:
                self.inward.handle(frame)
        self.inward.work()
        self.outward.work()

    def next_ns(self) -> int | None:
        """When the next frame is due, or None."""
        return min(
            (d.waiting[0][0] for d in (self.inward, self.outward) if d.waiting), default=None
        )


@dataclass(frozen=True)
class Tcp:
    """The parts of a frame that tests look at."""

    source_port: int
    port: int
    seq: int
    ack: int
    flags: int
    window: int
    payload_bytes: int
    ecn: int

    FIN, SYN, RST, PSH, ACK, ECE, CWR = 1, 2, 4, 8, 16, 64, 128

    @classmethod
    def of(cls, frame: bytes) -> Tcp:
        """Parses a frame of either version."""
        begins_at = TCP_BEGINS_AT[frame[12:14]]
        source, port, seq, ack, offset, flags, window = struct.unpack_from(
            "!HHIIBBH", frame, begins_at
        )
        if frame[12:14] == IPV4:
            ends_at, ecn = IP_AT + int.from_bytes(frame[16:18]), frame[15] & 3
        else:
            ends_at, ecn = begins_at + int.from_bytes(frame[18:20]), frame[15] >> 4 & 3
        payload_bytes = ends_at - begins_at - (offset >> 4) * 4
        return cls(source, port, seq, ack, flags, window, payload_bytes, ecn)


def marked(frame: bytes) -> bytes:
    """The frame with congestion experienced, if it is ECN-capable (RFC 3168)."""
    if Tcp.of(frame).ecn == 0:
        return frame
    changed = bytearray(frame)
    if frame[12:14] == IPV6:
        changed[15] |= 3 << 4
        return bytes(changed)
    header = changed[IP_AT : TCP_BEGINS_AT[IPV4]]
    header[1] |= 3
    header[10:12] = b"\0\0"
    total = sum(struct.unpack("!10H", header))
    total = (total & 0xFFFF) + (total >> 16)
    header[10:12] = (~((total & 0xFFFF) + (total >> 16)) & 0xFFFF).to_bytes(2)
    changed[IP_AT : TCP_BEGINS_AT[IPV4]] = header
    return bytes(changed)
