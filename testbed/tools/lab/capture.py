"""The packets of every port of a lab, as pcap files: `s1-eth2_in.pcap` and `s1-eth2_out.pcap`, by
bmv2's names.

A socket reads what arrives at each end of a link. The kernel shows nobody what a switch sends,
because the switch's ports bypass the queueing layer (PACKET_QDISC_BYPASS in packet(7)).
"""

from __future__ import annotations

import selectors
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from decimal import Decimal
from pathlib import Path
from typing import Any, Final, Self

import dpkt.pcap

from narrows.testbed.tools.lab.network import Hosts
from narrows.testbed.tools.lab.topology import End, Topology

SO_TIMESTAMPNS: Final = 35
"""asm-generic/socket.h"""
SOL_PACKET, PACKET_STATISTICS = 263, 6
"""linux/socket.h, linux/if_packet.h"""
ANCILLARY_BYTES: Final = 64
ALL_PACKETS: Final = 0x0003
"""ETH_P_ALL."""
BUFFER_BYTES: Final = 8 << 20
SNAPLEN: Final = 65_536
POLL_S: Final = 0.1
NS_PER_S: Final = 10**9

Write = Callable[[bytes, int], None]
"""Takes a frame, and its time in nanoseconds since 1970."""


class Capture:
    """Writes the files, on a thread, in a block."""

    def __init__(self, topology: Topology, hosts: Hosts, directory: Path) -> None:
        self.lost = 0
        """Packets that the kernel had no room for."""
        self._stack = ExitStack()
        self._is_over = threading.Event()
        self._selector = selectors.DefaultSelector()
        self._thread = threading.Thread(target=self._watch, name="capture", daemon=True)
        self._directory = directory
        files = {
            end: (self._file(f"{stem(end)}_in.pcap"), self._file(f"{stem(end)}_out.pcap"))
            for end in ends(topology)
        }
        for read, into, out_of in links(topology, hosts):
            self._stack.enter_context(read)
            given = [files[into][0]] if into is not None else []
            given += [files[out_of][1]] if out_of is not None else []
            self._selector.register(read, selectors.EVENT_READ, given)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the files."""
        if self._is_over.is_set():
            return
        self._is_over.set()
        if self._thread.is_alive():
            self._thread.join()
        for key in list(self._selector.get_map().values()):
            assert isinstance(key.fileobj, socket.socket)
            self.lost += lost_by(key.fileobj)
        self._stack.close()
        self._selector.close()

    def _file(self, name: str) -> Write:
        file = self._stack.enter_context((self._directory / name).open("wb"))
        # dpkt has no types.
        writer: Any = dpkt.pcap.Writer(file, snaplen=SNAPLEN, nano=True)

        def write(frame: bytes, time_ns: int) -> None:
            writer.writepkt_time(frame, Decimal(time_ns) / NS_PER_S)

        return write

    def _watch(self) -> None:
        is_last = False
        while not is_last:
            is_last = self._is_over.is_set()
            for key, _ in self._selector.select(0 if is_last else POLL_S):
                assert isinstance(key.fileobj, socket.socket)
                take(key.fileobj, key.data)


def stem(end: End) -> str:
    """A port in bmv2's names of files."""
    return f"{end.switch}-eth{end.port}"


def ends(topology: Topology) -> Iterator[End]:
    """Every port of a switch with a link."""
    yield from (host.at for host in topology.hosts)
    for link in topology.links:
        yield from link.ends


def links(
    topology: Topology, hosts: Hosts
) -> Iterator[tuple[socket.socket, End | None, End | None]]:
    """A socket for what arrives at each end of each link, with the port that the packets enter and
    the port that they left; None for a host.
    """
    for host in topology.hosts:
        yield listening(hosts.interface(host.at)), host.at, None
        yield hosts.namespaces[host.name].call(lambda: listening("eth0")), None, host.at
    for link in topology.links:
        near, far = link.ends
        yield listening(hosts.interface(near)), near, far
        yield listening(hosts.interface(far)), far, near


def listening(interface: str) -> socket.socket:
    """A socket that gets all packets of an interface."""
    opened = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ALL_PACKETS))
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER_BYTES)
    opened.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    opened.bind((interface, ALL_PACKETS))
    opened.setblocking(False)
    return opened


def take(read: socket.socket, files: list[Write]) -> None:
    """Writes the packets that arrived at a socket's interface."""
    while True:
        try:
            frame, ancillary, _, address = read.recvmsg(SNAPLEN, ANCILLARY_BYTES)
        except BlockingIOError:
            return
        if address[2] != socket.PACKET_OUTGOING:
            time_ns = stamp_ns(ancillary)
            for write in files:
                write(frame, time_ns)


def stamp_ns(ancillary: list[tuple[int, int, bytes]]) -> int:
    """The kernel's time of a packet, in nanoseconds since 1970."""
    for level, kind, data in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, SO_TIMESTAMPNS):
            seconds = int.from_bytes(data[:8], "little")
            return seconds * NS_PER_S + int.from_bytes(data[8:16], "little")
    return 0


def lost_by(read: socket.socket) -> int:
    """Packets that the kernel dropped at a socket: `tp_drops` (packet(7))."""
    statistics = read.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8)
    return int.from_bytes(statistics[4:8], "little")
