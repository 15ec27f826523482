"""The paper's points in the figures of its reproduction."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from narrows.analysis import reproduction
from narrows.analysis.chart import paper as on_paper
from narrows.analysis.chart.model import Rule, Trace
from narrows.analysis.load import Run
from narrows.analysis.page import Table as PageTable
from narrows.analysis.reproduction_charts import curve_plots, table_plots
from narrows.schema.reproduction import Reproduction
from narrows.testbed.papers import islam_2009, jasem_2010
from narrows.testbed.papers.finished_runs import FinishedRuns
from narrows.testbed.papers.judge import judge
from narrows.testbed.papers.paper import Curves, Experiment, Paper, Table
from narrows.testbed.papers.quantity import Quantity

JASEM, ISLAM = jasem_2010.PAPER, islam_2009.PAPER
RATE = Quantity("Rate", "Mb/s", lambda run: cast(Any, run.summary)["rate"])
PRINTED = {"reno": {"1ms": 90.0, "4ms": 45.0}, "cubic": {"1ms": 95.0}}


def run(tcp: str, delay: str, rate: float) -> Run:
    point = {"choice.tcp": tcp, "bottleneck.delay": delay}
    return cast(Run, SimpleNamespace(point=point, seed=1, valid=True, summary={"rate": rate}))


FOUND = FinishedRuns(
    {
        "rates": [
            run("reno", "1ms", 80.0),
            run("reno", "2ms", 60.0),
            run("cubic", "1ms", 70.0),
            run("cubic", "2ms", 50.0),
        ]
    }
)


def content(plot: Any) -> Reproduction:
    table = Table(
        "rates", "Rates", "Table 1", "rates", RATE, "choice.tcp", "bottleneck.delay", PRINTED, plot
    )
    curves = Curves(
        "curves", "Curves", "Fig. 2", "rates", "choice.tcp", {"delay": "1ms"}, "Time (s)", "Mb/s",
        lambda run: ([0.0, 1.0], [1.0, 2.0]), {"reno": 45.0}, "the mean in Table 1",
    )  # fmt: skip
    small = Paper(
        "s", "S", "N", (Experiment("rates", "Rates", "x.toml"),), (table,), (), (), (curves,)
    )
    return judge(small, FOUND, {}, quick=False)


def published(plot: Any) -> list[Trace]:
    [drawn] = table_plots(content(plot))
    [panel] = drawn.chart.panels
    return [mark for mark in panel.marks if isinstance(mark, Trace) and mark.name == "published"]


def test_published_points_stand_at_our_places_on_the_axis() -> None:
    reno, cubic = published("lines")
    assert (reno.x.tolist(), reno.y.tolist()) == ([0.0, 2.0], [90.0, 45.0])
    assert (cubic.x.tolist(), cubic.y.tolist()) == ([0.0], [95.0])
    assert not reno.look.line


def test_a_published_point_has_its_series_colour() -> None:
    assert [mark.look.colour for mark in published("lines")] == [0, 1]


def test_published_points_stand_on_their_bars() -> None:
    """4 ms has no bar, so that two points remain, in the middle of the bars of 1 ms."""
    assert [mark.y.tolist() for mark in published("bars")] == [[90.0], [95.0]]
    assert np.concatenate([mark.x for mark in published("bars")]) == pytest.approx([-0.2, 0.8])


@pytest.mark.parametrize("plot", ["lines", "bars"])
def test_the_axis_has_room_for_published_points(plot: str) -> None:
    [drawn] = table_plots(content(plot))
    [(low, high)] = drawn.chart.limits("y")
    assert low < 45.0 < 95.0 < high
    assert "Hollow marks: published." in drawn.caption
    assert [name for name, _, _ in drawn.chart.legend][-1] == "published"
    assert on_paper.files(drawn.chart, ("svg",))["svg"]


def test_a_published_level_is_drawn_through_its_curve() -> None:
    [drawn] = curve_plots(content("none"))
    levels = [[mark.y for mark in panel.marks if isinstance(mark, Rule)]
              for panel in drawn.chart.panels]  # fmt: skip
    assert levels == [[45.0], []]
    assert "Dashed: published, the mean in Table 1." in drawn.caption


def test_a_map_has_the_cells_of_all_experiments() -> None:
    """An empty cell where no run has both, such as a source with SACK and a plain sink."""
    table = Table(
        "rates", "Rates", "none", "rates", RATE, "choice.tcp", "bottleneck.delay", plot="map",
        more=("others",), note="Empty: refused.",
    )  # fmt: skip
    experiments = (Experiment("rates", "Rates", "x.toml"), Experiment("others", "O", "x.toml"))
    small = Paper("s", "S", "N", experiments, (table,), (), ())
    both = FinishedRuns({**FOUND.runs, "others": [run("sack", "2ms", 10.0)]})
    [drawn] = table_plots(judge(small, both, {}, quick=False))
    cells = drawn.chart.cells
    assert cells is not None
    assert (cells.rows, cells.columns) == (["reno", "cubic", "sack"], ["1ms", "2ms"])
    wanted = np.array([[80, 60], [70, 50], [np.nan, 10]])
    assert np.array_equal(cells.values, wanted, equal_nan=True)
    assert drawn.caption.endswith("Empty: refused.")
    assert on_paper.files(drawn.chart, ("svg",))["svg"]


def test_a_printed_table_keeps_the_papers_form() -> None:
    [table] = [each for each in content("none")["tables"] if reproduction.is_printed(each)]
    block = reproduction.printed_table(table)
    assert isinstance(block, PageTable)
    minus = reproduction.MINUS
    assert list(map(list, block.rows)) == [
        ["reno", 90.0, 80.0, f"{minus}11.1 %", 45.0, None, None],
        ["cubic", 95.0, 70.0, f"{minus}26.3 %", None, None, None],
    ]


def test_jasems_figures_5_to_10_are_on_the_page() -> None:
    """Figure 6 is a table of times, the others are curves."""
    sources = {each.source for each in JASEM.curves} | {each.source for each in JASEM.tables}
    wanted = {f"Fig. {number}{part}" for number in range(7, 11) for part in "ab"}
    assert sources >= {"Fig. 5", "Fig. 6"} | wanted


def test_islams_eleven_sources_and_five_sinks_are_run() -> None:
    table = next(each for each in ISLAM.tables if each.name == "sources")
    found = [dict(ISLAM.experiment(name).settings) for name in (table.experiment, *table.more)]
    sources = {source for each in found for source in each["sweep.choice.source"]}
    sinks = {sink for each in found for sink in each["sweep.choice.sink"]}
    assert (len(sources), len(sinks)) == (11, 5)
