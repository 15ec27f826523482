"""Small runs for the tests, written as run directories by a toy simulator.

One bottleneck, a FIFO of a few packets, senders that add a segment per round trip and cut their
window at a loss. It does not model TCP: it only produces every kind of table content that a run can
have.
"""

from __future__ import annotations

import heapq
import json
from collections import deque
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

MS = 1_000_000_000
SEGMENT, PACKET = 1000, 1054
CUTS = {"reno": 0.5, "aimd-fc-plus": 0.6, "new-aimd": 0.8}

QUEUE = {
    "time_ps": pl.Int64, "switch": pl.String, "port": pl.Int32, "queue": pl.Int32,
    "event": pl.String, "reason": pl.String, "packet": pl.Int64, "flow": pl.Int32,
    "length_bytes": pl.Int32, "depth_packets": pl.Int32, "depth_bytes": pl.Int64,
    "sojourn_ps": pl.Int64,
}  # fmt: skip
FLOWS = {
    "time_ps": pl.Int64, "flow": pl.Int32, "cwnd_bytes": pl.Int64, "ssthresh_bytes": pl.Int64,
    "in_flight_bytes": pl.Int64, "srtt_ps": pl.Int64, "rtt_ps": pl.Int64, "rto_ps": pl.Int64,
    "acked_bytes": pl.Int64, "retransmits": pl.Int64, "timeouts": pl.Int64,
    "delivery_rate_bps": pl.Int64, "round": pl.Int64, "phase": pl.String,
}  # fmt: skip
MESSAGES = {
    "flow": pl.Int32, "message": pl.Int64, "length_bytes": pl.Int64, "written_ps": pl.Int64,
    "read_ps": pl.Int64,
}  # fmt: skip

OF_OTHER_SWEEPS = {
    "both_directions", "buffer_sweep", "cross_losses", "gain_loss", "goodput_ratio", "loss_sweep",
    "queue_depths", "ramp_up", "rtt_fairness", "share", "shares", "window_recovery",
}  # fmt: skip
"""Figures of runs that the toy does not make: test_sweep_figures.py and test_queue_figures.py in
tests/analysis have them.
"""


@dataclass
class Sender:
    """One flow of the toy."""

    cut: float
    left: int
    cwnd: float = 2.0
    ssthresh: float | None = None
    in_flight: int = 0
    acked: int = 0
    retransmits: int = 0
    round: int = 0
    round_ends_ps: int = 0
    recovers_ps: int = 0
    done_ps: int = 0

    @property
    def goodput_bps(self) -> float:
        """The segments acknowledged by the last ACK."""
        return self.acked * 8e12 / self.done_ps


