"""Figures of particular sweeps, against arithmetic: pairs, buffers, losses, round trips."""

from __future__ import annotations

import json
import math
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from narrows.analysis import figures, metrics
from narrows.analysis.chart import paper
from narrows.analysis.chart.model import Area, Cells, Chart, Trace
from narrows.analysis.figures import share
from narrows.analysis.figures.base import Results
from narrows.analysis.figures.buffer_sweep import buffer_bdp
from narrows.analysis.load import load, load_run
from narrows.testbed.scenario import sweep
from tests.support.analysis_runs import write_ledger
from tests.support.world import ROOT


def flow(
    number: int, variant: str, mbps: float, rtt_ms: float = 40.0, **more: Any
) -> dict[str, Any]:
    """A flow of a summary that moved 1,000-byte segments for 10 s."""
    delivered = round(mbps * 10e6 / 8)
    return {
        "id": number, "variant": variant, "goodput_bps": mbps * 1e6, "rtt_ms": {"min": rtt_ms},
        "start_s": 0.0, "completion_s": None, "delivered_bytes": delivered,
        "sent_segments": delivered // 1000, "retransmits": 0, "timeouts": 0,
    }  # fmt: skip


def write(
    path: Path,
    point: dict[str, Any],
    flows: list[dict[str, Any]],
    queue: str = "1bdp",
    **scenario: Any,
) -> Path:
    """A run directory of 10 s at 10 Mb/s with these flows in its summary and no tables. It has no
    digests, so it is of a version that wrote none.
    """
    path.mkdir(parents=True)
    bottleneck = {
        "switch": "s1", "port": 2, "rate_bps": 10_000_000, "utilization": 0.5,
        "queue_packets_max": 10, "queue_bytes_max": 12_500, "queue_delay_ms": {"mean": 3.0},
        "enqueued": 900, "dropped": 100,
    }  # fmt: skip
    summary = {"schema": 1, "valid": True, "duration_s": 10.0, "bottleneck": bottleneck,
               "flows": flows, "jain": 1.0}  # fmt: skip
    record = {"schema": 1, "scenario": {"title": "t", "bottleneck": {"queue": queue}} | scenario,
              "point": point, "seed": 1, "target": "sim", "valid": True,
              "versions": {"narrows": "0.1.0"}}  # fmt: skip
    (path / "summary.json").write_text(json.dumps(summary))
    (path / "run.json").write_text(json.dumps(record))
    return path


def chart(directory: Path, name: str) -> Chart | None:
    """The figure of these results, drawn once on paper."""
    (figure,) = figures.select([name])
    found = figures.chart(figure, Results(tuple(load(directory))))
    if found is not None:
        paper.draw(found)
    return found


def test_shares_are_means_over_who_was_first(tmp_path: Path) -> None:
    """a takes 6 of 8 from b as the first and 5 of 10 as the second: 0.625 on average."""
    mbps = {("a", "b"): (6, 2), ("b", "a"): (5, 5), ("a", "c"): (1, 3), ("a", "a"): (4, 4)}
    for (first, second), (one, other) in mbps.items():
        point = {"flow.0.variant": first, "flow.1.variant": second}
        write(tmp_path / f"{first}{second}", point, [flow(1, first, one), flow(2, second, other)])
    found = chart(tmp_path, "shares")
    assert found is not None and len(found.panels) == 1
    (cells,) = found.panels[0].marks
    assert isinstance(cells, Cells) and list(cells.rows) == ["a", "b", "c"]
    none = math.nan
    expected = [[none, 0.625, 0.25], [0.375, none, none], [0.75, none, none]]
    assert cells.values == pytest.approx(np.array(expected), nan_ok=True)


def test_the_shares_of_many_variants_fill_a_page(tmp_path: Path) -> None:
    for number in range(12):
        point = {"flow.1.variant": f"v{number}"}
        write(tmp_path / f"{number}", point, [flow(1, "a", 1), flow(2, f"v{number}", 1)])
    many = chart(tmp_path, "shares")
    assert many is not None and many.fills_page
    (tmp_path / "11" / "run.json").unlink()
    few = chart(tmp_path, "shares")
    assert few is not None and not few.fills_page


