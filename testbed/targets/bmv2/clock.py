"""Relates bmv2's clock to ours, and measures the delay from its queue to the wire, by its reports.

bmv2 stamps packets in whole microseconds of the system clock since its start. Take a probe that we
send at s, with ingress stamp i and egress stamp e, and a report that arrives at r. The offset then
lies between s - i and r - e. The tightest of many probes gives it within about 100 us. Readings
before and after a run give the drift of the two clocks.

During a run the kernel stamps one report in 64 on arrival at the collector's interface. Between the
egress stamp and that moment, a packet passes the egress pipeline, is cloned, and waits in the
collector's queue. It then waits in bmv2's second queue of 128 packets, which all ports share.
"""

from __future__ import annotations

import ctypes
import ipaddress
import socket
import struct
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Self

import dpkt

from narrows.testbed.targets.linux.namespaces import PlumbingError

US_NS = 1000
"""The unit of bmv2's stamps."""
STAMPS = struct.Struct(">QQ")
STAMPS_AT, INNER_AT, SEQUENCE_AT, DPORT_AT = 74, 110, 42, 36
"""Offsets in a report: ingress and egress timestamps, packet, sequence number, UDP port
(p4/headers.p4).
"""
NUMBER_AT = {4: INNER_AT + 4, 6: INNER_AT + 2}
"""By IP version, the field of a probe with its number: the identification, or the flow label's last
two bytes.
"""
ETHERTYPES = {4: dpkt.ethernet.ETH_TYPE_IP, 6: dpkt.ethernet.ETH_TYPE_IP6}
ETH_P_ALL = 3
SO_ATTACH_FILTER, SO_TIMESTAMPNS = 26, 35
"""From asm-generic/socket.h."""
PROBES, WAIT_S, TRIES = 40, 0.02, 400
SAMPLE = 64
FRAME_BYTES = 2048


@dataclass(frozen=True)
class Reading:
    """A reading of bmv2's clock: our time is bmv2's plus `offset_ns`, within `error_ns`."""

    at_ns: int
    offset_ns: int
    error_ns: int


@dataclass(frozen=True)
class Clock:
    """bmv2's clock over a run, from the readings before and after it."""

    before: Reading
    after: Reading

    @property
    def error_us(self) -> float:
        """The maximum error of a stamp."""
        return max(self.before.error_ns, self.after.error_ns) / 1000

    @property
    def drift_ppm(self) -> float:
        """How much faster our clock runs, within the error of the readings."""
        took_ns = self.after.at_ns - self.before.at_ns
        return 1e6 * (self.after.offset_ns - self.before.offset_ns) / took_ns

    def offset_ns(self, begin_ns: int) -> int:
        """The offset that converts its stamps to times since the start of the run: the run's mean
        offset.
        """
        return (self.before.offset_ns + self.after.offset_ns) // 2 - begin_ns


def now_ns() -> int:
    """The run's clock, `CLOCK_MONOTONIC_RAW`."""
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)


def packet_socket(interface: str) -> socket.socket:
    """A socket that receives every packet of an interface."""
    # Without a protocol it receives nothing until it is bound, so no foreign frames (packet(7)).
    made = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    made.bind((interface, ETH_P_ALL))
    return made


