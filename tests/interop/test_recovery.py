"""Compares what Linux and our TCP send on each ACK of a recovery.

The receiver is written out here. It takes one segment at a time in the order of departure, loses
those that a case names, and answers each immediately. The kernel's sender then has unlimited time
before the next segment. Ours, with recovery `linux`, gets the same ACKs at the same instants. Both
must send the same segments on the same ACKs. This covers which segments are retransmitted and when,
how many each ACK releases while the window decreases (proportional rate reduction), and the window
after that.
"""

from __future__ import annotations

import socket
import struct
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

import pytest

from narrows._engine import Connection
from narrows.testbed.tools.packetdrill import wire
from narrows.testbed.tools.packetdrill.script import Segment
from tests.interop.conftest import MakePair
from tests.interop.port import Tcp, now_ns
from tests.interop.stack import OUR_IP, OUR_MAC, THEIR_IP, THEIR_MAC, Pair, flow
from tests.support.real_time import Machine

MSS = 1000
SEGMENTS = 400
"""Bytes written; no case reaches their end."""
FIRST = 10
"""Segments of the first window."""
PORT, THEIR_PORT = 7000, 7001
WINDOW = 60_000
SCALE = 4
ROUND_TRIP_S = 0.1
"""The round trip of the handshake and the first segment.

With it no timer is due between two ACKs.
"""
NO_THRESHOLD = 0x7FFF_FFFF
"""TCP_INFINITE_SSTHRESH."""
TCP_RTO_MIN_US = 45
LEAST_RTO_US = 2_000_000
"""More than this machine's lateness; Linux 6.15 and newer can be set to it."""
QUIET_S = 0.003
"""Time after its latest segment when a sender has nothing more to send."""


class Sender(Protocol):
    """A sender that connects, and answers frames with frames."""

    def start(self) -> list[bytes]:
        """Its SYN."""

    def handle(self, frame: bytes) -> list[bytes]:
        """The frames that it sends on a frame."""

    def write(self) -> list[bytes]:
        """The frames that it sends when its application has written."""

    def wait(self) -> None:
        """A round trip passes."""

    def windows(self) -> tuple[int, int]:
        """Congestion window and threshold in segments; 0 without a threshold."""


class Kernel:
    """A socket of the kernel's."""

    def __init__(self, pair: Pair, variant: str) -> None:
        self.pair, self.heard = pair, list[bytes]()
        self.times_ns: list[tuple[int, int]] = []
        """When each answer was requested, and when it was complete."""
        pair.port.inward.deliver = self.heard.append
        self.socket = pair.their_socket()
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, variant.encode())
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 * SEGMENTS * MSS)
        with suppress(OSError):
            self.socket.setsockopt(socket.IPPROTO_TCP, TCP_RTO_MIN_US, LEAST_RTO_US)
        self.socket.bind((THEIR_IP, THEIR_PORT))

    def start(self) -> list[bytes]:
        began_ns = now_ns()
        self.theirs = self.pair.their_connect(PORT, self.socket)
        return self.answer(began_ns, 1)

    def handle(self, frame: bytes) -> list[bytes]:
        began_ns = now_ns()
        self.pair.port.send(frame)
        return self.answer(began_ns)

    def write(self) -> list[bytes]:
        began_ns = now_ns()
        self.theirs.to_write += bytes(SEGMENTS * MSS)
        return self.answer(began_ns, FIRST)

    def wait(self) -> None:
        began_ns = now_ns()
        self.pair.runs_for(ROUND_TRIP_S)
        self.answer(began_ns)

    def answer(self, began_ns: int, least: int = 0) -> list[bytes]:
        """The frames that have been sent when no more follow."""
        self.pair.run_until(lambda: len(self.heard) >= least)
        count = -1
        while count < len(self.heard):
            count = len(self.heard)
            self.pair.runs_for(QUIET_S)
        self.times_ns.append((began_ns, now_ns()))
        heard = list(self.heard)
        self.heard.clear()
        return heard

    def windows(self) -> tuple[int, int]:
        info = self.socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
        ssthresh, cwnd = struct.unpack_from("=2I", info, 76)
        return cwnd, ssthresh if ssthresh < NO_THRESHOLD else 0


class Ours:
    """A connection of ours, in virtual time."""

    def __init__(self, variant: str, times_ns: Sequence[tuple[int, int]]) -> None:
        self.times_ps = iter([(began * 1000, over * 1000) for began, over in times_ns])
        config = flow(
            (THEIR_IP, THEIR_PORT), (OUR_IP, PORT), variant=variant, recovery="linux",
            segment_bytes=MSS, timestamps=False, min_rto_ps=LEAST_RTO_US * 10**6,
        )  # fmt: skip
        self.connection = Connection(config, True, (THEIR_MAC, OUR_MAC), 1)

    def start(self) -> list[bytes]:
        return self.answer(lambda _: None)

    def handle(self, frame: bytes) -> list[bytes]:
        return self.answer(lambda now_ps: self.connection.handle_frame(now_ps, frame))

    def write(self) -> list[bytes]:
        return self.answer(lambda _: self.connection.write(bytes(SEGMENTS * MSS)))

    def wait(self) -> None:
        self.answer(lambda _: None)

    def answer(self, act: Callable[[int], object]) -> list[bytes]:
        """The frames that it sends until the instant at which the kernel's answer was complete."""
        now_ps, over_ps = next(self.times_ps)
        act(now_ps)
        heard = []
        while True:
            frames = iter(partial(self.connection.poll_transmit, now_ps), None)
            heard += [bytes(frame) for frame in frames]
            due_ps = self.connection.poll_timeout()
            if due_ps is None or due_ps > over_ps:
                break
            now_ps = max(now_ps, due_ps)
            self.connection.handle_timeout(now_ps)
        self.now_ps = over_ps
        return heard

    def windows(self) -> tuple[int, int]:
        figures = self.connection.figures(self.now_ps)
        return (figures["cwnd_bytes"] or 0) // MSS, (figures["ssthresh_bytes"] or 0) // MSS


