"""Scenarios as Python objects: the checks of a file, and the same plans."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import narrows
from narrows.testbed.problems import InputError
from narrows.testbed.scenario import sweep
from tests.support.world import TWO_FLOWS, write
from tests.support.world import called as command

KEYS: dict[str, Any] = {
    "title": "Two flows",
    "duration": "2s",
    "bottleneck": {"rate": "5Mbps", "delay": "5ms", "queue": "20packets"},
    "flow": [{"variant": "reno", "count": 2}],
}


def test_an_object_gives_the_points_of_its_file(tmp_path: Path) -> None:
    source = write(tmp_path, TWO_FLOWS + "[sweep]\nrepeat = 2\n")
    scenario = narrows.Scenario.read(source)
    assert scenario.points == [point.name for point in sweep.read(source)] == ["seed=1", "seed=2"]
    assert scenario.keys == sweep.read_toml(source)


@pytest.mark.parametrize(
    ("wrong", "toml"),
    [
        ({"durations": "1s"}, ('title = "', 'durations = "1s"\ntitle = "')),
        ({"duration": "1"}, ('duration = "5s"', 'duration = "1"')),
        ({"profile": "linus"}, ('profile = "linux"', 'profile = "linus"')),
        ({"bottleneck.rate": 5}, ('rate = "5Mbps"', "rate = 5")),
        ({"flow.variant": "rino"}, ('"reno"', '"rino"')),
        ({"flow.0.count": -1}, ("count = 2", "count = -1")),
    ],
)  # fmt: skip
def test_the_messages_are_those_of_a_file(
    tmp_path: Path, wrong: dict[str, Any], toml: tuple[str, str]
) -> None:
    source = write(tmp_path, TWO_FLOWS)
    scenario = narrows.Scenario.read(source)
    with pytest.raises(InputError) as of_object:
        scenario.but(**wrong)
    source.write_text(TWO_FLOWS.replace(*toml, 1))
    with pytest.raises(InputError) as of_file:
        sweep.read(source)
    assert of_object.value.problems == of_file.value.problems


def test_every_problem_of_a_scenario_is_told() -> None:
    keys = KEYS | {"flow": [{"variant": "rino"}], "duration": "1 fortnight"}
    with pytest.raises(narrows.InputError) as raised:
        narrows.Scenario("wrong", **keys)
    first, second = str(raised.value).split("\n")
    assert first.startswith('wrong: duration = "1 fortnight": ')
    assert second.startswith('wrong: flow.0.variant = "rino": ')


def test_tuples_and_paths_are_lists_and_text(tmp_path: Path) -> None:
    flows = tuple(KEYS["flow"])
    scenario = narrows.Scenario("pair", **(KEYS | {"flow": flows}), sweep={"repeat": 3})
    assert scenario.keys["flow"] == KEYS["flow"]
    assert len(scenario.points) == 3


def test_a_changed_scenario_leaves_the_first(tmp_path: Path) -> None:
    scenario = narrows.Scenario("pair", **KEYS)
    other = scenario.but(bottleneck={"rate": "2Mbps"})
    assert scenario.keys["bottleneck"]["rate"] == "5Mbps"
    assert other.keys["bottleneck"] == KEYS["bottleneck"] | {"rate": "2Mbps"}
    scenario.keys["title"] = "changed"
    assert scenario.keys["title"] == "Two flows"


@pytest.mark.parametrize("name", ["", ".hidden", "a/b", "a b", "../up"])
def test_a_name_that_no_directory_can_have_is_refused(name: str) -> None:
    with pytest.raises(narrows.InputError, match=r"Scenario: name = .*expected letters"):
        narrows.Scenario(name, **KEYS)


def test_a_scenario_too_deep_is_refused() -> None:
    deep: dict[str, Any] = {}
    for _ in range(30):
        deep = {"a": deep}
    with pytest.raises(narrows.InputError, match="deep: is nested too deeply"):
        narrows.Scenario("deep", **(KEYS | {"access": deep}))


def test_an_object_runs_as_its_file(tmp_path: Path) -> None:
    source = write(tmp_path, TWO_FLOWS)
    scenario = narrows.Scenario.read(source)
    ours = narrows.run(scenario, out=tmp_path / "a", duration="1s", quiet=True)
    theirs = narrows.run(source, out=tmp_path / "b", duration="1s", quiet=True)
    [one], [other] = ours.runs, theirs.runs
    for name in ("queue.parquet", "flows.parquet", "run.json", "summary.json"):
        assert (one.path / name).read_bytes() == (other.path / name).read_bytes()


def test_a_scenario_runs_by_name_from_anywhere(tmp_path: Path) -> None:
    ran = command("run", "rate-change", "--dry-run", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert "results results/rate-change" in ran.stdout
    assert narrows.Scenario.read("rate-change").points == ["seed=1"]


def test_a_file_comes_before_a_name(tmp_path: Path) -> None:
    (tmp_path / "rate-change").write_text(TWO_FLOWS)
    ran = command("run", "rate-change", "--dry-run", cwd=tmp_path)
    assert ran.stdout.startswith("Two flows through 5 Mb/s\n")


def test_an_unknown_name_is_told_the_nearest(tmp_path: Path) -> None:
    ran = command("run", "rate-chnge", cwd=tmp_path)
    assert ran.returncode == 2
    assert ran.stderr == (
        "narrows: rate-chnge: no such file, and no scenario has this name; "
        'did you mean "rate-change"?\n'
    )


def test_every_listed_name_is_a_scenario(tmp_path: Path) -> None:
    ran = command("list", "scenarios", "--json", cwd=tmp_path)
    assert '"scenario": "tcpeval/' in ran.stdout and '"scenario": "new-aimd"' in ran.stdout
