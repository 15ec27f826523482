"""Every figure, drawn from recorded runs."""

from __future__ import annotations

import json
import shutil
import struct
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from narrows.analysis import figures
from narrows.analysis.chart import paper, style
from narrows.analysis.chart.model import Area, Cells, Chart, Look, Mark, Panel, Rule, Trace
from narrows.analysis.chart.thin import Thinned, thin
from narrows.analysis.figures import FIGURES, UnknownFigureError, draw, not_drawn, render, select
from narrows.analysis.figures.base import Results, number
from narrows.analysis.load import load
from tests.support.analysis_runs import OF_OTHER_SWEEPS, write_run, write_sweep

S = 10**12


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    toy = tmp_path_factory.mktemp("results") / "toy"
    return write_sweep(toy, counts=(1, 2), segments=100, rate_bps=500_000)


@pytest.fixture(scope="module")
def results(sweep: Path) -> Results:
    return Results(tuple(load(sweep)))


@pytest.fixture
def one(tmp_path: Path) -> Path:
    write_run(tmp_path / "one" / "seed=1", {"seed": 1}, segments=100)
    return tmp_path / "one"


def size_px(png: bytes) -> tuple[int, int]:
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", png[16:24])
    return width, height


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.name)
def test_a_figures_files_fit_a_page(results: Results, figure: Any) -> None:
    files = render(figure, results, ("png", "pdf", "svg"))
    if figure.name in OF_OTHER_SWEEPS:
        assert files == {}
        return
    width, _ = size_px(files["png"])
    assert width in (round(style.COLUMN_IN * 300), round(style.PAGE_IN * 300))
    assert files["pdf"][:5] == b"%PDF-" and b"CreationDate" not in files["pdf"]
    assert b"<svg" in files["svg"] and b"<dc:date>" not in files["svg"]


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.name)
def test_a_chart_depends_on_the_runs_alone(sweep: Path, results: Results, figure: Any) -> None:
    again = Results(tuple(load(sweep)))
    first, second = (figures.chart(figure, each) for each in (results, again))
    assert (first is None) == (second is None) == (figure.name in OF_OTHER_SWEEPS)
    np.testing.assert_equal(first and asdict(first), second and asdict(second))


def test_a_files_bytes_depend_on_the_chart_alone() -> None:
    """Every kind of mark, drawn twice; test_report.py draws every figure twice as SVG."""
    x = np.arange(3.0)
    marks: list[Mark] = [
        Trace(x, x, Look(0, marker="hollow"), "range", low=x - 1, high=x + 1),
        Trace(x, x, Look(1, dash=1), "steps", step=True),
        Area(x, x**2, Look(2), "area", hatched=True),
        Rule(y=1.0, look=Look("muted"), name="rule"),
    ]
    cells = Cells(["a", "b"], ["c", "d"], np.eye(2), (0.0, 1.0), "share")
    for chart in (Chart([Panel(marks, "one"), Panel(marks, "two")]), Chart([Panel([cells])])):
        first, second = (paper.files(chart, ("png", "pdf", "svg")) for _ in range(2))
        assert first == second and len(first) == 3


def test_a_figure_is_written_as_a_png_and_a_pdf(one: Path) -> None:
    files = draw(one, ["cwnd", "shares"])
    assert files == [one / "figures" / f"cwnd.{kind}" for kind in ("png", "pdf")]
    (cwnd,) = select(["cwnd"])
    rendered = render(cwnd, Results(tuple(load(one))), ("png", "pdf"))
    assert [path.read_bytes() for path in files] == [rendered["png"], rendered["pdf"]]


def test_a_figure_is_a_file_and_a_line_in_the_list() -> None:
    parts = {"__init__", "base", "against", "disciplines", "flows", "groups"}
    files = {path.stem for path in Path(figures.__file__).parent.glob("*.py")} - parts
    assert files == set(figures.NAMES)
    assert [figure.name for figure in FIGURES] == list(figures.NAMES)


def test_names_and_texts_are_there_for_a_list() -> None:
    assert len({figure.name for figure in FIGURES}) == len(FIGURES)
    for figure in FIGURES:
        assert figure.name.replace("_", "").isalpha() and figure.title and figure.caption


