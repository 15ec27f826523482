"""Packet traces: CSV and pcap, byte by byte as their formats define."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from narrows.testbed.scenario.traces import packets as traces

PACKETS = [(5, 999_999, 60), (6, 1, 1514), (6, 1, 90)]
"""Seconds, microseconds, length on the wire."""


def pcap(order: str, magic: int, scale: int = 1) -> bytes:
    content = struct.pack(f"{order}IHHiIII", magic, 2, 4, 0, 0, 64, 1)
    for seconds, micros, length in PACKETS:
        captured = min(length, 64)
        content += struct.pack(f"{order}IIII", seconds, micros * scale, captured, length)
        content += bytes(captured)
    return content


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize(("magic", "scale"), [(0xA1B2C3D4, 1), (0xA1B23C4D, 1000)])
def test_a_pcap_file_of_either_order_and_clock(
    tmp_path: Path, order: str, magic: int, scale: int
) -> None:
    path = tmp_path / "some.pcap"
    path.write_bytes(pcap(order, magic, scale))
    # 6.000001 s - 5.999999 s = 2 us.
    assert traces.read(path) == [(0, 60), (2_000_000, 1514), (2_000_000, 90)]


WRONG = [
    ("a.csv", b"time,size\n", "expected seconds,bytes"),
    ("a.csv", b"seconds,bytes\n", "holds no packet"),
    ("a.csv", b"seconds,bytes\n1,60\nx,60\n", "line 3 is not a time"),
    ("a.csv", b"seconds,bytes\n1,60\n0.5,60\n", "line 3 is earlier"),
    ("a.csv", b"seconds,bytes\n1,23\n", "line 2 has 23 B"),
    ("a.csv", b"\xff\xfe", "is not valid CSV"),
    ("a.pcap", b"", "neither"),
    ("a.pcap", b"\x0a\x0d\x0d\x0a" + bytes(40), "pcapng"),
    ("a.pcap", pcap("<", 0xA1B2C3D4)[:-1], "ends within packet 3"),
    ("a.pcap", pcap("<", 0xA1B2C3D4)[:30], "ends within the header of packet 1"),
]


@pytest.mark.parametrize(("name", "content", "says"), WRONG)
def test_what_is_no_trace_is_refused(tmp_path: Path, name: str, content: bytes, says: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(traces.TraceError, match=says):
        traces.read(path)
