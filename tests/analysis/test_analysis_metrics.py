"""Metrics against arithmetic written out here."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from narrows.analysis import figures, metrics
from narrows.analysis.chart.model import Rule, Trace
from narrows.analysis.figures.base import Results
from narrows.analysis.load import Run, load_run
from narrows.analysis.metrics import ledger
from tests.support.analysis_runs import write_ledger, write_run
from tests.support.world import ROOT

S = metrics.PS_PER_S


@pytest.fixture
def five_packets(tmp_path: Path) -> Run:
    """A link of 8,000 bit/s, so 1,000 bytes take 1 s; the queue holds 2 packets.

    Packet 0 (1,000 B) comes at 0 and is sent at once, until 1.0. Packet 1 (500 B) comes at 0.25,
    waits 0.75, is sent until 1.5. Packet 2 (1,000 B) comes at 0.5, waits 1.0, is sent until 2.5.
    Packet 3 comes at 0.75 to a full queue. Packet 4 (1,000 B) comes at 3.0 to an idle link.
    """
    return load_run(
        write_ledger(
            tmp_path / "by-hand" / "point",
            [
                (0.00, "enqueue", 0, 1000, 1, 1000, 0),
                (0.00, "dequeue", 0, 1000, 0, 0, 0),
                (0.25, "enqueue", 1, 500, 1, 500, 0),
                (0.50, "enqueue", 2, 1000, 2, 1500, 0),
                (0.75, "drop", 3, 1000, 2, 1500, 0),
                (1.00, "dequeue", 1, 500, 1, 1000, 0.75),
                (1.50, "dequeue", 2, 1000, 0, 0, 1.00),
                (3.00, "enqueue", 4, 1000, 1, 1000, 0),
                (3.00, "dequeue", 4, 1000, 0, 0, 0),
            ],
            [
                (0.0, 2, 0, 0),
                (0.1, 1, 0, 0),
                (1.0, 1, 900, 1),
                (1.5, 2, 400, 1),
                (1.6, 1, 900, 2),
                (3.0, 2, 1300, 1),
                (3.5, 1, 1800, 2),
            ],
            rate_bps=8000,
            duration_s=4.0,
        )
    )


def test_queue_length_is_weighted_by_time(five_packets: Run) -> None:
    depth = metrics.depth(five_packets)
    assert depth["packets"].to_list() == [1, 0, 1, 2, 2, 1, 0, 1, 0]
    packets = metrics.time_weighted_mean(depth["time_ps"], depth["packets"], 0, 4 * S)
    # 1 packet for 0.25 s, 2 for 0.5 s, 1 for 0.5 s. The waits give the same sum, 0.75 s + 1.0 s
    # (Little).
    assert packets == pytest.approx(1.75 / 4)
    kilobytes = metrics.time_weighted_mean(depth["time_ps"], depth["bytes"] / 1000, 0, 4 * S)
    assert kilobytes == pytest.approx((0.25 * 0.5 + 0.5 * 1.5 + 0.5 * 1.0) / 4)


def test_depth_is_the_ledgers_own(five_packets: Run) -> None:
    ledger = metrics.bottleneck_ledger(five_packets).collect()
    depth = metrics.depth(five_packets)
    assert depth["packets"].to_list() == ledger["depth_packets"].to_list()
    assert depth["bytes"].to_list() == ledger["depth_bytes"].to_list()


def test_other_ports_do_not_count(five_packets: Run) -> None:
    assert five_packets.table("queue").select(pl.len()).collect().item() == 10
    assert metrics.bottleneck_ledger(five_packets).select(pl.len()).collect().item() == 9


def test_the_order_of_ports_does_not_matter(five_packets: Run, tmp_path: Path) -> None:
    """Rows are in time order for each port only (docs/reference/tables.md)."""
    path = five_packets.path / "queue.parquet"
    own = pl.read_parquet(path).filter(pl.col("port") == 2)
    before = figures_of(five_packets)
    for others in ("before", "between"):
        other = own.with_columns(port=pl.lit(1, own.schema["port"]), sojourn_ps=pl.lit(7))
        other = other.with_columns(pl.col("sojourn_ps").cast(own.schema["sojourn_ps"]))
        late = other.with_columns(pl.col("time_ps") + 2 * S)
        parts = [late, other, own] if others == "before" else [own[:3], late, own[3:], other]
        pl.concat(parts).write_parquet(path)
        assert figures_of(load_run(five_packets.path)) == before, others


def figures_of(run: Run) -> list[Any]:
    """Everything that is calculated from the ledger, or from `flows` in parts."""
    return [
        metrics.goodput_bps(run, S).rows(),
        metrics.depth(run).rows(),
        metrics.queue_delays_ms(run).tolist(),
        metrics.loss_ratio(run),
        metrics.queue_delay_by_round(run).rows(),
        metrics.throughput_bps(run, S).rows(),
        metrics.flow_throughput_bps(run, S).rows(),
    ]


IN_PARTS = (
    *("queue_length", "queue_delay", "queue_delay_cdf", "queue_delay_box", "queue_delay_by_rtt"),
    *("throughput", "drops_and_marks", "goodput", "cwnd", "rtt"),
)


def charts_of(run: Run) -> list[Any]:
    """The points of figures that read tables in parts. A mean over time depends on the order
    of its sum in the last digit.
    """
    results = Results((run,))
    charts = [figures.chart(figure, results) for figure in figures.select(IN_PARTS)]
    panels = [panel for chart in charts if chart is not None for panel in chart.panels]
    assert len(panels) >= len(IN_PARTS) - 1
    return [
        [mark.x.tolist(), mark.y.tolist()] if isinstance(mark, Trace) else pytest.approx(mark.y)
        for panel in panels
        for mark in panel.marks
        if isinstance(mark, Trace | Rule)
    ]


@pytest.mark.parametrize("rows", [16, 101])
def test_parts_of_any_size_give_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    """Instants, transmissions and columns of pixels lie across the ends of parts."""
    run = load_run(write_run(tmp_path / "toy" / "point", {}, segments=30, limit=4))
    whole, drawn = figures_of(run), charts_of(run)
    monkeypatch.setattr(ledger, "PART_ROWS", rows)
    assert figures_of(run) == whole
    assert charts_of(run) == drawn


GROWTH = """
import re, sys
from pathlib import Path
from narrows.analysis import figures
from narrows.analysis.load import load_run
from narrows.analysis.figures.base import Results
from narrows.analysis.metrics import ledger

