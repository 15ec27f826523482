"""pcap files as a switch's ports: `<name>_in.pcap` is input, `<name>_out.pcap` output.

Times are integers in nanoseconds; dpkt writes the format. It reads a packet that the file cuts off
as a whole one, so the reader is ours.
"""

from __future__ import annotations

import heapq
import struct
import threading
from collections.abc import Iterator, Mapping
from decimal import Decimal
from io import BytesIO, FileIO
from pathlib import Path
from typing import BinaryIO

import dpkt
import dpkt.pcap

from narrows.testbed.problems import InputError, Problem

NS = 10**9
SNAPLEN = 262_144
DLT_ETHERNET = 1
HEADER_BYTES = 24
MAGICS = {0xA1B2C3D4: 10**6, 0xA1B23C4D: NS}
"""Magic numbers, and the parts of a second that times count."""
SPAN_DAYS = 100
SPAN_NS = SPAN_DAYS * 86_400 * NS
"""The switch counts picoseconds in 64 bits: 213 days."""
WRITE_BYTES = 1 << 16
"""Packets wait until they are so many bytes, or for a flush."""

Arrival = tuple[int, int, bytes]
"""Time in ns, port, frame."""


class Ports:
    """The files of some ports, given as port number to name. Raises `InputError`."""

    def __init__(self, names: Mapping[int, str]) -> None:
        self._readers = {port: open_input(Path(f"{name}_in.pcap")) for port, name in names.items()}
        self._outputs = dict[int, Output]()
        for port, name in names.items():
            path = Path(f"{name}_out.pcap")
            try:
                self._outputs[port] = Output(path)
            except OSError as error:
                raise InputError(str(path), [Problem("", str(error))]) from None

    def arrivals(self) -> Iterator[Arrival]:
        """All packets in order of time, then of port."""
        streams = [read(path, reader, port) for port, (path, reader) in self._readers.items()]
        return heapq.merge(*streams, key=lambda arrival: arrival[:2])

    def write(self, port: int, time_ns: int, frame: bytes) -> bool:
        """Writes a packet; returns false if the port has no file."""
        if port not in self._outputs:
            return False
        self._outputs[port].write(time_ns, frame)
        return True

    def flush(self) -> None:
        """Flushes written packets to the files. Any thread may call it."""
        for output in self._outputs.values():
            output.flush()

    def close(self) -> None:
        """Closes all files."""
        for output in self._outputs.values():
            output.close()
        for _, reader in self._readers.values():
            reader.close()


class Output:
    """A pcap file that has whole packets only, however the process ends. Raises `OSError`."""

    def __init__(self, path: Path) -> None:
        self._file = FileIO(path, "wb")
        self._last = BytesIO()
        self._writer = dpkt.pcap.Writer(self._last, snaplen=SNAPLEN, nano=True)
        self._lock = threading.Lock()
        self._waiting = list[bytes]()
        self._bytes = 0
        self._take()

    def write(self, time_ns: int, frame: bytes) -> None:
        """Adds a packet."""
        self._writer.writepkt_time(frame, Decimal(time_ns) / NS)
        self._take()
        if self._bytes >= WRITE_BYTES:
            self.flush()

    def _take(self) -> None:
        """Takes what dpkt wrote last: the file's header, or a packet."""
        self._waiting.append(self._last.getvalue())
        self._bytes += len(self._waiting[-1])
        self._last.seek(0)
        self._last.truncate()

    def flush(self) -> None:
        """Writes the packets that wait."""
        with self._lock:
            whole, self._waiting, self._bytes = self._waiting, [], 0
            left = memoryview(b"".join(whole))
            while left:
                left = left[self._file.write(left) :]

    def close(self) -> None:
        """Closes the file."""
        self.flush()
        self._file.close()


class Readable:
    """A pcap file whose header has been read."""

    def __init__(self, file: BinaryIO, order: str, parts_a_second: int) -> None:
        self._file = file
        self._record = struct.Struct(f"{order}4I")
        self._part_ns = NS // parts_a_second
        self.close = file.close

    def packets(self) -> Iterator[tuple[int, bytes]]:
        """Times in nanoseconds and frames. Raises `ValueError` for a record that can't be."""
        number = 0
        while header := self._file.read(self._record.size):
            number += 1
            if len(header) < self._record.size:
                raise ValueError(f"ends within the header of packet {number}")
            seconds, parts, captured, _ = self._record.unpack(header)
            if captured > SNAPLEN:
                what = f"has {captured} bytes: expected at most {SNAPLEN}"
                raise ValueError(f"packet {number} {what}")
            frame = self._file.read(captured)
            if len(frame) < captured:
                raise ValueError(f"ends in the middle of packet {number}")
            yield seconds * NS + parts * self._part_ns, frame


def open_input(path: Path) -> tuple[Path, Readable]:
    """A file that begins as pcap (draft-ietf-opsawg-pcap)."""
    try:
        file = path.open("rb")
    except OSError as error:
        raise InputError(str(path), [Problem("", str(error))]) from None
    header = file.read(HEADER_BYTES)
    magics = ((order, magic) for order in "<>" for magic in MAGICS)
    known = (m for m in magics if struct.pack(f"{m[0]}I", m[1]) == header[:4])
    order, magic = next(known, ("", 0))
    what = ""
    if len(header) < HEADER_BYTES or not order:
        what = "is not a pcap file; pcapng is not supported"
    elif (link_type := struct.unpack_from(f"{order}I", header, 20)[0] & 0xFFFF) != DLT_ETHERNET:
        what = f"link type {link_type}: expected {DLT_ETHERNET} (Ethernet)"
    if what:
        file.close()
        raise InputError(str(path), [Problem("", what)])
    return path, Readable(file, order, MAGICS[magic])


def read(path: Path, reader: Readable, port: int) -> Iterator[Arrival]:
    """A file's packets; time does not go back. Raises `InputError`."""
    first, last = None, 0
    try:
        for time_ns, frame in reader.packets():
            last = max(last, time_ns)
            first = last if first is None else first
            if last - first > SPAN_NS:
                days = (last - first) / (86_400 * NS)
                raise ValueError(f"has packets {days:.0f} days apart: expected at most {SPAN_DAYS}")
            yield last, port, frame
    except ValueError as error:
        raise InputError(str(path), [Problem("", str(error))]) from None
