"""The TCP connections of a shell, as the kernel describes them (sock_diag(7)).

Every connection with an end here is sampled at intervals, and once more when its socket ends. So
its counts are exact, while its window and round trip are those at the samples. The P4 program
numbers packets of unknown flows by a hash, which `flow_number` computes, so the ledger's rows and
these belong together.
"""

from __future__ import annotations

import errno
import os
import socket
import struct
import threading
import time
import zlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address
from typing import Final, NamedTuple, Self

from narrows.testbed.targets.linux.namespaces import Namespace

INTERVAL_S: Final = 0.02
SOCK_DIAG, BY_FAMILY, DONE, ERROR = 4, 20, 3, 2
"""NETLINK_SOCK_DIAG, SOCK_DIAG_BY_FAMILY, NLMSG_DONE, NLMSG_ERROR (linux/netlink.h)."""
REQUEST_DUMP: Final = 0x301
INFO, CONGESTION = 2, 4
"""INET_DIAG_INFO, INET_DIAG_CONG (linux/inet_diag.h)."""
DESTROYED: Final = 1 << 0 | 1 << 2
"""The groups of ended TCP sockets, of IPv4 and IPv6."""
HEADER: Final = struct.Struct("=IHHII")
DIAGNOSIS: Final = struct.Struct("!4x2s2s16s16s")
DIAGNOSIS_BYTES: Final = 72
ATTRIBUTE: Final = struct.Struct("=HH")
RECEIVE_BYTES: Final = 1 << 18
RECOVERY: Final = 3
"""TCP_CA_Recovery."""
NO_THRESHOLD: Final = 0x7FFF_FFFF
"""tcpi_snd_ssthresh before the first loss."""


class End(NamedTuple):
    """An address and a port."""

    ip: IPv4Address
    port: int


class Sample(NamedTuple):
    """A sender's state at one instant, from its tcp_info."""

    time_ps: int
    in_recovery: bool
    rto_us: int
    segment_bytes: int
    in_flight: int
    srtt_us: int
    ssthresh: int
    cwnd: int
    retransmits: int
    acked_bytes: int
    data_segments: int
    delivery_bytes_per_s: int
    sent_bytes: int
    timeouts: int


@dataclass
class Sender:
    """An end of a connection that sends."""

    source: End
    destination: End
    variant: str
    samples: list[Sample] = field(default_factory=list)
    ended_ps: int | None = None

    @property
    def number(self) -> int:
        """The flow's number in the tables."""
        return flow_number(self.source, self.destination)


def flow_number(source: End, destination: End) -> int:
    """The number of a TCP flow that the P4 program has no entry for: a CRC-32 with the top bit set,
    in the tables' 32 bits with a sign (p4/stages/identify_flow.p4).
    """
    hashed = zlib.crc32(
        source.ip.packed + destination.ip.packed
        + struct.pack("!BHH", socket.IPPROTO_TCP, source.port, destination.port)
    )  # fmt: skip
    return (hashed | 1 << 31) - (1 << 32)


class Connections:
    """Samples the connections at both sides, on a thread, from `begin` until `end`."""

    def __init__(self, sides: Mapping[str, tuple[Namespace | None, IPv4Address]]) -> None:
        self.senders = dict[tuple[str, End, End], Sender]()
        """By side and ends."""
        self.problem = ""
        """Why the kernel described no more; empty if it did to the end."""
        self._sides = sides
        self._stack = ExitStack()
        self._is_over = threading.Event()
        self._began_ns = 0
        self._thread = threading.Thread(target=self._watch, name="connections", daemon=True)

    def __enter__(self) -> Self:
        self._asking = {name: self._open(inside, 0) for name, (inside, _) in self._sides.items()}
        self._told = {
            name: self._open(inside, DESTROYED) for name, (inside, _) in self._sides.items()
        }
        return self

    def __exit__(self, *_: object) -> None:
        self.end()
        self._stack.close()

    def begin(self, began_ns: int) -> None:
        """Begins; times count from this reading of CLOCK_MONOTONIC_RAW."""
        self._began_ns = began_ns
        self._thread.start()

    def end(self) -> None:
        """Takes a last sample."""
        self._is_over.set()
        if self._thread.is_alive():
            self._thread.join()

    def of_side(self, side: str) -> list[Sender]:
        """The senders at a side that have sent data, in the order of their starts."""
        found = [each for (name, *_), each in self.senders.items() if name == side]
        return [each for each in found if each.samples[-1].data_segments > 0]

    def _open(self, inside: Namespace | None, groups: int) -> socket.socket:
        def opened() -> socket.socket:
            made = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, SOCK_DIAG)
            made.bind((0, groups))
            made.setblocking(not groups)
            return made

        return self._stack.enter_context(inside.call(opened) if inside else opened())

    def _watch(self) -> None:
        try:
            while not self._is_over.wait(INTERVAL_S):
                self._sample()
            self._sample()
        except OSError as error:
            # Kernels may lack the module inet_diag.
            self.problem = f"the kernel describes no connections ({error.strerror})"

    def _sample(self) -> None:
        for side in self._sides:
            for told in ended(self._told[side]):
                self._take(side, told, is_end=True)
            for family in (socket.AF_INET, socket.AF_INET6):
                for message in dumped(self._asking[side], family):
                    self._take(side, message, is_end=False)

    def _take(self, side: str, message: bytes, *, is_end: bool) -> None:
        """Takes a description of a socket, unless it is of another address."""
        now_ps = (time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW) - self._began_ns) * 1000
        source, destination = ends_of(message)
        found = dict(attributes(message))
        if source.ip != self._sides[side][1] or INFO not in found:
            return
        sample = sample_of(found[INFO], now_ps)
        sender = self.senders.get((side, source, destination))
        if sender is None or sender.ended_ps is not None:
            name = found.get(CONGESTION, b"").split(b"\0")[0].decode() or "unknown"
            sender = Sender(source, destination, name)
            self.senders[side, source, destination] = sender
        sender.samples.append(sample)
        if is_end:
            sender.ended_ps = now_ps