def most_mb():
    # getrusage would count the process before it became Python.
    return int(re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[1]) / 1024

ledger.PART_ROWS = 1 << 16
small, large = (Results((load_run(Path(path)),)) for path in sys.argv[2:])
[figure] = figures.select([sys.argv[1]])
figures.chart(figure, small)
before_mb = most_mb()
figures.chart(figure, large)
print(most_mb() - before_mb)
"""


@pytest.mark.parametrize("figure", ["queue_length", "throughput", "queue_delay", "drops_and_marks"])
def test_a_figures_memory_does_not_grow_with_the_run(tmp_path: Path, figure: str) -> None:
    """As a whole, such a ledger takes 185 MB and more; the exact percentile 8 B a packet."""
    rows = 2_000_000
    paths = [write_run(tmp_path / name / "point", {}, segments=60) for name in ("small", "large")]
    few = pl.read_parquet(paths[0] / "queue.parquet")
    many = pl.concat([few] * (rows // len(few)), rechunk=True)
    number = pl.int_range(pl.len(), dtype=pl.Int64)
    events = number % 2 == 0
    for path, table in zip(paths, (few, many), strict=True):
        table.with_columns(
            time_ps=number * (pl.col("time_ps").max() // pl.len()),
            packet=number // 2,
            event=pl.when(events).then(pl.lit("enqueue")).otherwise(pl.lit("dequeue")),
        ).write_parquet(path / "queue.parquet", row_group_size=1 << 16, compression="lz4")
    command = [sys.executable, "-c", GROWTH, figure, *map(str, paths)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert float(ran.stdout) < 80


def test_delays_and_loss(five_packets: Run) -> None:
    assert metrics.queue_delays_ms(five_packets).tolist() == [0, 750, 1000, 0]
    assert metrics.loss_ratio(five_packets) == 1 / 5


def test_throughput_is_at_most_the_links_rate(five_packets: Run) -> None:
    """Sent: 1,000 B until 1.0, 500 B until 1.5, 1,000 B until 2.5, and 1,000 B from 3.0 on."""
    rates = metrics.throughput_bps(five_packets, S)
    assert rates["time_ps"].to_list() == [S // 2, 3 * S // 2, 5 * S // 2, 7 * S // 2]
    assert rates["bps"].to_list() == [8000, 8000, 4000, 8000]


def test_flows_throughputs_add_up_to_the_links(tmp_path: Path) -> None:
    run = load_run(write_run(tmp_path / "toy" / "a", {}, flows=3, segments=100))
    flows = metrics.flow_throughput_bps(run, S // 10)
    total = flows.group_by("time_ps").agg(pl.col("bps").sum()).sort("time_ps")
    assert flows["flow"].unique().sort().to_list() == [1, 2, 3]
    sent = metrics.throughput_bps(run, S // 10)
    assert total["bps"].to_list() == pytest.approx(sent["bps"].to_list())


def test_goodput_is_what_was_acknowledged(five_packets: Run) -> None:
    rates = metrics.goodput_bps(five_packets, 2 * S)
    assert rates.select("flow", "bps").rows() == [(1, 3600), (1, 3600), (2, 1600), (2, 3600)]


def test_a_bin_that_is_not_whole_is_left_out(five_packets: Run) -> None:
    assert metrics.bin_edges_ps(4 * S, 3 * S).tolist() == [0, 3 * S]
    assert metrics.goodput_bps(five_packets, 3 * S)["bps"].to_list() == [2400, 1300 * 8 / 3]


def test_delay_per_round_trip(five_packets: Run) -> None:
    rounds = metrics.queue_delay_by_round(five_packets)
    assert rounds.select("flow", "round", "packets", "delay_ms").rows() == [
        (1, 0, 0, None),  # [0.1, 1.0): nothing left
        (1, 1, 2, 875.0),  # [1.0, 1.6): packets 1 and 2
        (1, 2, 1, 0.0),  # [1.6, 3.5]: packet 4
        (2, 0, 2, 375.0),  # [0.0, 1.5): packets 0 and 1
        (2, 1, 2, 500.0),  # [1.5, 3.0]: packets 2 and 4
    ]
    means = metrics.mean_delay_by_round(five_packets)
    assert means.rows() == [(0, 375.0), (1, (875 + 500) / 2), (2, 0.0)]


def test_completion(five_packets: Run) -> None:
    # flow 1 from 0.25 for 3 s, flow 2 from 0.5 for 2 s: 0.25 to 3.25
    assert [metrics.end_s(flow) for flow in five_packets.flows] == [3.25, 2.5]
    assert metrics.completion_s(five_packets) == 3.0
    assert metrics.completion_bound_s(five_packets) == 2000 * 8 / 8000
    assert metrics.mean_goodput_bps(five_packets) == 2000 * 8 / 4
    five_packets.summary["bottleneck"]["rate_bps"] = None
    assert metrics.completion_bound_s(five_packets) is None
    five_packets.summary["flows"][0]["completion_s"] = None
    assert metrics.completion_s(five_packets) is None


def test_mean_of_flows_needs_all_of_them(five_packets: Run) -> None:
    flows: Any = five_packets.summary["flows"]
    first, second = flows
    first["rtt_ms"], second["rtt_ms"] = {"p95": 10}, {"p95": 20}
    assert metrics.mean_of_flows(five_packets, "rtt_ms", "p95") == 15
    second["rtt_ms"] = None
    assert metrics.mean_of_flows(five_packets, "rtt_ms", "p95") is None


@pytest.mark.parametrize(
    ("times", "values", "span", "mean"),
    [
        ([0, 5], [2, 4], (0, 10), 3),  # half at 2, half at 4
        ([5], [8], (0, 10), 4),  # nothing before the first event
        ([0, 5, 5], [1, 100, 3], (0, 10), 2),  # At equal times the last value counts.
        ([0, 5], [2, 4], (4, 6), 3),  # a part of the run
        ([0, 8], [2, 9], (0, 4), 2),  # what comes after the end
        ([], [], (0, 10), 0),
    ],
)
def test_mean_of_a_step_function(
    times: list[int], values: list[int], span: tuple[int, int], mean: float
) -> None:
    assert metrics.time_weighted_mean(times, values, *span) == pytest.approx(mean)


def test_mean_over_no_time_is_refused() -> None:
    with pytest.raises(ValueError, match="expected a span of time"):
        metrics.time_weighted_mean([0], [1], 5, 5)


@pytest.mark.parametrize(
    ("rates", "index"),
    [
        # DEC-TR-301: if k of n users share equally and the others have nothing, the index is k/n.
        ([1] * 20 + [0] * 80, 0.2),
        ([5, 5, 5], 1.0),
        ([1, 0, 0, 0], 0.25),
        ([1, 2, 3], 36 / (3 * 14)),
        ([10, 20, 30], 36 / (3 * 14)),  # independent of scale
        ([0, 0], 1.0),
    ],
)
def test_jain(rates: list[float], index: float) -> None:
    assert metrics.jain(rates) == pytest.approx(index)


def test_jain_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        metrics.jain([])


def shares(*pairs: tuple[float, float]) -> pl.DataFrame:
    """Goodput of two flows, a pair per second."""
    rows = [(flow, s * S, rate) for s, pair in enumerate(pairs) for flow, rate in enumerate(pair)]
    return pl.DataFrame(rows, schema=["flow", "time_ps", "bps"], orient="row")


def test_jain_over_time() -> None:
    index = metrics.jain_over_time(shares((1, 0), (1, 1), (1, 3), (0, 0)))
    assert index["jain"].to_list() == [0.5, 1.0, 16 / 20, 1.0]


def test_convergence_is_to_remain_fair() -> None:
    # delta 0.7: shares of 0.15 to 0.85 are fair. They are fair at 1 s, but remain so only from 3 s
    # on.
    goodput = shares((90, 10), (84, 16), (95, 5), (80, 20), (5, 5))
    assert metrics.convergence_time_s(goodput) == 3
    assert metrics.convergence_time_s(goodput, delta=0.5) == 4
    assert metrics.convergence_time_s(shares((5, 5), (1, 0))) is None
    assert metrics.convergence_time_s(shares((5, 5))) == 0


def test_percentile_is_a_value_that_occurred() -> None:
    values = [15, 20, 35, 40, 50]  # the textbook example of the nearest rank
    assert [metrics.percentile(values, p) for p in (5, 30, 40, 50, 100)] == [15, 20, 20, 35, 50]
    with pytest.raises(ValueError, match="at least one"):
        metrics.percentile([], 50)


def test_variation_and_rise() -> None:
    assert metrics.variation([2, 4, 4, 4, 5, 5, 7, 9]) == pytest.approx(2 / 5)
    assert metrics.variation([0, 0]) == 0
    assert metrics.rise_time_s([1, 2, 3], [50, 89, 90], 100) == 3
    assert metrics.rise_time_s([1, 2, 3], [50, 89, 90], 200) is None


@pytest.mark.parametrize(
    ("duration_s", "bin_s"), [(1, 0.1), (15, 0.1), (16, 0.2), (100, 1), (165, 2), (3600, 50)]
)
def test_bins_are_round(duration_s: int, bin_s: float) -> None:
    assert metrics.nice_bin_ps(duration_s * S) == round(bin_s * S)


def moved_bytes(rates: pl.DataFrame) -> float:
    """Bytes behind rates in bins of 0.1 s."""
    return float(rates["bps"].to_numpy().sum()) * 0.1 / 8


def test_rates_add_up_to_what_was_moved(tmp_path: Path) -> None:
    """Conservation over a longer run: every byte sent is in exactly one bin, but for the packet
    in transmission at the end of the last one."""
    run = load_run(write_run(tmp_path / "toy" / "a", {}, flows=3, segments=400))
    bin_ps = S // 10
    whole = run.duration_ps // bin_ps * bin_ps
    ledger = metrics.bottleneck_ledger(run).filter(pl.col("event") == "dequeue").collect()
    sent = int(ledger.filter(ledger["time_ps"] < whole)["length_bytes"].sum())
    assert sent - 1054 <= moved_bytes(metrics.throughput_bps(run, bin_ps)) <= sent + 0.01
    acked = moved_bytes(metrics.goodput_bps(run, bin_ps))
    assert 0.8 * 1_200_000 < acked <= 1_200_000


def test_mean_queue_is_what_littles_law_says(tmp_path: Path) -> None:
    run = load_run(write_run(tmp_path / "toy" / "a", {}, flows=2, segments=400))
    depth = metrics.depth(run)
    mean = metrics.time_weighted_mean(depth["time_ps"], depth["packets"], 0, run.duration_ps)
    waited_ps = metrics.queue_delays_ms(run).sum() * metrics.PS_PER_MS
    assert mean == pytest.approx(waited_ps / run.duration_ps)