@dataclass
class Receiver:
    """Receives segments by number, and reports which it has."""

    acked: int = 0
    beyond: list[tuple[int, int]] = field(default_factory=list)
    """What arrived out of order, `[from, to)`, the latest first."""
    twice: list[tuple[int, int]] = field(default_factory=list)
    """The segment that has just arrived, if it had arrived before (D-SACK)."""

    def take(self, number: int) -> None:
        start, end = number, number + 1
        had = start < self.acked or any(a <= start < b for a, b in self.beyond)
        self.twice = [(start, end)] if had else []
        if had:
            return
        for block in [b for b in self.beyond if b[0] == end or b[1] == start]:
            self.beyond.remove(block)
            start, end = min(start, block[0]), max(end, block[1])
        if start <= self.acked:
            self.acked = max(self.acked, end)
        else:
            self.beyond.insert(0, (start, end))

    @property
    def blocks(self) -> list[tuple[int, int]]:
        """An ACK has room for four."""
        return (self.twice + self.beyond)[:4]


MACS = tuple(bytes.fromhex(mac.replace(":", "")) for mac in (OUR_MAC, THEIR_MAC))
ENDS = wire.Ends(
    (MACS[0], MACS[1]),
    (socket.inet_aton(OUR_IP), socket.inet_aton(THEIR_IP)),
    (PORT, THEIR_PORT),
)


def answer(numbers: wire.Numbers, flags: int, ack: int, options: Sequence[str]) -> bytes:
    """A frame of the receiver's; its SYN takes up its first position."""
    start = 0 if flags & Tcp.SYN else 1
    window = WINDOW if flags & Tcp.SYN else WINDOW >> SCALE << 1
    segment = Segment(False, flags, start, 0, ack, window, tuple(options), None)
    return wire.emit(segment, ENDS, numbers)


@dataclass(frozen=True)
class Step:
    """One ACK and the segments that it released."""

    acked: int
    blocks: tuple[tuple[int, int], ...]
    sent: tuple[int, ...]


@dataclass(frozen=True)
class Case:
    """The faults of a path."""

    lost: Sequence[tuple[int, int]] = ()
    """For each loss a segment, and which of its transmissions, from 0."""
    late: dict[int, int] = field(default_factory=dict)
    """A segment, and how many others overtake it."""


def play(sender: Sender, case: Case, end: int) -> Iterator[Step]:
    """Runs a connection until `end` is acknowledged."""
    [syn] = [Tcp.of(frame) for frame in sender.start()]
    numbers = wire.Numbers(ours=syn.seq)

    def segments(frames: list[bytes]) -> list[int]:
        heads = [Tcp.of(frame) for frame in frames]
        assert all(head.payload_bytes in (0, MSS) for head in heads)
        return [(head.seq - syn.seq - 1) // MSS for head in heads if head.payload_bytes]

    sender.wait()
    options = [f"mss {MSS}", "sackOK", f"wscale {SCALE}"]
    sender.handle(answer(numbers, Tcp.SYN | Tcp.ACK, 1, options))
    in_flight = deque(segments(sender.write()))
    receiver, departures, late = Receiver(), dict[int, int](), dict(case.late)
    yield Step(0, (), tuple(in_flight))
    sender.wait()
    while receiver.acked < end:
        number = in_flight.popleft()
        if overtaken_by := late.pop(number, 0):
            in_flight.insert(overtaken_by, number)
            continue
        departures[number] = departures.get(number, -1) + 1
        if (number, departures[number]) in case.lost:
            continue
        receiver.take(number)
        blocks = [f"{1 + a * MSS}:{1 + b * MSS}" for a, b in receiver.blocks]
        sacks = [f"sack {' '.join(blocks)}"] if blocks else []
        sent = segments(sender.handle(answer(numbers, Tcp.ACK, 1 + receiver.acked * MSS, sacks)))
        in_flight += sent
        yield Step(receiver.acked, tuple(receiver.blocks), tuple(sent))


CASES = {
    "one": Case([(30, 0)]),
    "two": Case([(30, 0), (32, 0)]),
    "three": Case([(30, 0), (32, 0), (34, 0)]),
    "four": Case([(30, 0), (32, 0), (34, 0), (36, 0)]),
    "half the window": Case([(number, 0) for number in range(30, 46)]),
    "every second": Case([(number, 0) for number in range(30, 54, 2)]),
    "the repair too": Case([(30, 0), (30, 1)]),
    "none, but overtaken by two": Case(late={30: 2}),
    "none, but overtaken by five": Case(late={30: 5}),
    "overtaken, then lost": Case([(50, 0)], late={30: 5}),
}
END = 75
"""After every case's repair, and before the window grows again: ours grows by bytes at each ACK,
Linux's by segments.
"""


@pytest.mark.parametrize(
    ("variant", "case"),
    # CUBIC's window comes down to seven tenths.
    [*(("reno", case) for case in CASES), ("cubic", "four"), ("cubic", "half the window")],
)
def test_linux_sends_on_each_ack_what_ours_does(
    make_pair: MakePair, variant: str, case: str, machine: Machine
) -> None:
    kernel = Kernel(make_pair(), variant)
    theirs = list(play(kernel, CASES[case], END))
    ours = Ours(variant, kernel.times_ns)
    with machine.figures():
        assert list(play(ours, CASES[case], END)) == theirs
        assert ours.windows() == kernel.windows()