class Toy:
    """The bottleneck and its senders: their past and scheduled events."""

    def __init__(
        self, variant: str, flows: int, segments: int, limit: int, rate_bps: int, base_ps: int
    ) -> None:
        self.senders = [Sender(CUTS[variant], segments) for _ in range(flows)]
        self.limit, self.base_ps = limit, base_ps
        self.transmit_ps = PACKET * 8 * 10**12 // rate_bps
        self.queue_rows = list[tuple[Any, ...]]()
        self.flow_rows = list[tuple[Any, ...]]()
        self.delays = list[int]()
        self.rtts = list[int]()
        self.fifo = deque[tuple[int, int, int]]()
        self.events = list[tuple[int, int, str, int, int]]()
        self.order = self.packet = self.now = self.busy_until = 0

    def run(self, rng: np.random.Generator) -> None:
        """Until every flow has its segments."""
        for flow in range(1, len(self.senders) + 1):
            self.at(int(rng.integers(0, 50 * MS)), "start", flow)
        while self.events:
            self.now, _, kind, flow, sent_ps = heapq.heappop(self.events)
            if kind == "free":
                if self.fifo and self.now >= self.busy_until:
                    self.dequeue()
                continue
            sender = self.senders[flow - 1]
            if kind == "ack":
                self.handle_ack(sender, sent_ps)
            elif kind == "loss":
                self.handle_loss(sender)
            self.send(flow)
            self.sample(flow, sender)

    def at(self, time_ps: int, kind: str, flow: int, sent_ps: int = 0) -> None:
        """Schedules an event."""
        self.order += 1
        heapq.heappush(self.events, (time_ps, self.order, kind, flow, sent_ps))

    def ledger(
        self, event: str, flow: int, number: int, sojourn_ps: int = 0, reason: str = ""
    ) -> None:
        """A row of the queue's table."""
        depth = len(self.fifo)
        self.queue_rows.append(
            (self.now, "s1", 2, 0, event, reason, number, flow, PACKET, depth, depth * PACKET,
             sojourn_ps)
        )  # fmt: skip

    def dequeue(self) -> None:
        """The first packet is transmitted."""
        flow, number, since_ps = self.fifo.popleft()
        self.busy_until = self.now + self.transmit_ps
        self.ledger("dequeue", flow, number, self.now - since_ps)
        self.delays.append(self.now - since_ps)
        self.at(self.busy_until, "free", flow)
        self.at(self.busy_until + self.base_ps, "ack", flow, since_ps)

    def send(self, flow: int) -> None:
        """A sender sends as many segments as its window admits."""
        sender = self.senders[flow - 1]
        while sender.left and sender.in_flight < int(sender.cwnd):
            sender.left -= 1
            sender.in_flight += 1
            if len(self.fifo) == self.limit:
                self.ledger("drop", flow, self.packet, reason="queue-full")
                self.at(self.now + self.base_ps + self.limit * self.transmit_ps, "loss", flow)
            else:
                self.fifo.append((flow, self.packet, self.now))
                self.ledger("enqueue", flow, self.packet)
                if self.now >= self.busy_until:
                    self.dequeue()
            self.packet += 1

    def handle_ack(self, sender: Sender, sent_ps: int) -> None:
        """One more segment in slow start, one per round trip after it."""
        sender.in_flight -= 1
        sender.acked += SEGMENT
        self.rtts.append(self.now - sent_ps)
        slow = sender.ssthresh is None or sender.cwnd < sender.ssthresh
        sender.cwnd += 1 if slow else 1 / sender.cwnd
        if self.now >= sender.round_ends_ps:
            sender.round += 1
            sender.round_ends_ps = self.now + (self.now - sent_ps)
        sender.done_ps = self.now

    def handle_loss(self, sender: Sender) -> None:
        """The segment is retransmitted; the window is cut once per round trip."""
        sender.in_flight -= 1
        sender.left += 1
        sender.retransmits += 1
        if self.now >= sender.recovers_ps:
            sender.cwnd = max(2.0, sender.cwnd * sender.cut)
            sender.ssthresh = sender.cwnd
            sender.recovers_ps = self.now + self.base_ps + self.limit * self.transmit_ps

    def sample(self, flow: int, sender: Sender) -> None:
        """A row of the flows' table."""
        rtt = self.rtts[-1] if self.rtts else None
        threshold = None if sender.ssthresh is None else int(sender.ssthresh * SEGMENT)
        phase = "slow-start" if threshold is None else "congestion-avoidance"
        self.flow_rows.append(
            (self.now, flow, int(sender.cwnd * SEGMENT), threshold, sender.in_flight * SEGMENT,
             rtt, rtt, 200 * MS, sender.acked, sender.retransmits, 0, None, sender.round, phase)
        )  # fmt: skip

    def bottleneck(self, rate_bps: int) -> dict[str, Any]:
        """The summary's figures of the bottleneck."""
        dropped = sum(row[4] == "drop" for row in self.queue_rows)
        delay_ms = _quantiles([delay / MS for delay in self.delays])
        return {
            "switch": "s1", "port": 2, "rate_bps": rate_bps,
            "utilization": len(self.delays) * PACKET * 8 / (self.now / 1e12) / rate_bps,
            "queue_packets_mean": sum(self.delays) / self.now,
            "queue_packets_max": max(row[9] for row in self.queue_rows),
            "queue_bytes_mean": sum(self.delays) / self.now * PACKET,
            "queue_bytes_max": max(row[10] for row in self.queue_rows),
            "queue_delay_ms": {key: delay_ms[key] for key in ("mean", "p50", "p95", "p99", "max")},
            "arrived": len(self.delays) + dropped, "enqueued": len(self.delays),
            "dequeued": len(self.delays), "dropped": dropped,
            "drops": {"queue-full": dropped} if dropped else {},
        }  # fmt: skip

    def flows(self, variant: str, segments: int, *, finished: bool) -> list[dict[str, Any]]:
        """The summary's figures of the flows."""
        one_way_ms = [(each + self.transmit_ps + self.base_ps // 2) / MS for each in self.delays]
        return [
            {
                "id": index + 1, "variant": variant, "recovery": "sack", "profile": "ns2",
                "goodput_bps": sender.goodput_bps,
                "throughput_bps": sender.goodput_bps * PACKET / SEGMENT,
                "delivered_bytes": sender.acked, "sent_segments": segments + sender.retransmits,
                "retransmits": sender.retransmits, "timeouts": 0,
                "rtt_ms": _quantiles([rtt / MS for rtt in self.rtts]),
                "one_way_delay_ms": _quantiles(one_way_ms),
                "start_s": 0.0, "completion_s": sender.done_ps / 1e12 if finished else None,
            }
            for index, sender in enumerate(self.senders)
        ]  # fmt: skip


def write_run(
    path: Path,
    point: dict[str, Any],
    *,
    flows: int = 2,
    variant: str = "reno",
    seed: int = 1,
    segments: int = 150,
    limit: int = 20,
    rate_bps: int = 5_000_000,
    base_ps: int = 20 * MS,
    valid: bool = True,
) -> Path:
    """Runs the toy until every flow has its segments, and writes the run directory `path`."""
    toy = Toy(variant, flows, segments, limit, rate_bps, base_ps)
    toy.run(np.random.default_rng(seed))
    path.mkdir(parents=True)
    _table(path, "queue", QUEUE, toy.queue_rows)
    _table(path, "flows", FLOWS, toy.flow_rows)
    # A message of 80 B each 50 ms; every fifth takes 150 ms, the others 60 ms.
    latencies_ps = [(n, 150 * MS if n % 5 == 0 else 60 * MS) for n in range(20)]
    messages = [
        (flow + 1, n, 80, 50 * n * MS, 50 * n * MS + latency_ps)
        for n, latency_ps in latencies_ps
        for flow in range(flows)
    ]
    _table(path, "messages", MESSAGES, messages)
    goodputs = [sender.goodput_bps for sender in toy.senders]
    summary = {
        "schema": 1, "scenario": path.parent.name, "point": path.name, "valid": valid,
        "invalid_reason": None if valid else "stopped at the limit of 3600 s",
        "duration_s": toy.now / 1e12, "bottleneck": toy.bottleneck(rate_bps),
        "flows": toy.flows(variant, segments, finished=valid),
        "jain": sum(goodputs) ** 2 / (flows * sum(rate**2 for rate in goodputs)),
        "aggregate_goodput_bps": sum(goodputs),
        "switches": {"s1": {"parser_errors": 0, "dropped": {}}}, "engine": {"events": toy.order},
    }  # fmt: skip
    app = {"kind": "bulk", "bytes": segments * SEGMENT}
    scenario = {
        "title": "A toy <sweep> of two variants",
        "bottleneck": {"rate_bps": rate_bps, "queue": {"packets": limit}},
        "flow": [{"variant": variant, "count": flows, "app": app}],
    }
    record = {
        "schema": 1, "scenario": scenario, "point": point, "seed": seed, "target": "sim",
        "valid": True, "version": "0.2.0", "versions": {"narrows": "0.1.0"},
    }  # fmt: skip
    (path / "summary.json").write_text(json.dumps(summary, indent=1))
    (path / "run.json").write_text(json.dumps(record, indent=1))
    return path


def write_ledger(
    path: Path,
    queue: list[tuple[float, str, int, int, int, int, float]],
    flows: list[tuple[float, int, int, int]],
    *,
    rate_bps: int,
    duration_s: float,
) -> Path:
    """A run directory from rows written out by hand.

    `queue`: time in s, event, packet, length, depth in packets and in bytes, sojourn in s.
    `flows`: time in s, flow, bytes acknowledged, round.
    """
    path.mkdir(parents=True)
    ledger = [
        (round(at * 1e12), "s1", 2, 0, event, "queue-full" if event == "drop" else "", packet, 1,
         length, packets, depth, round(sojourn * 1e12))
        for at, event, packet, length, packets, depth, sojourn in queue
    ]  # fmt: skip
    other_port = [(*ledger[0][:2], 1, *ledger[0][3:])] if ledger else []
    _table(path, "queue", QUEUE, ledger + other_port)
    senders = [
        (round(at * 1e12), flow, 2000, None, 0, None, None, 200 * MS, acked, 0, 0, None, number, "")
        for at, flow, acked, number in flows
    ]
    _table(path, "flows", FLOWS, senders)
    ids = sorted({row[1] for row in flows})
    summary = {
        "schema": 1, "valid": True, "duration_s": duration_s,
        "bottleneck": {"switch": "s1", "port": 2, "rate_bps": rate_bps},
        "flows": [
            {"id": flow, "variant": "reno", "start_s": 0.25 * flow,
             "completion_s": duration_s - flow, "delivered_bytes": 1000}
            for flow in ids
        ],
    }  # fmt: skip
    record = {
        "schema": 1, "scenario": {"title": "by hand"}, "point": {}, "seed": 1, "target": "sim",
        "valid": True, "versions": {"narrows": "0.1.0"},
    }  # fmt: skip
    (path / "summary.json").write_text(json.dumps(summary))
    (path / "run.json").write_text(json.dumps(record))
    return path


def write_sweep(
    results: Path,
    counts: tuple[int, ...] = (1, 2, 3),
    variants: tuple[str, ...] = ("aimd-fc-plus", "new-aimd"),
    seeds: tuple[int, ...] = (1, 2),
    **options: Any,
) -> Path:
    """Every combination of flow count, variant and seed as a run under `results`."""
    for count, variant, seed in product(counts, variants, seeds):
        point = {"flow.count": count, "flow.variant": variant, "seed": seed}
        name = ",".join(f"{key}={value}" for key, value in point.items())
        write_run(results / name, point, flows=count, variant=variant, seed=seed, **options)
    return results


def _table(path: Path, name: str, schema: dict[str, Any], rows: list[Any]) -> None:
    pl.DataFrame(rows, schema=schema, orient="row").write_parquet(path / f"{name}.parquet")


def _quantiles(values: list[float]) -> dict[str, float]:
    p50, p95, p99 = np.percentile(values, [50, 95, 99], method="inverted_cdf").tolist()
    return {
        "min": min(values), "mean": float(np.mean(values)), "p50": p50, "p95": p95, "p99": p99,
        "max": max(values),
    }  # fmt: skip
