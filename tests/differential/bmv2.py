"""bmv2's `simple_switch` on capture files: packets in, packets out (`bench/sections/bmv2.py` finds
it).
"""

from __future__ import annotations

import struct
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from bench.sections.bmv2 import CLI, PORT, SWITCH, configure

__all__ = ["CLI", "SWITCH", "run"]

#: Time between packets, long enough for bmv2 to finish one before the next.
SPACING_S = 0.001
#: Time before the first packet, so that the entries can be written.
BEFORE_S = 4
#: Maximum lateness of a thread of bmv2 with its last packet.
AFTER_S = 2.0


def run(
    program: Path, commands: Sequence[str], packets: Sequence[bytes], ports: Iterable[int], at: Path
) -> Mapping[int, list[bytes]]:
    """The packets that leave by each port when the packets arrive on port 0 one at a time."""
    assert SWITCH
    ports = sorted({0, *ports})
    for port in ports:
        write_capture(at / f"p{port}_in.pcap", packets if port == 0 else [])
    interfaces = [word for port in ports for word in ("-i", f"{port}@p{port}")]
    files = ["--use-files", str(BEFORE_S), "--thrift-port", str(PORT)]
    with subprocess.Popen(
        [*SWITCH, *files, *interfaces, str(program)], cwd=at, stdout=subprocess.DEVNULL
    ) as switch:
        started = time.monotonic()
        try:
            time.sleep(1)
            # A stalled thread must not overflow its queue.
            configure(["set_queue_depth 100000", *commands])
            assert time.monotonic() - started < BEFORE_S, "the entries came too late"
            time.sleep(BEFORE_S + len(packets) * SPACING_S + AFTER_S)
            assert switch.poll() is None, "simple_switch has ended"
        finally:
            switch.terminate()
            switch.wait(10)
    return {port: read_capture(at / f"p{port}_out.pcap") for port in ports}


def write_capture(path: Path, packets: Sequence[bytes]) -> None:
    """A capture file of Ethernet frames."""
    with path.open("wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for i, packet in enumerate(packets):
            microseconds = round(i * SPACING_S * 1e6)
            stamp = (1_000_000 + microseconds // 1_000_000, microseconds % 1_000_000)
            file.write(struct.pack("<IIII", *stamp, len(packet), len(packet)) + packet)


def read_capture(path: Path) -> list[bytes]:
    """The frames of a capture file."""
    data, at, packets = path.read_bytes(), 24, []
    while at < len(data):
        (length,) = struct.unpack_from("<8xI", data, at)
        packets.append(data[at + 16 : at + 16 + length])
        at += 16 + length
    return packets