def test_shares_have_a_panel_for_each_other_key(tmp_path: Path) -> None:
    for queue in ("1bdp", "2bdp"):
        for other in ("b", "c"):
            point = {"bottleneck.queue": queue, "flow.1.variant": other}
            write(tmp_path / f"{queue}{other}", point, [flow(1, "a", 1), flow(2, other, 1)])
    found = chart(tmp_path, "shares")
    assert found is not None
    assert [panel.title for panel in found.panels] == ["queue 1 bdp", "queue 2 bdp"]


def test_both_directions_have_a_column_each(tmp_path: Path) -> None:
    """100 of 1,000 dropped ahead and 30 of 600 back; a run of one direction has no place."""
    back = {"utilization": 0.2, "enqueued": 570, "dropped": 30, "queue_delay_ms": {"mean": 7.0}}
    for load_percent in ("60", "85"):
        point = {"choice.load": load_percent}
        path = write(tmp_path / load_percent, point, [flow(1, "a", 1)])
        assert chart(tmp_path, "both_directions") is None or load_percent == "85"
        summary = json.loads((path / "summary.json").read_text())
        (path / "summary.json").write_text(json.dumps(summary | {"reverse": back}))
    found = chart(tmp_path, "both_directions")
    assert found is not None and found.columns == 2
    rows = [(50.0, 20.0), (10.0, 5.0), (3.0, 7.0)]
    for panel, value in zip(found.panels, [value for row in rows for value in row], strict=True):
        (trace,) = panel.marks
        assert isinstance(trace, Trace) and list(trace.y) == [value, value]


@pytest.mark.parametrize(
    ("queue", "expected"),
    [
        ("1.5bdp", 1.5),
        # 10 Mb/s x 40 ms = 50,000 bytes; 20 packets of 12,500 / 10 bytes are 25,000 bytes.
        ("20packets", 0.5),
        ("100KB", 2.0),
        ("20ms", 0.5),
    ],
)
def test_a_buffer_in_multiples_of_the_bdp(tmp_path: Path, queue: str, expected: float) -> None:
    run = load_run(write(tmp_path / "r", {}, [flow(1, "a", 1), flow(2, "a", 1, 80.0)], queue))
    assert buffer_bdp(run) == pytest.approx(expected)


def test_a_buffer_sweep_has_link_use_delay_and_loss(tmp_path: Path) -> None:
    for queue in ("0.5bdp", "1bdp", "4bdp"):
        write(tmp_path / queue, {"bottleneck.queue": queue}, [flow(1, "a", 1)], queue)
    found = chart(tmp_path, "buffer_sweep")
    assert found is not None
    lines = [panel.marks[0] for panel in found.panels]
    for line, value in zip(lines, (50.0, 3.0, 10.0), strict=True):
        assert isinstance(line, Trace)
        assert line.x.tolist() == [0.5, 1, 4] and line.y.tolist() == [value] * 3
    assert chart(tmp_path, "sweep") is None


def test_the_square_root_law_beside_random_loss(tmp_path: Path) -> None:
    """1,000 B per 40 ms times sqrt(1.5 / 0.01) are 2.449 Mb/s; at 1e-4 the link's 10 are less."""
    for loss in (0.0, 1e-4, 1e-2):
        write(tmp_path / str(loss), {"bottleneck.loss": loss}, [flow(1, "a", 2)])
    found = chart(tmp_path, "loss_sweep")
    assert found is not None
    measured, law = found.panels[0].marks
    assert isinstance(measured, Trace) and isinstance(law, Trace)
    assert measured.x.tolist() == [1e-5, 1e-4, 1e-2]
    assert law.y.tolist() == pytest.approx([10, 2.4495], rel=1e-4)


def test_flows_of_several_round_trips(tmp_path: Path) -> None:
    flows = [flow(1, "a", 4, 20.0), flow(2, "a", 1, 80.0)]
    write(tmp_path / "links" / "one", {}, flows, link=[{"delay": "1ms"}])
    found = chart(tmp_path / "links", "rtt_fairness")
    assert found is not None
    (points,) = found.panels[0].marks
    assert isinstance(points, Trace)
    assert (points.x.tolist(), points.y.tolist()) == ([20, 80], [4, 1])
    write(tmp_path / "dumbbell" / "one", {}, flows)
    assert chart(tmp_path / "dumbbell", "rtt_fairness") is None


