"""A ledger and its figures from a board's reports, and the flows of its packets.

A board numbers its packets in the order of their arrival, and knows no flows. The frames that this
machine sends to a port of the board arrive there in that order. So the n-th frame is the n-th
packet, if both count the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
import polars as pl

from narrows.controller.drivers.fpga_counts import KINDS, REASONS
from narrows.testbed.targets.fpga.collector import FRAME_BYTES
from narrows.testbed.targets.ledger_from_reports import NO_FIGURES, QUEUE, QueueFigures

if TYPE_CHECKING:
    from narrows.schema.plan import Plan
    from narrows.schema.summary import Quantiles

REPORT: Final = np.dtype([
    ("group", ">u4"), ("node", ">u4"), ("individual", "V3"), ("flags", "u1"), ("metadata", "V8"),
    ("direction", "u1"), ("kind", "u1"), ("reason", "u1"), ("reserved", "u1"), ("number", ">u8"),
    ("at", ">u8"), ("counted", ">u4"), ("packets", ">u4"), ("bytes", ">u8"), ("sojourn", ">u8"),
])  # fmt: skip
"""A Telemetry Report 2.0 of a board (controller/drivers/fpga_protocol.py reads a single one)."""
SEQUENCE_SPAN: Final = 1 << 22
VERSION: Final = 2
RANDOM_LOSS: Final = "random-loss"
PROTOCOL_AT, ADDRESSES_AT, PORTS_END = 23, 26, 38
"""Offsets in an Ethernet frame with IPv4: the protocol, both addresses, and after both ports."""
MAC_BYTES: Final = 6
Flows: TypeAlias = np.ndarray[tuple[int], np.dtype[np.int32]]
"""The flows' numbers of packets in the order of their arrival; 0 for one of no flow."""
PAUSE_MAC: Final = bytes.fromhex("0180c2000001")
"""Frames to this address end at the board (IEEE 802.3, annex 31B)."""


@dataclass(frozen=True)
class Reports:
    """The rows of a run as reports brought them."""

    rows: np.ndarray[tuple[int], np.dtype[np.void]]
    """In the order of arrival, of type `REPORT`."""
    gaps: int
    """Reports that did not arrive, by their numbers."""


def read_reports(path: Path) -> Reports:
    """Reads a collector's file of reports."""
    rows = np.fromfile(path, dtype=REPORT)
    rows = rows[rows["group"] >> 28 == VERSION]
    numbers = rows["group"].astype(np.int64) % SEQUENCE_SPAN
    steps = np.diff(numbers) % SEQUENCE_SPAN
    return Reports(rows, int((steps - 1).clip(min=0).sum()))


def flows_of(path: Path, board_mac: bytes, plan: Plan) -> Flows:
    """The flow of each frame that a collector saw leave towards a board's bottleneck, in order."""
    frames = np.fromfile(path, dtype=np.dtype((np.uint8, FRAME_BYTES)))
    for ends_there in (board_mac, PAUSE_MAC):
        mac = np.frombuffer(ends_there, np.uint8)
        frames = frames[~(frames[:, :MAC_BYTES] == mac).all(axis=1)]
    columns = [PROTOCOL_AT, *range(ADDRESSES_AT, PORTS_END)]
    keys = np.ascontiguousarray(frames[:, columns]).view(f"V{len(columns)}").ravel()
    known = flow_keys(plan)
    each, where = np.unique(keys, return_inverse=True)
    numbers = np.array([known.get(key.tobytes(), 0) for key in each], np.int32)
    return numbers[where] if len(each) else np.zeros(0, np.int32)


def flow_keys(plan: Plan) -> dict[bytes, int]:
    """The protocol, addresses and ports of each flow's packets, both ways, and its number."""
    found = dict[bytes, int]()
    for planned in plan["flows"]:
        flow = planned["flow"]
        ends = [
            (IPv4Address(end["ip"]).packed, end["port"].to_bytes(2, "big"))
            for end in (flow["source"], flow["destination"])
        ]
        for (ip, port), (far_ip, far_port) in (ends, reversed(ends)):
            for protocol in (b"\x06", b"\x11"):
                found[protocol + ip + far_ip + port + far_port] = flow["id"]
    return found