@dataclass(frozen=True)
class Path:
    """The interfaces that probes leave and reports arrive by, and a host's address behind the
    reported port.
    """

    into: str
    collector: str
    destination: str

    def read(self) -> Reading:
        """Reads bmv2's clock. Raises `PlumbingError` if no report of a probe arrives."""
        least, most, found = -(2**63), 2**63, 0
        with packet_socket(self.into) as into, packet_socket(self.collector) as collector:
            collector.settimeout(WAIT_S)
            for number in range(TRIES):
                sent_ns = now_ns()
                into.send(probe(self.destination, number))
                try:
                    while True:
                        frame = collector.recv(FRAME_BYTES)
                        received_ns = now_ns()
                        if is_report_of(frame, number):
                            break
                except TimeoutError:
                    continue
                ingress, egress = (US_NS * stamp for stamp in STAMPS.unpack_from(frame, STAMPS_AT))
                least, most = max(least, sent_ns - ingress), min(most, received_ns - egress)
                found += 1
                if found == PROBES:
                    break
        if not found:
            raise PlumbingError(f"bmv2: received no report of {TRIES} probes to {self.destination}")
        return Reading(now_ns(), (least + most) // 2, abs(most - least) // 2)


def probe(destination: str, number: int) -> bytes:
    """A UDP datagram to a port without a listener."""
    to, datagram = ipaddress.ip_address(destination), dpkt.udp.UDP(sport=9, dport=9, ulen=8)
    packet: dpkt.ip.IP | dpkt.ip6.IP6
    if to.version == 4:
        packet = dpkt.ip.IP(
            src=socket.inet_aton("192.0.2.1"), dst=to.packed,
            id=number, p=dpkt.ip.IP_PROTO_UDP, data=datagram,
        )  # fmt: skip
        packet.len = len(packet)
    else:
        packet = dpkt.ip6.IP6(
            src=socket.inet_pton(socket.AF_INET6, "2001:db8::1"), dst=to.packed,
            flow=number, plen=len(datagram), nxt=dpkt.ip.IP_PROTO_UDP, hlim=64, data=datagram,
        )  # fmt: skip
    frame = dpkt.ethernet.Ethernet(type=ETHERTYPES[to.version], data=packet)
    return bytes(frame).ljust(60, b"\0")


def is_report_of(frame: bytes, number: int) -> bool:
    """True for the report of a probe."""
    if len(frame) <= INNER_AT or (at := NUMBER_AT.get(frame[INNER_AT] >> 4)) is None:
        return False
    return frame[at : at + 2] == number.to_bytes(2, "big")


class Sampler:
    """Time-stamps one report in `SAMPLE` on arrival at the collector's interface."""

    def __init__(self, collector: str, udp_port: int) -> None:
        self._socket = packet_socket(collector)
        self._socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        attach_filter(self._socket, sampled(udp_port))
        self._socket.settimeout(0.1)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._listen)
        self.samples = list[tuple[int, int]]()
        """For each report: bmv2's egress stamp, and its arrival by our clock, both in ns."""

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        self._socket.close()

    def _listen(self) -> None:
        while not self._over.is_set():
            try:
                frame, ancillary, _, _ = self._socket.recvmsg(FRAME_BYTES, 64)
            except TimeoutError:
                continue
            # The kernel's stamps are system time.
            ahead_ns = now_ns() - time.time_ns()
            for _, kind, data in ancillary:
                if kind == SO_TIMESTAMPNS:
                    seconds, ns = struct.unpack("@qq", data)
                    egress = US_NS * STAMPS.unpack_from(frame, STAMPS_AT)[1]
                    self.samples.append((egress, seconds * 10**9 + ns + ahead_ns))

    def to_the_wire_us(self, clock: Clock) -> list[float]:
        """Delay of each from its queue to the wire; about 100 us of it may be clock error."""
        offset_ns = clock.offset_ns(0)
        return [(came - (egress + offset_ns)) / 1000 for egress, came in self.samples]


def sampled(udp_port: int) -> Sequence[tuple[int, int, int, int]]:
    """The classic BPF program that accepts one report in `SAMPLE` (linux/bpf_common.h)."""
    load_half, load_byte, jump_equal, jump_any, give = 0x28, 0x30, 0x15, 0x45, 0x06
    return [
        (load_half, 0, 0, DPORT_AT),
        (jump_equal, 0, 3, udp_port),
        (load_byte, 0, 0, SEQUENCE_AT + 3),
        (jump_any, 1, 0, SAMPLE - 1),
        (give, 0, 0, FRAME_BYTES),
        (give, 0, 0, 0),
    ]


def attach_filter(to: socket.socket, program: Sequence[tuple[int, int, int, int]]) -> None:
    """Attaches a classic BPF filter to a socket."""
    code = b"".join(struct.pack("HBBI", *step) for step in program)
    held = ctypes.create_string_buffer(code)
    to.setsockopt(
        socket.SOL_SOCKET, SO_ATTACH_FILTER,
        struct.pack("HL", len(program), ctypes.addressof(held)),
    )  # fmt: skip


@contextmanager
def sampling(sampler: Sampler | None) -> Iterator[None]:
    """Samples reports if the plan records any."""
    if sampler is None:
        yield
        return
    with sampler:
        yield