def test_a_sweep_of_anything_else(tmp_path: Path) -> None:
    for rate in ("1Mbps", "2Mbps"):
        write(tmp_path / rate, {"bottleneck.rate": rate}, [flow(1, "a", 2)])
    found = chart(tmp_path, "sweep")
    assert found is not None
    lines = [panel.marks[0] for panel in found.panels]
    assert [line.y[0] for line in lines if isinstance(line, Trace)] == [2, 3, 10, 1]


def two_flows(path: Path) -> Path:
    """Flow 1 alone until 3.25 s, both even until 5 s, where flow 1 ends; then flow 2 alone.

    A row each 0.5 s; 1,000 bytes per row of a flow that moves.
    """
    rows = [(0.5 * n, 1, 1000 * n, n) for n in range(11)]
    rows += [(0.5 * n, 2, 1000 * max(n - 7, 0), n) for n in range(17)]
    write_ledger(path, [], sorted(rows), rate_bps=10_000_000, duration_s=8)
    summary = json.loads((path / "summary.json").read_text())
    lives = {1: (0.0, 5.0), 2: (3.25, None)}
    for one in summary["flows"]:
        one["start_s"], end = lives[one["id"]]
        one["completion_s"] = None if end is None else end - one["start_s"]
    (path / "summary.json").write_text(json.dumps(summary))
    return path


def test_a_rate_counts_while_its_flow_lives(tmp_path: Path) -> None:
    run = load_run(two_flows(tmp_path / "r"))
    goodput = metrics.goodput_bps(run, metrics.PS_PER_S)
    seconds = {
        number: (own["time_ps"] / metrics.PS_PER_S).to_list()
        for number, own in metrics.by_flow(metrics.alive(run, goodput))
    }
    assert seconds == {1: [0.5, 1.5, 2.5, 3.5, 4.5], 2: [3.5, 4.5, 5.5, 6.5, 7.5]}
    both = metrics.alive(run, goodput, together=True)
    assert both["time_ps"].unique().sort().to_list() == [3.5e12, 4.5e12]


def test_jain_of_the_flows_that_live(tmp_path: Path) -> None:
    """In the fourth second 2,000 and 1,000 bytes: 9 / (2 x 5) = 0.9; in the fifth even."""
    two_flows(tmp_path / "results" / "r")
    found = chart(tmp_path / "results", "fairness_over_time")
    assert found is not None
    (line,) = found.panels[0].marks
    assert isinstance(line, Trace)
    assert line.x.tolist() == [3.5, 4.5]
    assert line.y.tolist() == pytest.approx([0.9, 1.0])


def test_a_ledger_without_packets_has_no_delay(tmp_path: Path) -> None:
    run = load_run(two_flows(tmp_path / "results" / "r"))
    empty = pl.read_parquet(run.path / "queue.parquet").head(0)
    empty.write_parquet(run.path / "queue.parquet")
    found = chart(tmp_path / "results", "queue_delay")
    assert found is not None and found.panels[0].note == "no packet"


def named(*names: str | None) -> list[dict[str, Any]]:
    """`[[flow]]` tables of one connection each, with these names."""
    return [{"count": 1} | ({"name": name} if name else {}) for name in names]


def test_flows_are_named_by_their_tables(tmp_path: Path) -> None:
    tables = [{"name": "a", "count": 2}, {"count": 1}, {"name": "b", "count": 0}, *named("a")]
    flows = [flow(number, "reno", 1) for number in (4, 2, 3, 1)]
    run = load_run(write(tmp_path / "r", {}, flows, flow=tables))
    assert {name: [one["id"] for one in own] for name, own in run.named.items()} == {"a": [1, 2, 4]}