def queue_rows(
    reports: Reports,
    directions: Mapping[int, int],
    begin_ps: int,
    first: Mapping[int, int],
    switch: str,
    flows: Mapping[int, Flows],
) -> pl.DataFrame:
    """`queue.parquet` of the reported ports, without random losses, which come before the queue.

    `directions` are the directions of ports, `first` the number of each port's first packet of the
    run, `flows` the flow of each of its packets, as far as they are known.
    """
    ports = np.zeros(256, np.int32)
    for port, direction in directions.items():
        ports[direction] = port
    rows = reports.rows
    port_of = ports[rows["direction"]]
    firsts = np.zeros(max(directions, default=0) + 1, np.int64)
    for port, number in first.items():
        firsts[port] = number
    packet = rows["number"].astype(np.int64) - firsts[port_of]
    flow = np.zeros(len(rows), np.int32)
    for port, known in flows.items():
        own = (port_of == port) & (packet >= 0) & (packet < len(known))
        flow[own] = known[packet[own]]
    names = np.array([[*REASONS[kind], *[""] * (8 - len(REASONS[kind]))] for kind in KINDS])
    kind, reason = rows["kind"] & 3, rows["reason"] & 7
    made = pl.DataFrame({
        "time_ps": rows["at"].astype(np.int64) - begin_ps,
        "switch": pl.Series([switch], dtype=pl.String).new_from_index(0, len(rows)),
        "port": port_of, "queue": np.zeros(len(rows), np.int32),
        "event": pl.Series(np.array(KINDS)[kind].tolist(), dtype=pl.String),
        "reason": pl.Series(names[kind, reason].tolist(), dtype=pl.String),
        "packet": packet, "flow": flow, "length_bytes": rows["counted"].astype(np.int32),
        "depth_packets": rows["packets"].astype(np.int32),
        "depth_bytes": rows["bytes"].astype(np.int64),
        "sojourn_ps": rows["sojourn"].astype(np.int64),
    })  # fmt: skip
    return made.filter(pl.col("reason") != RANDOM_LOSS).select(*QUEUE).cast(pl.Schema(QUEUE))


def figures(rows: pl.DataFrame, end_ps: int, capacity_bits: float) -> QueueFigures:
    """The figures of a port's queue from its rows until `end_ps`. Depths are averaged over time."""
    if rows.is_empty():
        return NO_FIGURES
    left = rows.filter(pl.col("event") == "dequeue")
    times = rows["time_ps"].to_numpy().clip(min=0)
    lasts = np.append(np.diff(times), max(end_ps - times[-1], 0))
    waited = left["sojourn_ps"].to_numpy() / 1e9
    delays: Quantiles | None = None
    if len(waited):
        p50, p95, p99 = np.percentile(waited, (50, 95, 99), method="inverted_cdf")
        delays = {
            "mean": float(waited.mean()), "min": float(waited.min()), "p50": float(p50),
            "p95": float(p95), "p99": float(p99), "max": float(waited.max()),
        }  # fmt: skip
    sent_bits = 8 * int(left["length_bytes"].cast(pl.Int64).sum())
    return {
        "utilization": sent_bits / capacity_bits,
        "queue_packets_mean": float(rows["depth_packets"].to_numpy() @ lasts) / end_ps,
        "queue_packets_max": int(rows["depth_packets"].to_numpy().max()),
        "queue_bytes_mean": float(rows["depth_bytes"].to_numpy() @ lasts) / end_ps,
        "queue_bytes_max": int(rows["depth_bytes"].to_numpy().max()),
        "queue_delay_ms": delays,
    }


def counted(rows: pl.DataFrame, kind: str) -> dict[str, int]:
    """The rows of a kind by reason, without those that no packet had."""
    of_kind = rows.filter(pl.col("event") == kind)
    return dict(of_kind.group_by("reason").len().sort("reason").iter_rows())


def left_after(rows: pl.DataFrame, since_ps: int) -> int:
    """Packets that left the queue after an instant."""
    return rows.filter((pl.col("event") == "dequeue") & (pl.col("time_ps") > since_ps)).height
