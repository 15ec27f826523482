"""The JSON Schema for editors accepts what the reader accepts, and refuses misspelt keys."""

from __future__ import annotations

import copy
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from narrows.testbed.scenario.keys.json_schema import scenario_schema
from tests.support.world import ROOT, TWO_FLOWS

SCENARIOS = sorted(ROOT.glob("scenarios/**/*.toml"))


def problems(tree: dict[str, Any]) -> list[str]:
    checker = jsonschema.Draft202012Validator(scenario_schema())
    return [error.json_path for error in checker.iter_errors(tree)]


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(scenario_schema())


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_a_committed_scenario_is_valid(path: Path) -> None:
    assert problems(tomllib.loads(path.read_text())) == []


@pytest.mark.parametrize(
    ("table", "key", "value"),
    [
        ("bottleneck", "rat", "5Mbps"),
        ("bottleneck", "counts", "frames"),
        ("bottleneck", "discipline", "codle"),
        ("bottleneck", "discipline", {"name": "codel", "limit": "5ms"}),
        ("bottleneck", "loss", 2),
        ("access", "rate", 5),
        ("record", "queue", "neither"),
        ("report", "figures", ["queue"]),
    ],
)
def test_a_wrong_value_is_refused(table: str, key: str, value: Any) -> None:
    tree = tomllib.loads(TWO_FLOWS)
    right = copy.deepcopy(tree)
    tree.setdefault(table, {})[key] = value
    assert problems(right) == []
    assert len(problems(tree)) == 1


@pytest.mark.parametrize(
    "app",
    [
        {"kind": "tenlet"},
        {"kind": "cbr", "rate": "64kbps", "sise": "80B"},
        {"kind": "cbr", "rate": 64},
    ],
)
def test_a_wrong_workload_is_refused(app: dict[str, Any]) -> None:
    tree = tomllib.loads(TWO_FLOWS)
    tree["flow"][0]["app"] = app
    assert problems(tree) == ["$.flow[0].app"]


def test_a_variant_of_the_kernel_is_taken() -> None:
    tree = tomllib.loads(TWO_FLOWS)
    tree["flow"][0]["variant"] = "nv"
    assert problems(tree) == []
