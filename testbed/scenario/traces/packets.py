"""Reads packet traces for `app = { kind = "trace", file = ... }`: times and sizes from CSV or pcap.

CSV: a line `seconds,bytes`, then a line per packet. pcap: the classic format in either byte order,
with microseconds or nanoseconds (draft-ietf-opsawg-pcap). A packet's size is its length on the
wire, even if the capture is truncated. Times are relative to the first packet.
"""

from __future__ import annotations

import csv
import struct
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

from narrows.schema import budgets
from narrows.schema.units import PS_PER_S

HEADER = ["seconds", "bytes"]

LEAST_BYTES = 24
"""Minimum bytes of a packet: a message must have room for its header (traffic/src/message.rs)."""

MAGICS = {0xA1B2C3D4: 10**6, 0xA1B23C4D: 10**9}
"""pcap's magic numbers, and their time units per second."""

FILE_HEADER_BYTES, RECORD_HEADER_BYTES = 24, 16


class TraceError(Exception):
    """A trace that cannot be replayed; the message has the reason and the line or packet."""


def read(path: Path) -> list[tuple[int, int]]:
    """Picoseconds since the first packet, and bytes, of every packet. Raises `TraceError`."""
    try:
        with path.open("rb") as file:
            content = file.read(budgets.TEXT_FILE_BYTES + 1)
    except OSError as error:
        raise TraceError(f"cannot be read ({error})") from None
    if len(content) > budgets.TEXT_FILE_BYTES:
        raise TraceError(f"has more than {budgets.TEXT_FILE_BYTES} bytes; expected fewer")
    packets = list(read_csv(content) if path.suffix == ".csv" else read_pcap(content))
    if not packets:
        raise TraceError("holds no packet")
    first = last = packets[0][1]
    writes = []
    for where, time, size_bytes in packets:
        if time < last:
            raise TraceError(f"{where} is earlier than its predecessor; expected increasing times")
        if not LEAST_BYTES <= size_bytes < 2**32:
            raise TraceError(f"{where} has {size_bytes} B; expected at least {LEAST_BYTES} B")
        last = time
        writes.append((int((time - first) * PS_PER_S), size_bytes))
    return writes


def read_csv(content: bytes) -> Iterator[tuple[str, Fraction, int]]:
    """Position, time in seconds and size of the packet on each line. Raises `TraceError`."""
    try:
        lines = csv.reader(content.decode("utf-8").splitlines())
        if next(lines, None) != HEADER:
            raise TraceError(f"has another first line; expected {','.join(HEADER)}")
        for fields in lines:
            where = f"line {lines.line_num}"
            try:
                seconds, size_bytes = fields
                yield where, Fraction(seconds), int(size_bytes)
            except (ValueError, ZeroDivisionError):
                raise TraceError(f"{where} is not a time in seconds and a size in bytes") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise TraceError(f"is not valid CSV ({error})") from None


def read_pcap(content: bytes) -> Iterator[tuple[str, Fraction, int]]:
    """Position, time in seconds and size of each packet. Raises `TraceError`."""
    magics = ((order, magic) for order in "<>" for magic in MAGICS)
    order, magic = next(
        (m for m in magics if struct.pack(f"{m[0]}I", m[1]) == content[:4]), ("", 0)
    )
    if len(content) < FILE_HEADER_BYTES or not order:
        raise TraceError("is neither a .csv file nor a pcap file (pcapng is not read)")
    at, number = FILE_HEADER_BYTES, 0
    while at < len(content):
        number += 1
        if at + RECORD_HEADER_BYTES > len(content):
            raise TraceError(f"ends within the header of packet {number}")
        seconds, parts, captured, size_bytes = struct.unpack_from(f"{order}4I", content, at)
        at += RECORD_HEADER_BYTES + captured
        if at > len(content):
            raise TraceError(f"ends within packet {number}")
        yield f"packet {number}", seconds + Fraction(parts, MAGICS[magic]), size_bytes
