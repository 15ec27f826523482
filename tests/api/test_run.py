"""`narrows.run` and `narrows.load`: one road with the command, lazy frames, figures."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import narrows
from tests.support.world import TWO_FLOWS, environment, write
from tests.support.world import narrows as command

NAMED = '\n[[flow]]\nname = "late"\nvariant = "cubic"\nstart = "1s"\n'
SWEEP = '\n[sweep]\nbottleneck.queue = ["10packets", "40packets"]\n'


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> narrows.Results:
    """Two points with three flows each, one of them named."""
    place = tmp_path_factory.mktemp("api")
    source = write(place, TWO_FLOWS + NAMED + SWEEP)
    figures = {"figures": ["queue_delay"]}
    return narrows.run(source, out=place / "out", duration="2s", quiet=True, report=figures)


def test_the_tables_are_the_commands(results: narrows.Results, tmp_path: Path) -> None:
    source = write(tmp_path, TWO_FLOWS + NAMED + SWEEP)
    ran = command("run", source, "--out", tmp_path, "--set", "duration=2s", "--no-figures")
    assert ran.returncode == 0, ran.stderr
    for run in results:
        for table in ("queue", "flows", "packets", "messages"):
            ours, theirs = run.path, tmp_path / "scenario" / run.name
            name = f"{table}.parquet"
            assert (ours / name).read_bytes() == (theirs / name).read_bytes()
    assert (tmp_path / "scenario/runs.csv").read_bytes() == (
        results.directory / "runs.csv"
    ).read_bytes()


def test_a_frame_has_the_sweeps_keys(results: narrows.Results) -> None:
    frame = results.queue
    assert isinstance(frame, pl.LazyFrame)
    counted = frame.group_by("bottleneck.queue", maintain_order=True).len().collect()
    assert counted["bottleneck.queue"].to_list() == ["10packets", "40packets"]
    own = [pl.scan_parquet(run.path / "queue.parquet").select(pl.len()) for run in results]
    assert counted["len"].to_list() == [each.collect().item() for each in own]


def test_a_frame_has_the_flows_names(results: narrows.Results) -> None:
    columns = ["flow", "flow_name", "variant"]
    found = results.flows.select(columns).unique().sort("flow").collect()
    assert found.rows() == [(1, None, "reno"), (2, None, "reno"), (3, "late", "cubic")]
    reported = results.packets.filter(pl.col("flow_name") == "late").select("flow").unique()
    assert reported.collect()["flow"].to_list() == [3]


def test_the_rows_stay_in_the_order_of_events(results: narrows.Results) -> None:
    for run in results:
        ours = results.flows.filter(pl.col("run") == run.name).select("time_ps", "flow").collect()
        theirs = run.table("flows").select("time_ps", "flow").collect()
        assert ours.equals(theirs)


def test_loaded_results_are_those_of_the_run(results: narrows.Results) -> None:
    loaded = narrows.load(results.directory)
    assert [run.name for run in loaded] == [run.name for run in results]
    assert loaded.rows().equals(results.rows())
    assert loaded.rows().height == 2 * 3


def test_a_table_that_was_not_recorded_is_named(tmp_path: Path) -> None:
    source = write(tmp_path, TWO_FLOWS)
    record = {"messages": False}
    results = narrows.run(source, out=tmp_path, duration="1s", record=record, quiet=True)
    with pytest.raises(narrows.LoadError, match=r"no run recorded 'messages'.*record\.messages"):
        _ = results.messages


def test_a_figure_is_shown_and_saved(results: narrows.Results, tmp_path: Path) -> None:
    figure = results.figure("queue_delay")
    assert "data:image/svg+xml;base64," in figure._repr_html_()
    assert figure.save(tmp_path / "delay.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(narrows.FigureError, match="'docx' is not a figure's format"):
        figure.save(tmp_path / "delay.docx")
    assert "queue_delay" in results.figures()


def test_a_figure_that_cannot_be_drawn_says_why(results: narrows.Results) -> None:
    with pytest.raises(narrows.UnknownFigureError, match="figure 'delay' is unknown"):
        results.figure("delay")
    [missing, *_] = [name for name in ("gain_loss", "loss_sweep") if name not in results.figures()]
    with pytest.raises(narrows.FigureError, match=f"{missing} not drawn: it needs"):
        results.figure(missing)


def test_a_notebook_shows_every_point(results: narrows.Results) -> None:
    html = results._repr_html_()
    assert html.count("<tr>") == 1 + 2
    assert "10packets" in html and "<button>" not in html
    assert repr(results).startswith("<Results Two flows through 5 Mb/s: 2 runs, ")


def test_a_notebook_shows_names_as_text(results: narrows.Results) -> None:
    failed = narrows.Results(results.directory, results.runs, {"<b>": "a & b"})
    assert "<ul><li>&lt;b&gt;: a &amp; b</li></ul>" in failed._repr_html_()


def test_a_report_is_the_commands(results: narrows.Results, tmp_path: Path) -> None:
    ours = results.report(tmp_path / "ours.html")
    assert command("report", results.directory, "--out", tmp_path / "theirs.html").returncode == 0
    assert ours.read_bytes() == (tmp_path / "theirs.html").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"target": "simm"}, 'target = "simm": is an unknown target; did you mean "sim"'),
        ({"jobs": 0}, "--jobs: 0: expected at least 1"),
        ({"options": {"live": True}}, "options.live: is not an option of target sim"),
        ({"bottleneck": {"rat": "1Mbps"}}, "bottleneck.rat: is an unknown key"),
    ],
)
def test_wrong_arguments_are_named(tmp_path: Path, arguments: dict[str, Any], message: str) -> None:
    source = write(tmp_path, TWO_FLOWS)
    with pytest.raises(narrows.InputError) as raised:
        narrows.run(source, out=tmp_path, quiet=True, **arguments)
    assert message in str(raised.value)


def test_runs_that_all_fail_raise(tmp_path: Path) -> None:
    source = write(tmp_path, TWO_FLOWS.replace('duration = "5s"', 'duration = "completion"'))
    app = {"kind": "bulk", "bytes": "100MB"}
    with pytest.raises(narrows.RunsFailedError, match=r"no run is valid\n.*,seed=1: invalid: "):
        narrows.run(source, out=tmp_path, quiet=True, limit="1s", flow={"app": app})


def test_a_thread_can_run_a_scenario(tmp_path: Path) -> None:
    """Only the main thread may set signal handlers."""
    source = write(tmp_path, TWO_FLOWS)
    found: list[narrows.Results] = []

    def work() -> None:
        found.append(narrows.run(source, out=tmp_path, duration="1s", quiet=True))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert len(found) == 1


def test_the_import_loads_nothing_else(tmp_path: Path) -> None:
    script = (
        "import json, sys; before = set(sys.modules); import narrows;"
        "print(json.dumps(sorted(set(sys.modules) - before)))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, env=environment(), capture_output=True,
        text=True, check=True,
    )  # fmt: skip
    heavy = {"polars", "pydantic", "numpy", "matplotlib", "grpc", "rich", "narrows._engine"}
    assert not heavy & set(json.loads(ran.stdout))


@pytest.mark.parametrize("name", narrows.__all__)
def test_every_name_of_the_interface_is_there(name: str) -> None:
    assert getattr(narrows, name).__doc__
    assert name in dir(narrows)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'runs'"):
        _ = narrows.runs  # type: ignore[attr-defined]