def test_an_unknown_figure_is_refused_before_anything_is_drawn(one: Path) -> None:
    with pytest.raises(UnknownFigureError, match="'queue_lenght' is unknown; expected one of thr"):
        draw(one, ["throughput", "queue_lenght"])
    assert not (one / "figures").exists()


@pytest.mark.usefixtures("first_drawn")
def test_all_that_can_be_drawn_is_drawn(one: Path) -> None:
    (one / "seed=1" / "flows.parquet").unlink()
    names = ["throughput", "flow_completion", "queue_length", "queue_delay", "drops_and_marks",
             "delay_cdf", "queue_delay_cdf", "queue_delay_box", "message_latency"]  # fmt: skip
    assert draw(one) == [
        one / "figures" / f"{name}.{suffix}" for name in names for suffix in ("png", "pdf")
    ]


def test_no_names_are_all_figures() -> None:
    assert select(None) == list(FIGURES)
    assert select([]) == []


def drawn(results_dir: Path) -> set[str]:
    results = Results(tuple(load(results_dir)))
    return {figure.name for figure in FIGURES if figures.chart(figure, results) is not None}


def test_a_single_run_has_no_figure_against_anything(one: Path) -> None:
    assert drawn(one) == {figure.name for figure in FIGURES} - OF_OTHER_SWEEPS - {
        "completion_time",
        "convergence",
        "fairness",
        "fairness_over_time",
        "smoothness",
        "sweep",
        "throughput_delay",
        "utilization_delay",
    }


def test_what_was_not_recorded_is_not_drawn(one: Path) -> None:
    (one / "seed=1" / "flows.parquet").unlink()
    names = {"throughput", "flow_completion", "queue_length", "queue_delay", "drops_and_marks",
             "delay_cdf", "queue_delay_cdf", "queue_delay_box", "message_latency"}  # fmt: skip
    assert drawn(one) == names


@pytest.mark.parametrize(
    ("segments", "unit", "unit_bytes"),
    [([500, 500], "packets", 500), ([500, 1000], "kB", 1000), (None, "kB", 1000)],
)
def test_windows_are_in_packets_where_segments_are_equal(
    one: Path, segments: list[int] | None, unit: str, unit_bytes: int
) -> None:
    record = json.loads((one / "seed=1" / "run.json").read_text())
    more = {} if segments is None else {"segment_bytes": segments}
    (one / "seed=1" / "run.json").write_text(json.dumps(record | more))
    results = Results(tuple(load(one)))
    chart = select(["cwnd"])[0].chart(results)
    assert chart is not None
    assert chart.y.label == f"Congestion window ({unit})"
    assert ("500 B" in chart.note) == (unit == "packets")
    greatest = results.runs[0].table("flows").collect()["cwnd_bytes"].max()
    lines = [mark for mark in chart.panels[0].marks if isinstance(mark, Trace)]
    windows = [line for line in lines if line.name != "ssthresh"]
    assert max(line.y.max() for line in windows) * unit_bytes == greatest


def test_windows_of_the_kernel_are_in_kilobytes(one: Path) -> None:
    for name, more in (("run", {"segment_bytes": [500, 500]}), ("summary", {})):
        path = one / "seed=1" / f"{name}.json"
        found = json.loads(path.read_text()) | more
        for flow in found.get("flows", []):
            flow["profile"] = "kernel"
        path.write_text(json.dumps(found))
    assert load(one)[0].segment_bytes is None


def test_drops_are_a_share_of_what_came(one: Path) -> None:
    results = Results(tuple(load(one)))
    chart = select(["drops_and_marks"])[0].chart(results)
    assert chart is not None
    dropped, marked = (mark for mark in chart.panels[0].marks if isinstance(mark, Trace))
    ledger = results.runs[0].table("queue").collect()
    drops = ledger.filter(pl.col("event") == "drop").height
    assert drops > 0
    assert 0 < np.max(dropped.y) <= 100
    assert np.count_nonzero(dropped.y) <= drops
    assert not np.any(marked.y)
    assert [name for name, _, _ in chart.legend] == ["dropped", "marked"]


def test_message_latency_is_the_share_read_within_a_time(one: Path) -> None:
    chart = select(["message_latency"])[0].chart(Results(tuple(load(one))))
    assert chart is not None
    marks = chart.panels[0].marks
    line = next(mark for mark in marks if isinstance(mark, Trace))
    times, shares = line.x, line.y
    # 16 of 20 messages took 60 ms, 4 took 150 ms.
    assert shares[times <= 100].max() == pytest.approx(0.8)
    assert shares[times <= 200].max() == 1
    assert [mark.x for mark in marks if isinstance(mark, Rule)] == [100, 200]