def test_a_ratio_of_goodputs_is_of_means(tmp_path: Path) -> None:
    """3 and 5 Mb/s are 4 on average, half of 8; the nameless 9 do not count."""
    flows = [flow(1, "a", 3), flow(2, "a", 5), flow(3, "a", 9), flow(4, "a", 8)]
    for load_percent in ("60", "80"):
        tables = named("one", "one", None, "three")
        write(tmp_path / "named" / load_percent, {"choice.load": load_percent}, flows, flow=tables)
    found = chart(tmp_path / "named", "goodput_ratio")
    assert found is not None and found.note == "one : three"
    for panel, value in zip(found.panels, (0.5, 10.0), strict=True):
        (trace,) = panel.marks
        assert isinstance(trace, Trace) and trace.y.tolist() == [value, value]
    write(tmp_path / "none" / "60", {"choice.load": "60"}, flows, flow=named("one", None))
    assert chart(tmp_path / "none", "goodput_ratio") is None


def test_gain_and_loss_are_over_the_run_of_one_variant(tmp_path: Path) -> None:
    """Beside b, a delivers 3 where it delivered 4, and b 6 where a delivered 5."""
    for other, mbps in (("a", (4, 5)), ("b", (3, 6))):
        flows = [flow(1, "a", mbps[0]), flow(2, other, mbps[1])]
        write(tmp_path / other, {"choice.new": other}, flows, flow=named("A", "B"))
    found = chart(tmp_path, "gain_loss")
    assert found is not None
    *_, trace = found.panels[0].marks
    assert isinstance(trace, Trace) and trace.name == "new b"
    assert (trace.x.tolist(), trace.y.tolist()) == ([0.75], [1.2])


def test_ramp_up_is_of_the_flow_named_last(tmp_path: Path) -> None:
    """From its start at 0.5 s 10 kB a second: 15 kB after 2 rows, 150 kB after 15; no 1.5 MB."""
    rows = [(float(n), 1, 10**9, n) for n in range(20)]
    rows += [(0.5 + n, 2, 10_000 * n, n) for n in range(20)]
    path = tmp_path / "results" / "r"
    write_ledger(path, [], sorted(rows), rate_bps=10_000_000, duration_s=20)
    record = json.loads((path / "run.json").read_text())
    record["scenario"]["flow"] = named("old", "new")
    (path / "run.json").write_text(json.dumps(record))
    found = chart(tmp_path / "results", "ramp_up")
    assert found is not None
    (trace,) = found.panels[0].marks
    assert isinstance(trace, Trace)
    assert (trace.x.tolist(), trace.y.tolist()) == ([15_000, 150_000], [2, 15])


def test_a_window_takes_what_datagrams_left(tmp_path: Path) -> None:
    """10 Mb/s x 40 ms are 50 kB. Until 4 s datagrams go; 30 kB are 60 % at 7 s, 45 kB are 80 and
    90 % at 8 s; it grows by 10, 5, 5 and 15 kB a round.
    """
    path = tmp_path / "results" / "r"
    rows = [(float(n), 1, n, n) for n in range(9)] + [(0.0, 2, 0, 0)]
    write_ledger(path, [], sorted(rows), rate_bps=10_000_000, duration_s=8)
    table = pl.read_parquet(path / "flows.parquet").sort("flow", "time_ps")
    windows = [1000, 1000, 1000, 50_000, 10_000, 20_000, 25_000, 30_000, 45_000, 1000]
    table.with_columns(cwnd_bytes=pl.Series(windows)).write_parquet(path / "flows.parquet")
    for name, change in (
        ("run", {"scenario": {"title": "t", "flow": named("tested", "cross")}}),
        ("summary", {"flows": [
            {"id": 1, "variant": "reno", "rtt_ms": {"min": 40.0}},
            {"id": 2, "variant": "udp", "start_s": 1.0, "completion_s": 3.0,
             "datagrams": {"lost": 7}},
        ]}),
    ):  # fmt: skip
        found = json.loads((path / f"{name}.json").read_text()) | change
        (path / f"{name}.json").write_text(json.dumps(found))
    drawn = chart(tmp_path / "results", "window_recovery")
    assert drawn is not None
    for panel, values in zip(drawn.panels, ([3, 4, 4], [10, 15, 15]), strict=True):
        (trace,) = panel.marks
        assert isinstance(trace, Trace)
        assert (trace.x.tolist(), trace.y.tolist()) == ([60, 80, 90], values)
    lost = chart(tmp_path / "results", "cross_losses")
    assert lost is not None
    (trace,) = lost.panels[0].marks
    assert isinstance(trace, Trace) and trace.y.tolist() == [7]