def dumped(asking: socket.socket, family: int) -> Iterator[bytes]:
    """Descriptions of all TCP sockets of a family. Raises `OSError`."""
    body = struct.pack("=BBBxI48x", family, socket.IPPROTO_TCP, 1 << INFO - 1 | 1 << CONGESTION - 1,
                       0xFFFF_FFFF)  # fmt: skip
    length = HEADER.size + len(body)
    asking.send(HEADER.pack(length, BY_FAMILY, REQUEST_DUMP, 1, 0) + body)
    while True:
        for kind, message in messages(asking.recv(RECEIVE_BYTES)):
            if kind == DONE:
                return
            if kind == ERROR:
                [code] = struct.unpack_from("=i", message)
                raise OSError(-code, os.strerror(-code), "sock_diag")
            yield message


def ended(told: socket.socket) -> Iterator[bytes]:
    """Descriptions of the sockets that have ended since the last call."""
    while True:
        try:
            received = told.recv(RECEIVE_BYTES)
        except BlockingIOError:
            return
        except OSError as error:
            if error.errno != errno.ENOBUFS:
                raise
            # Too many ended at once; their last samples stay.
            continue
        yield from (message for kind, message in messages(received) if kind == BY_FAMILY)


def messages(received: bytes) -> Iterator[tuple[int, bytes]]:
    """The kind and the body of each netlink message."""
    while len(received) >= HEADER.size:
        length, kind, *_ = HEADER.unpack_from(received)
        yield kind, received[HEADER.size : length]
        received = received[(length + 3) & ~3 :]


def ends_of(message: bytes) -> tuple[End, End]:
    """A socket's own end, and its peer's; of IPv6 the address mapped from IPv4, or 0.0.0.0."""
    source_port, destination_port, source, destination = DIAGNOSIS.unpack_from(message)
    is_ipv4 = message[0] == socket.AF_INET

    def ip(address: bytes) -> IPv4Address:
        if is_ipv4:
            return IPv4Address(address[:4])
        return IPv6Address(address).ipv4_mapped or IPv4Address(0)

    return (
        End(ip(source), int.from_bytes(source_port, "big")),
        End(ip(destination), int.from_bytes(destination_port, "big")),
    )


def attributes(message: bytes) -> Iterator[tuple[int, bytes]]:
    """The attributes of a socket's description: type and value."""
    rest = message[DIAGNOSIS_BYTES:]
    while len(rest) >= ATTRIBUTE.size:
        length, kind = ATTRIBUTE.unpack_from(rest)
        yield kind, rest[ATTRIBUTE.size : length]
        rest = rest[max((length + 3) & ~3, ATTRIBUTE.size) :]


def sample_of(info: bytes, time_ps: int) -> Sample:
    """A sender's state. The offsets are those of struct tcp_info (linux/tcp.h); older kernels have
    fewer fields.
    """
    info = info.ljust(256, b"\0")

    def u32(offset: int) -> int:
        return int.from_bytes(info[offset : offset + 4], "little")

    def u64(offset: int) -> int:
        return int.from_bytes(info[offset : offset + 8], "little")

    in_flight = u32(24) - u32(28) - u32(32) + u32(36)
    return Sample(
        time_ps, info[1] == RECOVERY, u32(8), u32(16), max(in_flight, 0), u32(68), u32(76), u32(80),
        u32(100), u64(120), u32(156), u64(160), u64(200),
        int.from_bytes(info[240:242], "little"),
    )  # fmt: skip