def test_without_messages_no_latency_is_drawn(one: Path) -> None:
    run = load(one)[0]
    run.table("messages").head(0).collect().write_parquet(run.path / "messages.parquet")
    assert "message_latency" not in drawn(one)


def test_invalid_runs_do_not_count(tmp_path: Path) -> None:
    write_sweep(tmp_path / "toy", (1, 2), ("reno",), (1,), segments=50, valid=False)
    assert drawn(tmp_path / "toy").isdisjoint({"completion_time", "fairness", "queue_delay_box"})
    results = Results(tuple(load(tmp_path / "toy")))
    (queue_length,) = select(["queue_length"])
    chart = queue_length.chart(results)
    assert chart is not None
    assert all("INVALID RUN" in panel.title for panel in chart.panels)


def test_nothing_sent_and_nothing_recorded(one: Path) -> None:
    run = load(one)[0]
    for name in ("queue", "flows"):
        run.table(name).head(0).collect().write_parquet(run.path / f"{name}.parquet")
    assert "queue_length" in drawn(one)


@pytest.mark.parametrize(
    ("counts", "variants", "panels"),
    [((1, 2, 3, 4, 5), ("aimd-fc-plus", "new-aimd", "reno"), 15), ((30,), ("reno",), 1)],
)
def test_large_sweeps_and_many_flows(
    tmp_path: Path, counts: tuple[int, ...], variants: tuple[str, ...], panels: int
) -> None:
    results_dir = write_sweep(tmp_path / "toy", counts, variants, (1,), segments=20)
    results = Results(tuple(load(results_dir)))
    charts = [figure.chart(results) for figure in select(["throughput", "queue_length", "cwnd"])]
    assert [len(chart.panels) for chart in charts if chart] == 3 * [panels]
    assert charts[-1] is not None
    canvas = paper.draw(charts[-1])
    for text in [text for axis in canvas.axes for text in axis.texts] + canvas.texts:
        assert float(text.get_fontsize()) >= 6


@pytest.mark.parametrize(
    ("flows", "labels"),
    [
        (2, ["flow 1 (reno)", "flow 2 (new-aimd)"]),
        (10, ["each reno flow", "each new-aimd flow"]),
    ],
)
def test_variants_side_by_side_are_named(tmp_path: Path, flows: int, labels: list[str]) -> None:
    path = write_run(tmp_path / "one" / "seed=1", {"seed": 1}, flows=flows, segments=20)
    summary = json.loads((path / "summary.json").read_text())
    for flow in summary["flows"][1::2]:
        flow["variant"] = "new-aimd"
    (path / "summary.json").write_text(json.dumps(summary))
    chart = select(["cwnd"])[0].chart(Results(tuple(load(tmp_path / "one"))))
    assert chart is not None
    assert [name for name, _, _ in chart.legend] == labels


def test_swept_keys_of_any_kind(tmp_path: Path) -> None:
    for limit in ("5packets", "10packets", "20packets"):
        for algorithm in ("droptail", "codel"):
            point = {"bottleneck.queue": limit, "switch.algorithm": algorithm, "seed": 1}
            size = int(limit.removesuffix("packets"))
            write_run(tmp_path / "toy" / f"{limit},{algorithm}", point, segments=40, limit=size)
    results = Results(tuple(load(tmp_path / "toy")))
    assert results.keys == ["bottleneck.queue", "switch.algorithm"]
    assert results.x_key == "bottleneck.queue"
    assert results.values("bottleneck.queue") == ["5packets", "10packets", "20packets"]
    assert results.series_key == "switch.algorithm"
    assert drawn(tmp_path / "toy") >= {"throughput", "queue_delay_box", "fairness", "cwnd"}


@pytest.mark.parametrize(
    ("value", "size"),
    [
        (3, 3), (0.5, 0.5), ("1.5bdp", 1.5), ("100packets", 100), ("5Mbps", 5e6), ("50ms", 0.05),
        ("15us", 15e-6), ("2s", 2), ("20000KB", 2e7), ("new-aimd", None), ("", None), (True, None),
    ],
)  # fmt: skip
def test_a_value_with_a_unit_is_a_number(value: object, size: float | None) -> None:
    assert number(value) == (None if size is None else pytest.approx(size))


