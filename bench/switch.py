"""The switch by itself: packets per second of the engine, large tables, and bmv2 beside it.

Our figures come from `cargo bench -p narrows-switch` (`switch/benches/`). bmv2's `simple_switch`,
where `NARROWS_BMV2` names it or it is on the path, runs the program of thirty tables in its
file mode (`--use-files`, no pacing: every packet of the capture bears the same time stamp), with
its log off, in a network namespace of its own since its Thrift server listens on every address.
What counts is how fast its output file grows, so packets that its queue drops do not.
"""

from __future__ import annotations

import os
import shutil
import signal
import struct
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
TABLES30 = ROOT / "switch" / "tests" / "programs" / "tables30.json"
#: Packets in the capture that bmv2 reads.
PACKETS = 20_000
PCAP_FILE_BYTES, PCAP_RECORD_BYTES = 24, 16
NOT_INSTALLED = "simple_switch: not installed (NARROWS_BMV2 names it, or it is on the path)"


def cargo_bench(name: str) -> dict[str, dict[str, float]]:
    """The table that one of the crate's benchmarks prints, by row and column."""
    command = ["cargo", "bench", "--quiet", "-p", "narrows-switch", "--bench", name]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if found.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {found.stderr.strip()[-2000:]}")
    # Columns are right-aligned, and two blanks or more apart.
    lines = [line for line in found.stdout.splitlines() if line.strip()]
    header = split(lines[0])
    rows = [split(line) for line in lines[1:]]
    return {row[0]: dict(zip(header[1:], map(float, row[1:]), strict=True)) for row in rows}


def split(line: str) -> list[str]:
    """The cells of a line."""
    return [cell.strip() for cell in line.split("  ") if cell.strip()]


def simple_switch() -> str | None:
    """Where bmv2's switch is."""
    named = os.environ.get("NARROWS_BMV2")
    return named if named and Path(named).exists() else shutil.which("simple_switch")


def frame(length: int) -> bytes:
    """An IPv4 packet for 10.0.2.1 in a frame of `length` bytes."""
    ethernet = bytes.fromhex("0200000000090200000000080800")
    total = length - len(ethernet)
    addresses = bytes((10, 0, 1, 1, 10, 0, 2, 1))
    ip = struct.pack(">BBHHHBBH", 0x45, 0, total, 0, 0, 64, 6, 0) + addresses
    return (ethernet + ip).ljust(length, b"\0")


def bmv2_rate(program: str, length: int) -> float | None:
    """Packets per second that leave bmv2, `None` when none did."""
    packet = frame(length)
    record = struct.pack("<IIII", 1, 0, length, length) + packet
    head = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    with tempfile.TemporaryDirectory() as folder:
        for port in (0, 1):
            inward = head + (record * PACKETS if port == 0 else b"")
            Path(folder, f"{port}_in.pcap").write_bytes(inward)
        command = [program, "--use-files", "1", "-i", "0@0", "-i", "1@1", str(TABLES30)]
        if shutil.which("unshare"):
            command = ["unshare", "--net", "--map-root-user", *command]
        quiet = subprocess.DEVNULL
        process = subprocess.Popen(command, cwd=folder, stdout=quiet, stderr=quiet)
        try:
            seen = growth(Path(folder, "1_out.pcap"))
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=10)
    if len(seen) < 2:
        return None
    (first_s, first_bytes), (last_s, last_bytes) = seen[0], seen[-1]
    return (last_bytes - first_bytes) / (PCAP_RECORD_BYTES + length) / (last_s - first_s)


def growth(path: Path) -> list[tuple[float, int]]:
    """When a file had which size, until it has not grown for a second."""
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


def measure() -> dict[str, Any]:
    """Runs the benchmarks, prints a line each, and returns the figures."""
    engine, tables = cargo_bench("engine"), cargo_bench("tables")
    print(f"\n{'switch, packets/s a core':28} {'64 B':>12} {'1500 B':>12} {'1500 B zeros':>14}")
    for name, rates in engine.items():
        cells = f"{rates['64 B']:12,.0f} {rates['1500 B']:12,.0f} {rates['1500 B zeros']:14,.0f}"
        print(f"{name:28} {cells}")
    found: dict[str, Any] = {"packets_per_s": engine, "tables": tables, "simple_switch": None}
    program = simple_switch()
    if program is None:
        print(NOT_INSTALLED)
    else:
        bmv2 = {f"{length} B": bmv2_rate(program, length) for length in (64, 1500)}
        cells = " ".join(f"{'-' if rate is None else f'{rate:,.0f}':>12}" for rate in bmv2.values())
        print(f"{'bmv2 file mode, 30 tables':28} {cells}")
        found["simple_switch"] = {"thirty tables": bmv2, "mode": "--use-files, no pacing"}
    columns = list(next(iter(tables.values())))
    print(f"\n{'table state':28} " + " ".join(f"{column:>12}" for column in columns))
    for name, values in tables.items():
        print(f"{name:28} " + " ".join(f"{values[column]:12,.0f}" for column in columns))
    return found
