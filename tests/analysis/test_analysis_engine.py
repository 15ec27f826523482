"""The analysis reads the engine's records: tables, summary and figures agree."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from narrows.analysis import metrics
from narrows.analysis.figures import FIGURES, draw
from narrows.analysis.load import COLUMNS, Run, load, load_run
from narrows.analysis.report import write
from tests.support.analysis_runs import FLOWS, MESSAGES, QUEUE
from tests.support.world import narrows
from tests.support.world import write as write_scenario

SCENARIO = """
title = "A small sweep"
duration = "completion"
profile = "linux"
[bottleneck]
rate = "5Mbps"
delay = "5ms"
queue = "20packets"
[access]
rate = "100Mbps"
delay = "1ms"
[[flow]]
variant = "reno"
start = { every = "200ms" }
app = { kind = "bulk", bytes = "1000KB" }
[sweep]
"flow.count" = [1, 2, 3]
"flow.variant" = ["reno", "new-aimd"]
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("engine")
    source = write_scenario(directory, SCENARIO, "small")
    done = narrows("run", source, "--out", directory, "--no-figures")
    assert done.returncode == 0, done.stderr
    return directory / "small"


@pytest.fixture(scope="module", params=["count=1,variant=new-aimd", "count=3,variant=reno"])
def run(results: Path, request: pytest.FixtureRequest) -> Run:
    return load_run(results / f"{request.param},seed=1")


def test_every_point_is_there_in_the_scenarios_order(results: Path) -> None:
    runs = load(results)
    assert [(run.point["flow.count"], run.point["flow.variant"]) for run in runs] == [
        (count, variant) for count in (1, 2, 3) for variant in ("reno", "new-aimd")
    ]
    assert all(run.valid and len(run.flows) == run.point["flow.count"] for run in runs)


def test_the_tables_are_those_of_the_contract(run: Run) -> None:
    for name, columns in COLUMNS.items():
        # A scenario asks for captures (tests/export), and for impairments of links (tests/runs).
        if name in ("capture", "links"):
            continue
        assert run.table(name).collect_schema().names()[: len(columns)] == list(columns)
    for name, schema in (("queue", QUEUE), ("flows", FLOWS), ("messages", MESSAGES)):
        found = run.table(name).collect_schema()
        assert [found[column] for column in schema] == list(schema.values()), name


def test_the_ledger_gives_the_summarys_queue(run: Run) -> None:
    bottleneck: Any = run.summary["bottleneck"]
    depth = metrics.depth(run)
    for column in ("packets", "bytes"):
        mean = metrics.time_weighted_mean(depth["time_ps"], depth[column], 0, run.duration_ps)
        assert mean == pytest.approx(bottleneck[f"queue_{column}_mean"], rel=1e-6)
        assert depth[column].max() == bottleneck[f"queue_{column}_max"]
    delays = metrics.queue_delays_ms(run)
    assert len(delays) == bottleneck["dequeued"]
    assert delays.mean() == pytest.approx(bottleneck["queue_delay_ms"]["mean"], rel=1e-6)
    assert delays.max() == pytest.approx(bottleneck["queue_delay_ms"]["max"], rel=2e-3)
    lost = bottleneck["dropped"] / (bottleneck["dropped"] + bottleneck["enqueued"])
    assert metrics.loss_ratio(run) == pytest.approx(lost)


def test_the_summarys_percentiles_are_the_ledgers(run: Run) -> None:
    """As close as the buckets of the engine's histogram allow."""
    delays = metrics.queue_delays_ms(run)
    by_summary: Any = run.summary["bottleneck"]["queue_delay_ms"]
    for percent in (50, 95, 99):
        value = by_summary[f"p{percent}"]
        assert metrics.percentile(delays, percent) == pytest.approx(value, rel=2e-3)


def test_the_depth_summed_up_is_the_depth_recorded(run: Run) -> None:
    ledger = metrics.bottleneck_ledger(run).collect()
    assert metrics.depth(run)["bytes"].to_list() == ledger["depth_bytes"].to_list()


def test_the_senders_rows_give_what_was_delivered(run: Run) -> None:
    """A million bytes per flow, and no rate above the link's."""
    goodput = metrics.goodput_bps(run, metrics.PS_PER_S // 10)
    for _, own in metrics.by_flow(goodput):
        moved = float(own["bps"].to_numpy().sum()) / 80
        assert moved == pytest.approx(1_000_000, rel=0.1)
    sent = metrics.throughput_bps(run, metrics.PS_PER_S)
    assert float(sent["bps"].to_numpy().max()) <= 5e6 * (1 + 1e-6)
    done = metrics.completion_s(run)
    bound = metrics.completion_bound_s(run)
    assert done is not None and bound is not None and done > bound


@pytest.mark.usefixtures("first_drawn")
def test_every_figure_and_the_report(results: Path) -> None:
    # 6 runs x the flows of each: enough for every figure but those of messages, which bulk lacks,
    # and those of other sweeps.
    others = {
        "message_latency", "both_directions", "buffer_sweep", "loss_sweep", "rtt_fairness",
        "share", "shares", "goodput_ratio", "gain_loss", "ramp_up", "window_recovery",
        "cross_losses", "queue_depths",
    }  # fmt: skip
    assert len(draw(results)) == 2 * (len(FIGURES) - len(others))
    write([results], results / "report.html")
    assert "all runs are valid" in (results / "report.html").read_text(encoding="utf-8")


def test_a_second_run_leaves_out_the_points_of_the_first(results: Path, tmp_path: Path) -> None:
    source = write_scenario(tmp_path, SCENARIO, "small")
    shutil.copytree(results, tmp_path / "small")
    done = narrows("run", source, "--out", tmp_path, "--no-figures", "--set", "flow.count=2")
    assert done.returncode == 0, done.stderr
    assert [run.point["flow.count"] for run in load(tmp_path / "small")] == [2, 2]
    rows = (tmp_path / "small" / "runs.csv").read_text().splitlines()
    assert len(rows) == 1 + 2 * 2
