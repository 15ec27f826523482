"""The comparison of two checkouts: equal ones pass, and each kind of difference is found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from bench.compare import differences
from bench.compare.__main__ import main, points
from bench.compare.checkout import Checkout
from narrows.testbed.paths import ROOT

SETTINGS = ('duration="0.1s"', "sweep.repeat=1")
SCENARIO = "scenarios/new-aimd.toml"


def run_directory(path: Path, delay_ps: int, summary: dict[str, Any]) -> Path:
    path.mkdir()
    pl.DataFrame({"delay_ps": [delay_ps]}).write_parquet(path / "queue.parquet")
    (path / "summary.json").write_text(json.dumps(summary))
    return path


def test_a_checkout_equals_itself(capsys: pytest.CaptureFixture[str]) -> None:
    few = ["--only", "new-aimd.toml", "--points", "2", "--duration", "0.1s"]
    assert main([str(ROOT), str(ROOT), *few, "--writes"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out == [f"{what}: 2 compared, 0 differ" for what in ("plan", "P4Runtime", "sim")]


def test_nothing_to_compare_is_no_success() -> None:
    assert main([str(ROOT), str(ROOT), "--only", "none.toml"]) == 1


def test_what_a_controller_writes_depends_on_the_scenario() -> None:
    checkout = Checkout(ROOT)

    def writes(*more: str) -> list[str]:
        [switch] = checkout.plan(SCENARIO, [*SETTINGS, *more])["switches"]
        return checkout.writes(switch)

    variant = 'sweep.flow.variant=["reno"]'
    one, two = (writes(f"sweep.flow.count=[{count}]", variant) for count in (1, 2))
    assert any("table_entry" in update for update in one)
    assert len(two) > len(one)
    assert list(differences.of_documents(one, two))


def test_values_count_in_virtual_time_and_names_in_real_time(tmp_path: Path) -> None:
    old = run_directory(tmp_path / "old", 1, {"drops": 1, "flows": [{"id": 0}]})
    new = run_directory(tmp_path / "new", 2, {"drops": 2, "flows": [{"number": 0}]})
    absent = '"" and null', 'null and ""'
    assert list(differences.of_runs(old, new, values=False)) == [
        f"summary.json: flows[0].id: {absent[0]}", f"summary.json: flows[0].number: {absent[1]}",
    ]  # fmt: skip
    assert list(differences.of_runs(old, new, values=True)) == [
        "queue.parquet: 1 and 1 rows; values differ in ['delay_ps']",
        "summary.json: drops: 1 and 2",
        "summary.json: flows[0].id: 0 and null",
        "summary.json: flows[0].number: null and 0",
    ]


@pytest.mark.parametrize(("value", "count"), [(False, 0), (None, 0), ([], 0), (0, 1), (True, 1)])
def test_a_new_key_differs_unless_it_is_empty(value: Any, count: int) -> None:
    found = list(differences.of_documents({"a": 1}, {"a": 1, "b": value}))
    assert len(found) == count


def test_a_table_on_one_side_is_a_difference(tmp_path: Path) -> None:
    old = run_directory(tmp_path / "old", 1, {})
    new = run_directory(tmp_path / "new", 1, {})
    (new / "queue.parquet").unlink()
    assert list(differences.of_runs(old, new, values=False)) == ["queue.parquet: only in OLD"]


def test_points_go_through_the_lists_of_a_sweep(tmp_path: Path) -> None:
    scenario = tmp_path / "one.toml"
    scenario.write_text("[sweep]\nrepeat = 9\nflow.count = [1, 2, 3, 4]\nseed = [5, 6]\n")
    assert [found[2:] for found in points(scenario, 2, "1s")] == [
        ("sweep.flow.count=[1]", "sweep.seed=[5]"),
        ("sweep.flow.count=[3]", "sweep.seed=[5]"),
    ]
