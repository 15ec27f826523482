"""The switch alone: packets per second of the engine, large tables, and bmv2 for comparison.

Our figures come from `cargo bench -p narrows-switch` (`switch/benches/`). If bmv2's `simple_switch`
is installed (`bmv2.py`), it runs the program of thirty tables, and the bottleneck with one route
and no telemetry. It runs in file mode with its log off (`--use-files`). There is no pacing, because
every packet of the capture has the same time stamp. The rate is the growth of its output file, so
packets that its queue drops do not count.
"""

from __future__ import annotations

import signal
import struct
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.section import ROOT, Json, Options, Section, output
from bench.sections import bmv2

TABLES30 = ROOT / "switch" / "tests" / "programs" / "tables30.json"
BOTTLENECK = ROOT / "p4" / "build" / "v1model.json"
ROUTE = (
    "table_add NarrowsIngress.forward.ipv4_lpm route 10.0.2.0/24 => 1 0x020000000001 0x020000000002"
)
#: Until the first packet, so that the entries can be written.
BEFORE_S = 4
#: Packets in the capture that bmv2 reads.
PACKETS = 20_000
PCAP_FILE_BYTES, PCAP_RECORD_BYTES = 24, 16
NOT_INSTALLED = "simple_switch: not installed (NARROWS_SIMPLE_SWITCH names its command)"
NO_CLI = "simple_switch_CLI: not installed (NARROWS_SIMPLE_SWITCH_CLI names it), so no bottleneck"


def cargo_bench(name: str) -> dict[str, dict[str, float]]:
    """The table printed by one of the crate's benchmarks, by row and column."""
    printed = output(["cargo", "bench", "--quiet", "-p", "narrows-switch", "--bench", name])
    # Columns are right-aligned, with at least two blanks between them.
    lines = [line for line in printed.splitlines() if line.strip()]
    header = split(lines[0])
    rows = [split(line) for line in lines[1:]]
    return {row[0]: dict(zip(header[1:], map(float, row[1:]), strict=True)) for row in rows}


def split(line: str) -> list[str]:
    """The cells of a line."""
    return [cell.strip() for cell in line.split("  ") if cell.strip()]


def frame(length: int) -> bytes:
    """An IPv4 packet for 10.0.2.1 in a frame of `length` bytes."""
    ethernet = bytes.fromhex("0200000000090200000000080800")
    total = length - len(ethernet)
    words = (0x4500, total, 0, 0, 0x4006, 0x0A00, 0x0101, 0x0A00, 0x0201)
    checksum = 0xFFFF - sum(words) % 0xFFFF
    ip = struct.pack(">10H", *words[:5], checksum, *words[5:])
    return (ethernet + ip).ljust(length, b"\0")


def bmv2_rate(program: Path, length: int, commands: Sequence[str]) -> float | None:
    """Packets per second that leave bmv2, None if none did."""
    assert bmv2.SWITCH
    packet = frame(length)
    record = struct.pack("<IIII", 1, 0, length, length) + packet
    head = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    with tempfile.TemporaryDirectory() as folder:
        for port in (0, 1):
            inward = head + (record * PACKETS if port == 0 else b"")
            Path(folder, f"{port}_in.pcap").write_bytes(inward)
        files = ["--use-files", str(BEFORE_S if commands else 1), "-i", "0@0", "-i", "1@1"]
        thrift = ["--thrift-port", str(bmv2.PORT)]
        quiet = subprocess.DEVNULL
        process = subprocess.Popen(
            [*bmv2.SWITCH, *files, *thrift, str(program)], cwd=folder, stdout=quiet, stderr=quiet
        )
        try:
            if commands:
                time.sleep(1)
                bmv2.configure(commands)
            seen = growth(Path(folder, "1_out.pcap"))
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=10)
    if len(seen) < 2:
        return None
    (first_s, first_bytes), (last_s, last_bytes) = seen[0], seen[-1]
    return (last_bytes - first_bytes) / (PCAP_RECORD_BYTES + length) / (last_s - first_s)


def growth(path: Path) -> list[tuple[float, int]]:
    """The sizes of a file over time, until it has not grown for a second."""
    seen: list[tuple[float, int]] = []
    limit = time.perf_counter() + 30
    while (now := time.perf_counter()) < limit:
        size = path.stat().st_size if path.exists() else 0
        if size > PCAP_FILE_BYTES and (not seen or size > seen[-1][1]):
            seen.append((now, size))
        elif seen and now - seen[-1][0] > 1:
            break
        time.sleep(0.002)
    return seen


def measure(options: Options) -> Json:
    """Runs the benchmarks, prints a line per benchmark, and returns the figures."""
    engine, tables = cargo_bench("engine"), cargo_bench("tables")
    print(f"\n{'switch, packets/s a core':28} {'64 B':>12} {'1500 B':>12} {'1500 B zeros':>14}")
    for name, rates in engine.items():
        cells = f"{rates['64 B']:12,.0f} {rates['1500 B']:12,.0f} {rates['1500 B zeros']:14,.0f}"
        print(f"{name:28} {cells}")
    found: dict[str, Any] = {"packets_per_s": engine, "tables": tables, "simple_switch": None}
    if bmv2.SWITCH is None:
        print(NOT_INSTALLED)
    else:
        found["simple_switch"] = {"mode": "--use-files, no pacing"}
        rows: list[tuple[str, Path, list[str]]] = [("thirty tables", TABLES30, [])]
        if bmv2.CLI is None:
            print(NO_CLI)
        else:
            rows.append(("bottleneck", BOTTLENECK, [ROUTE]))
        for name, program, commands in rows:
            by_length = {f"{one} B": bmv2_rate(program, one, commands) for one in (64, 1500)}
            found["simple_switch"][name] = by_length
            rates_s = ("-" if rate is None else f"{rate:,.0f}" for rate in by_length.values())
            cells = " ".join(f"{rate:>12}" for rate in rates_s)
            print(f"{'bmv2 file mode, ' + name:28} {cells}")
    columns = list(next(iter(tables.values())))
    print(f"\n{'table state':28} " + " ".join(f"{column:>12}" for column in columns))
    for name, values in tables.items():
        print(f"{name:28} " + " ".join(f"{values[column]:12,.0f}" for column in columns))
    return found


def rates(found: Json) -> dict[str, float]:
    """Packets per second of the engine."""
    return {
        f"{name}, {column}": rate
        for name, columns in found["packets_per_s"].items()
        for column, rate in columns.items()
    }


SECTION = Section("switch", measure, rates)
