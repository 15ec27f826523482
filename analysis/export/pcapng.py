"""A run's packets as captures for Wireshark: pcapng with nanoseconds, a file per host.

Blocks and options as in draft-ietf-opsawg-pcapng. A host's file contains what a capture on the host
would: the packets that TCP passed to the access link, and those that the link delivered. The bytes
are those that the host built or received: all headers, and the stamp in the payload. The zeros of
simulated bulk data after them are omitted. As with a snapshot length, the captured length of a
packet counts the bytes in the file, and the original length those on the wire.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import BinaryIO, Final

import polars as pl

from narrows.analysis.export.base import Format
from narrows.analysis.load import Run

_SECTION: Final = 0x0A0D0D0A
_INTERFACE: Final = 1
_PACKET: Final = 6
_BYTE_ORDER: Final = 0x1A2B3C4D
_ETHERNET: Final = 1
_OPTION_END: Final = struct.pack("<HH", 0, 0)
_NANOSECONDS: Final = 9
"""The exponent of the time resolution: 10^-9 s."""
_SOURCE, _DESTINATION = 14 + 12, 14 + 16
"""The offset of the addresses in an IPv4 packet, with the Ethernet header."""
_PS_PER_NS: Final = 1000
_COLUMNS: Final = ("time_ps", "direction", "length_bytes", "bytes")


def write(run: Run, path: Path) -> None:
    """Writes `<path>/<address>.pcapng` of each host; times are rounded down to nanoseconds."""
    path.mkdir(exist_ok=True)
    packets = run.table("capture").sort("host", "time_ps", maintain_order=True).collect()
    for rows in packets.partition_by("host", maintain_order=True):
        address = _address(rows)
        with (path / f"{address}.pcapng").open("wb") as file:
            about = _option(1, f"{run.title}: {run.name}".encode()) + _option(4, b"narrows")
            version = struct.pack("<IHHq", _BYTE_ORDER, 1, 0, -1)
            _block(file, _SECTION, version + about + _OPTION_END)
            name = _option(2, address.encode()) + _option(9, bytes([_NANOSECONDS]))
            _block(file, _INTERFACE, struct.pack("<HHI", _ETHERNET, 0, 0) + name + _OPTION_END)
            for time_ps, direction, length_bytes, data in rows.select(_COLUMNS).iter_rows():
                time_ns = time_ps // _PS_PER_NS
                times = (time_ns >> 32, time_ns & 0xFFFFFFFF)
                body = struct.pack("<5I", 0, *times, len(data), length_bytes) + _padded(data)
                _block(file, _PACKET, body + _FLAGS[direction])


def _address(rows: pl.DataFrame) -> str:
    """The IPv4 address of the host with these packets."""
    _, direction, _, data = rows.select(_COLUMNS).row(0)
    start = _SOURCE if direction == "sent" else _DESTINATION
    return ".".join(map(str, data[start : start + 4]))


def _block(file: BinaryIO, kind: int, body: bytes) -> None:
    length = struct.pack("<I", 12 + len(body))
    file.write(struct.pack("<I", kind) + length + body + length)


def _option(code: int, value: bytes) -> bytes:
    return struct.pack("<HH", code, len(value)) + _padded(value)


def _padded(data: bytes) -> bytes:
    """Pads to a multiple of 4 bytes."""
    return data + bytes(-len(data) % 4)


_FLAGS: Final = {
    direction: _option(2, struct.pack("<I", flag)) + _OPTION_END
    for direction, flag in (("received", 1), ("sent", 2))
}
"""The options of a packet: its direction."""

FORMAT = Format(
    name="pcapng",
    title="the packets of each host, in nanoseconds, for Wireshark",
    suffix="",
    needs=("capture",),
    write=write,
)
