"""Run directories: which count as runs, their order, and the errors for broken ones."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from narrows.analysis.load import COLUMNS, LoadError, load, natural_key
from tests.support.analysis_runs import write_run, write_sweep


@pytest.fixture
def results(tmp_path: Path) -> Path:
    return write_sweep(tmp_path / "toy", (1, 10, 2), ("reno",), (1,), segments=20)


def test_a_scenario_is_its_runs_in_natural_order(results: Path) -> None:
    assert [run.point["flow.count"] for run in load(results)] == [1, 2, 10]


def test_what_is_not_finished_or_no_run_is_left_out(results: Path) -> None:
    (results / ".flow.count=3").mkdir()
    (results / ".flow.count=3" / "run.json").write_text("{")
    (results / "figures").mkdir()
    assert len(load(results)) == 3


def test_a_run_directory_is_one_run(results: Path) -> None:
    (run,) = load(results / "flow.count=2,flow.variant=reno,seed=1")
    assert (run.seed, run.valid, run.title) == (1, True, "A toy <sweep> of two variants")
    assert [flow["id"] for flow in run.flows] == [1, 2]


def test_tables_are_lazy_and_have_the_columns_of_the_contract(results: Path) -> None:
    run = load(results)[0]
    table = run.table("queue")
    assert isinstance(table, pl.LazyFrame)
    assert table.collect_schema().names() == list(COLUMNS["queue"])
    assert run.has("flows") and not run.has("packets")


def test_a_run_counts_only_when_instrument_and_engine_agree(tmp_path: Path) -> None:
    path = write_run(tmp_path / "toy" / "a", {}, segments=20, valid=False)
    (run,) = load(path)
    assert not run.valid
    assert run.invalid_reason == "stopped at the limit of 3600 s"


def without(path: Path, key: str) -> None:
    content = json.loads(path.read_text())
    del content[key]
    path.write_text(json.dumps(content))


@pytest.mark.parametrize(
    ("file", "spoil", "message"),
    [
        ("run.json", lambda path: path.write_text("{"), "not readable as JSON"),
        ("run.json", lambda path: path.write_text("[]"), "holds a list, expected an object"),
        ("run.json", lambda path: path.write_text('{"schema": 2}'), "schema is 2, expected 1"),
        ("run.json", lambda path: without(path, "seed"), "no key 'seed'"),
        ("summary.json", lambda path: path.unlink(), "no such file"),
        ("summary.json", lambda path: without(path, "bottleneck"), "no key 'bottleneck'"),
    ],
)
def test_a_broken_file_is_named(results: Path, file: str, spoil: object, message: str) -> None:
    path = results / "flow.count=2,flow.variant=reno,seed=1" / file
    assert callable(spoil)
    spoil(path)
    with pytest.raises(LoadError) as caught:
        load(results)
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"PAR1 cut short", b"time_ps\n1\n"])
def test_a_broken_table_is_named(results: Path, content: bytes) -> None:
    run = load(results)[0]
    (run.path / "queue.parquet").write_bytes(content)
    with pytest.raises(LoadError, match=r"queue\.parquet: not a readable Parquet file"):
        run.table("queue")


def test_a_missing_column_or_table_is_named(results: Path) -> None:
    run = load(results)[0]
    run.table("queue").drop("sojourn_ps").collect().write_parquet(run.path / "queue.parquet")
    with pytest.raises(LoadError, match=r"queue\.parquet: no column sojourn_ps; it has time_ps"):
        run.table("queue")
    with pytest.raises(LoadError, match=r"packets\.parquet: no such table"):
        run.table("packets")


def test_no_results(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="holds no finished run"):
        load(tmp_path)
    with pytest.raises(LoadError, match="no such directory"):
        load(tmp_path / "nowhere")


def test_natural_order() -> None:
    names = ["b", "a10", "a9.5", "a2", "10Mbps", "9Mbps"]
    assert sorted(names, key=natural_key) == ["9Mbps", "10Mbps", "a2", "a9.5", "a10", "b"]


def test_only_the_points_of_the_latest_run_count(results: Path) -> None:
    names = [run.name for run in load(results)][::-1][:2]
    (results / "points.json").write_text(json.dumps({"schema": 1, "points": [*names, "gone"]}))
    assert [run.name for run in load(results)] == names


def test_points_without_a_run_are_no_results(results: Path) -> None:
    (results / "points.json").write_text(json.dumps({"schema": 1, "points": ["gone"]}))
    with pytest.raises(LoadError, match="holds no finished run"):
        load(results)
