"""pcap files as a switch's ports: `<name>_in.pcap` is input, `<name>_out.pcap` output.

Times are integers in nanoseconds; dpkt reads and writes the format.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import dpkt
import dpkt.pcap

from narrows.testbed.problems import InputError, Problem

NS = 10**9
SNAPLEN = 262_144
DLT_ETHERNET = 1

Arrival = tuple[int, int, bytes]
"""Time in ns, port, frame."""


class Ports:
    """The files of some ports, given as port number to name. Raises `InputError`."""

    def __init__(self, names: Mapping[int, str]) -> None:
        self._readers = {port: open_input(Path(f"{name}_in.pcap")) for port, name in names.items()}
        self._files: dict[int, Any] = {}
        self._writers: dict[int, Any] = {}
        for port, name in names.items():
            path = Path(f"{name}_out.pcap")
            try:
                self._files[port] = path.open("wb")
            except OSError as error:
                raise InputError(str(path), [Problem("", str(error))]) from None
            self._writers[port] = dpkt.pcap.Writer(self._files[port], snaplen=SNAPLEN, nano=True)

    def arrivals(self) -> Iterator[Arrival]:
        """All packets in order of time, then of port."""
        streams = [read(path, reader, port) for port, (path, reader) in self._readers.items()]
        return heapq.merge(*streams, key=lambda arrival: arrival[:2])

    def write(self, port: int, time_ns: int, frame: bytes) -> bool:
        """Writes a packet; returns false if the port has no file."""
        if port not in self._writers:
            return False
        self._writers[port].writepkt_time(frame, Decimal(time_ns) / NS)
        return True

    def flush(self) -> None:
        """Flushes written packets to the files."""
        for file in self._files.values():
            file.flush()

    def close(self) -> None:
        """Closes all files."""
        for file in self._files.values():
            file.close()
        for _, reader in self._readers.values():
            reader.close()


def open_input(path: Path) -> tuple[Path, Any]:
    """Opens a file with a pcap header."""
    try:
        file = path.open("rb")
    except OSError as error:
        raise InputError(str(path), [Problem("", str(error))]) from None
    try:
        reader = dpkt.pcap.Reader(file)
    except (ValueError, dpkt.UnpackError) as error:
        file.close()
        what = f"is not a pcap file ({error}); pcapng is not supported"
        raise InputError(str(path), [Problem("", what)]) from None
    if reader.datalink() != DLT_ETHERNET:
        file.close()
        what = f"link type {reader.datalink()}: expected {DLT_ETHERNET} (Ethernet)"
        raise InputError(str(path), [Problem("", what)])
    return path, Readable(file, reader)


class Readable:
    """A reader and its file."""

    def __init__(self, file: Any, reader: Any) -> None:
        self.packets = reader
        self.close = file.close


def read(path: Path, reader: Readable, port: int) -> Iterator[Arrival]:
    """A file's packets; times never decrease."""
    last = 0
    try:
        for time_s, frame in reader.packets:
            # dpkt returns a float, with an error below half a microsecond.
            nano = isinstance(time_s, Decimal)
            time_ns = int(time_s * NS) if nano else round(time_s * 10**6) * 1000
            last = max(last, time_ns)
            yield last, port, bytes(frame)
    except dpkt.UnpackError as error:
        what = f"ends in the middle of a packet ({error})"
        raise InputError(str(path), [Problem("", what)]) from None