def test_a_series_keeps_its_colour_where_it_has_no_run(sweep: Path, tmp_path: Path) -> None:
    shutil.copytree(sweep, tmp_path / "toy")
    for path in (tmp_path / "toy").glob("*count=1,*variant=aimd-fc-plus*"):
        shutil.rmtree(path)
    results = Results(tuple(load(tmp_path / "toy")))
    (point, first), *_ = results.facets(results.series_key)
    assert point == {"flow.count": 1}
    # The colour depends on the position in this list, which all facets share.
    assert first.series == results.series == ["new-aimd", "aimd-fc-plus"]
    assert not first.of_series("aimd-fc-plus").runs
    assert {"completion_time", "queue_delay_by_rtt", "queue_length"} <= drawn(tmp_path / "toy")


def test_thinning_keeps_every_excursion() -> None:
    rng = np.random.default_rng(1)
    times = np.sort(rng.integers(0, 10 * S, 50_000))
    values = rng.normal(size=50_000)
    values[12_345] = 99
    columns = 500
    x, y = thin(times, values, 10 * S, columns)
    assert len(x) <= 4 * columns + 1
    assert np.all(np.diff(x) >= 0) and x[-1] == 10
    column, kept = times * columns // (10 * S), (x[:-1] * columns / 10 + 1e-9).astype(int)
    for number_of in range(columns):
        recorded, drawn_values = values[column == number_of], y[:-1][kept == number_of]
        assert (recorded.min(), recorded.max()) == (drawn_values.min(), drawn_values.max())
        assert (recorded[0], recorded[-1]) == (drawn_values[0], drawn_values[-1])


@pytest.mark.parametrize("parts", [[], [7], [1, 1_999], [500, 500, 501, 1_000]])
def test_thinning_in_parts_keeps_what_a_sort_finds(parts: list[int]) -> None:
    """Of equal values the first smallest and the last largest of each column of pixels."""
    rng = np.random.default_rng(2)
    times, values = np.sort(rng.integers(0, S, 2_000)), rng.integers(0, 4, 2_000).astype(float)
    column = times * 20 // S
    kept = set[int]()
    for number_of in range(20):
        own = np.flatnonzero(column == number_of)
        ordered = own[np.argsort(values[own], kind="stable")]
        kept |= {int(own[0]), int(own[-1]), int(ordered[0]), int(ordered[-1])}
    line = Thinned(S, 20)
    for time_ps, value in zip(np.split(times, parts), np.split(values, parts), strict=True):
        line.add(time_ps, value)
    x, y = line.points()
    expected = sorted(kept)
    assert x.tolist() == [*(times[expected] / S).tolist(), 1.0]
    assert y.tolist() == [*values[expected].tolist(), values[expected[-1]]]


def test_few_points_are_not_thinned_and_the_last_value_is_held() -> None:
    x, y = thin([0, 2 * S], [1, 3], 5 * S, 100)
    assert x.tolist() == [0, 2, 5] and y.tolist() == [1, 3, 3]
    assert [len(part) for part in thin([], [], S, 100)] == [0, 0]


def test_the_first_three_colours_stay_apart_in_grey() -> None:
    def luminance(colour: str) -> float:
        red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
        linear: float = 0.2126 * red**2.2 + 0.7152 * green**2.2 + 0.0722 * blue**2.2
        return linear

    shades = sorted(luminance(colour) for colour in style.COLOURS[:3])
    assert all(high / low > 1.5 for low, high in pairwise(shades))


def test_a_figure_without_data_says_what_it_needs(one: Path) -> None:
    (one / "seed=1" / "queue.parquet").unlink()
    assert not_drawn(one, ["goodput_ratio", "cwnd", "queue_length"]) == [
        "goodput_ratio not drawn: it needs flows of at least two names (name = in [[flow]])",
        "queue_length not drawn: no run recorded queue (record.queue)",
    ]


def test_a_figure_of_an_earlier_run_does_not_stay(one: Path) -> None:
    draw(one, ["queue_length"])
    (one / "seed=1" / "queue.parquet").unlink()
    assert draw(one, ["queue_length"]) == []
    assert not list((one / "figures").iterdir())