def test_a_share_is_of_all_that_was_delivered(tmp_path: Path) -> None:
    """Names a and b deliver 6 and 2 of 8 Mb/s with two flows and one: fair are two thirds."""
    flows = [flow(1, "x", 3), flow(2, "x", 3), flow(3, "x", 2)]
    tables = [{"name": "a", "count": 2}, {"name": "b", "count": 1}]
    for rate in ("1Mbps", "2Mbps"):
        write(tmp_path / rate, {"bottleneck.rate": rate}, flows, flow=tables)
    found = chart(tmp_path, "share")
    assert found is not None
    lines = {}
    for mark in found.panels[0].marks:
        assert isinstance(mark, Trace)
        lines[mark.name, mark.look.colour] = mark.y.tolist()
    assert lines["a", 0] == [75, 75] and lines["b", 1] == [25, 25]
    assert lines["fair share", "muted"] == pytest.approx([100 / 3] * 2)


def test_the_example_of_share_is_valid() -> None:
    """A scenario accepts the command in the figure's docstring."""
    text = str(share.__doc__).split("\n\n")[2].replace("\\\n", " ")
    options = [word for word in shlex.split(text) if "=" in word]
    path = ROOT / "scenarios/rate-change.toml"
    points = sweep.read(path, [sweep.parse_setting(option) for option in options])
    rates = [point.values["bottleneck.rate"] for point in points]
    assert rates == ["5Mbps", "10Mbps", "20Mbps"]
    assert points[0].scenario.report.figures == ["share"]


@pytest.mark.parametrize(
    ("key", "values", "label", "log"),
    [
        ("bottleneck.rate", ["1Mbps", "2Mbps"], "Rate of the bottleneck (Mb/s)", False),
        ("bottleneck.delay", ["1ms", "10ms", "250ms"], "Delay of the bottleneck (ms)", True),
        ("flow.0.app.send_buffer", ["1kB", "2MB"], "App send buffer", False),
        ("choice.load", ["60", "85"], "Load", False),
    ],
)
def test_an_axis_has_words_and_a_unit(
    key: str, values: list[str], label: str, log: bool, tmp_path: Path
) -> None:
    for value in values:
        write(tmp_path / value, {key: value}, [flow(1, "a", 2)])
    found = chart(tmp_path, "sweep")
    assert found is not None
    assert (found.x.label, found.x.log) == (label, log)


def test_throughput_against_delay_has_an_ellipse_per_name(tmp_path: Path) -> None:
    delays = [30.0, 40.0, 50.0, 35.0, 45.0, 60.0]
    flows = [
        flow(n, "x", n) | {"one_way_delay_ms": {"p95": delay}}
        for n, delay in enumerate(delays, start=1)
    ]
    tables = [{"name": "near", "count": 3}, {"name": "far", "count": 3}]
    write(tmp_path / "one", {}, flows, flow=tables)
    found = chart(tmp_path, "throughput_delay")
    assert found is not None
    areas = [mark.name for mark in found.panels[0].marks if isinstance(mark, Area)]
    assert areas == ["near", "far"]


def test_a_flow_without_a_delay_is_left_out(tmp_path: Path) -> None:
    """A response's flow has no one-way delay towards its receiver."""
    flows = [flow(n, "x", n) | {"one_way_delay_ms": {"p95": 10.0 * n}} for n in (1, 2, 3)]
    write(tmp_path / "one", {}, [*flows, flow(4, "x", 9) | {"one_way_delay_ms": None}])
    found = chart(tmp_path, "throughput_delay")
    assert found is not None
    points = [mark for mark in found.panels[0].marks if isinstance(mark, Trace)]
    assert sorted(points[0].x.tolist()) == [10.0, 20.0, 30.0]
