"""The scenario file: its errors, sweeps and `--set`."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from narrows.testbed.problems import InputError
from narrows.testbed.scenario import sweep
from narrows.testbed.scenario.schema import Scenario
from tests.support.world import ROOT, TWO_FLOWS, called, write

WRONG = [
    ("bottleneck.rate", "5", 'bottleneck.rate = "5": has no unit; expected a rate'),
    ("bottleneck.rate", 5, "bottleneck.rate = 5: has no unit"),
    ("bottleneck.rate", "-5Mbps", 'bottleneck.rate = "-5Mbps": is negative'),
    ("bottleneck.rte", "5Mbps", 'bottleneck.rte: is an unknown key; did you mean "rate"?'),
    ("bottleneck.loss", -0.1, "bottleneck.loss = -0.1: should be greater than or equal to 0"),
    ("bottleneck.loss", 1.0, "bottleneck.loss = 1.0: should be less than 1"),
    ("bottleneck.queue", "0packets", "bottleneck.queue"),
    ("bottleneck.queue", "100", "has no unit; expected a queue limit"),
    ("bottleneck.counts", "cells", "should be 'ip', 'frame' or 'wire'"),
    ("access.queue", "20KB", "a host's queue is limited in packets"),
    ("flow.variant", "new-amid", 'is an unknown variant; did you mean "new-aimd"?'),
    ("flow.recovery", "sac", 'did you mean "sack"?'),
    ("flow.profile", "ns3", 'did you mean "ns2"?'),
    ("flow.count", "2", 'flow.0.count = "2": should be a valid integer'),
    ("flow.count", -1, "flow.0.count = -1: should be greater than or equal to 0"),
    ("flow.count", 0, "there are no flows"),
    ("flow.params", {"gamma": 1}, "unknown parameter of reno"),
    ("flow.app", {"kind": "bulk", "byte": "1KB"}, 'did you mean "bytes"?'),
    ("flow.app", {"kind": "bulk", "bytes": 1000}, "flow.0.app.bytes = 1000: has no unit"),
    ("flow.app", {"kind": "tenlet"}, "is an unknown workload"),
    ("flow.app", {"kind": "cbr", "rate": "64", "size": "80B"}, "rate = '64': has no unit"),
    ("flow.app", {"kind": "cbr", "rate": "64kbps"}, '"size" is missing; cbr needs it'),
    ("flow.app", {"kind": "cve", "intervall": "1s"}, 'did you mean "interval"?'),
    ("flow.app", {"kind": "telnet", "size": "80B", "interval": "1s", "messages": 0}, "not a whole"),
    ("flow.app", {"kind": "trace", "file": "absent.csv"}, 'flow.app.file = "absent.csv": cannot'),
    ("flow.start", {"at": "1s", "spred": "1s"}, 'start.spred: is an unknown key; did you mean'),
    ("flow.start", "soon", "flow.0.start.at"),
    ("flow.from", "h1", "a dumbbell places its own"),
    ("duration", "60", "has no unit; expected a time"),
    ("duration", "0s", 'duration = "0s": expected a duration above zero'),
    ("duration", "completion", "no flow ever finishes"),
    ("titel", "x", 'titel: is an unknown key; did you mean "title"?'),
    ("seed", -1, "seed = -1"),
    ("seed", 1.5, "seed = 1.5"),
    ("profile", "bsd", "is an unknown profile; expected one of"),
    ("switch", [{"name": "s1"}], "has both [bottleneck]"),
    ("event", [{"at": "1s", "set": {"bottleneck": {"rat": "1Mbps"}}}], 'did you mean "rate"?'),
    ("event", [{"at": "1s", "set": {"link": {"s1->s2": {"rate": "1Mbps"}}}}], "is an unknown link"),
    ("report.figures", ["cwnds"], 'is an unknown figure; did you mean "cwnd"?'),
    ("telemetry.collector", "here", "expected an IPv4 address and a UDP port"),
    ("record.flows", "always", "'ack' or 'off'"),
    ("program", "absent.json", "cannot be read"),
]  # fmt: skip


@pytest.mark.parametrize(("key", "value", "says"), WRONG, ids=[f"{k}={v}" for k, v, _ in WRONG])
def test_a_wrong_value_names_file_key_and_what_was_expected(
    tmp_path: Path, key: str, value: object, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    from narrows.testbed.cli import main as cli

    tree = tomllib.loads(TWO_FLOWS)
    sweep.override("test", tree, key, value)
    source = tmp_path / "wrong.toml"
    source.write_text(as_toml(tree))
    assert cli.main(["run", str(source), "--out", str(tmp_path / "out")]) == 2
    printed = capsys.readouterr().err
    assert str(source) in printed
    assert says in printed
    assert not (tmp_path / "out").exists()


def as_toml(tree: dict[str, object]) -> str:
    """A tree as TOML: every value is inline, which is almost JSON's notation."""

    def inline(value: object) -> str:
        if isinstance(value, dict):
            return "{" + ", ".join(f"{json.dumps(k)} = {inline(v)}" for k, v in value.items()) + "}"
        if isinstance(value, list):
            return "[" + ", ".join(map(inline, value)) + "]"
        return json.dumps(value)

    return "\n".join(f"{key} = {inline(value)}" for key, value in tree.items())


def test_every_mistake_is_reported_at_once(tmp_path: Path) -> None:
    text = TWO_FLOWS.replace('"5Mbps"', '"5"').replace('"5ms"', '"5"').replace("count", "cuont")
    with pytest.raises(InputError) as refused:
        sweep.read(write(tmp_path, text))
    assert len(refused.value.problems) == 3


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["run", "absent.toml"], "no such file"),
        (["run", "broken.toml"], "is not valid TOML"),
        (["run", "good.toml", "--set", "bottleneck.rate"], "expected key=value"),
        (["run", "good.toml", "--set", "bottleneck.rate.of=1"], "bottleneck.rate"),
        (["run", "good.toml", "--set", "flow.3.count=1"], "flow has 1 tables"),
        (["run", "good.toml", "--jobs", "0"], "expected at least 1"),
        (["run", "good.toml", "--target", "tofino"], "needs --lab FILE"),
        (["run", "good.toml", "--lab", "lab.toml"], "expected --target tofino"),
        (["run", "good.toml", "--scheduler", "near"], "near: expected tcp://HOST:PORT"),
        (["run", "good.toml", "--out", "broken.toml"], "broken.toml/good: cannot create"),
        (["run", "good.toml", "--set", "sweep={}"], "sweep: is a table"),
        (["run", "good.toml", "--set", 'program="truncated.json"'], "truncated.json"),
        (["run", "good.toml", "--set", 'program="foreign.json"'], "foreign.json"),
        (["run", "good.toml", "--set", 'program="other.json"'], "NarrowsIngress"),
        (["report", "."], "no finished run"),
        (["list", "colours"], "invalid choice"),
        ([], "required"),
    ],
)
def test_wrong_input_ends_with_exit_code_2(tmp_path: Path, arguments: list[str], says: str) -> None:
    program = (ROOT / "p4/build/v1model.json").read_text()
    write(tmp_path, TWO_FLOWS, "good")
    write(tmp_path, "title = \n", "broken")
    (tmp_path / "truncated.json").write_text(program[: len(program) // 2])
    (tmp_path / "foreign.json").write_text('{"name": "a package file", "version": 1}')
    (tmp_path / "other.json").write_text(program.replace("identify_flow", "find_flow"))
    ran = called(*arguments, cwd=tmp_path)
    assert (ran.returncode, says in ran.stderr) == (2, True), ran.stderr
    assert "Traceback" not in ran.stderr
    assert not list(tmp_path.glob("results/*/*/run.json"))


def test_a_sweep_is_every_combination_in_the_files_order(tmp_path: Path) -> None:
    text = (
        TWO_FLOWS
        + '[sweep]\n"flow.count" = [1, 2]\n"flow.variant" = ["reno", "cubic"]\nrepeat = 2\n'
    )
    read = sweep.read(write(tmp_path, text))
    assert [point.name for point in read] == [
        f"count={count},variant={variant},seed={seed}"
        for count in (1, 2)
        for variant in ("reno", "cubic")
        for seed in (1, 2)
    ]
    assert read[-1].scenario.flow[0].count == 2
    assert read[-1].scenario.seed == 2
    assert read[-1].values == {"flow.count": 2, "flow.variant": "cubic", "seed": 2}


def test_a_setting_replaces_a_swept_value_and_names_the_point(
    tmp_path: Path,
) -> None:
    source = write(tmp_path, TWO_FLOWS + '[sweep]\n"flow.count" = [1, 2, 3]\n')
    read = sweep.read(source, [("flow.count", 2), ("seed", 7)])
    assert [point.name for point in read] == ["count=2,seed=7"]
    read = sweep.read(source, [sweep.parse_setting("bottleneck.rate=10Mbps")])
    assert read[0].scenario.bottleneck is not None
    assert read[0].scenario.bottleneck.rate == 10_000_000
    assert read[0].name == "count=1,rate=10Mbps,seed=1"


@pytest.mark.parametrize(
    ("text", "value"),
    [("a=1", 1), ("a=1.5", 1.5), ("a=true", True), ('a="x"', "x"), ("a=5Mbps", "5Mbps"),
     ("a=[1, 2]", [1, 2]), ("a={ b = 1 }", {"b": 1}), ("a=", "")],
)  # fmt: skip
def test_a_settings_value_is_toml_or_text(text: str, value: object) -> None:
    assert sweep.parse_setting(text) == ("a", value)


@pytest.mark.parametrize(
    ("paths", "short"),
    [
        (["flow.count", "flow.variant"], ["count", "variant"]),
        (["flow.0.count", "flow.1.count"], ["0.count", "1.count"]),
        (["bottleneck.rate", "access.rate"], ["bottleneck.rate", "access.rate"]),
    ],
)
def test_a_points_name_has_the_shortest_distinct_keys(paths: list[str], short: list[str]) -> None:
    assert [sweep.short(path, paths) for path in paths] == short


def test_a_name_is_safe_for_a_file_system() -> None:
    assert sweep.name("New AIMD/2") != sweep.name("New AIMD 2")
    for value in ("a/b", "../x", "x" * 300, {"kind": "bulk"}, "", "a,b=c"):
        name = sweep.name(value)
        assert 0 < len(name) <= 40
        assert not set(name) & set("/,= ")
        assert not name.startswith(".")


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ('"flow.count" = 3', "expected a list"),
        ('"flow.count" = []', "expected a list"),
        ("repeat = 0", "repeat = 0"),
        ('"flow.count" = [1, 1]', "twice"),
        ('"seed" = [1, 2]', "repeat"),
        ('"flow.cuont" = [1, 2]', 'did you mean "count"'),
        ('repeat = 10000\n"flow.count" = [1,2,3,4,5,6,7,8,9,10,11]', "110000 runs"),
    ],
)
def test_a_wrong_sweep_is_refused(tmp_path: Path, table: str, says: str) -> None:
    with pytest.raises(InputError) as refused:
        sweep.read(write(tmp_path, f"{TWO_FLOWS}[sweep]\n{table}\n"))
    assert says in str(refused.value)


CHOICE = """
[choice.tcp]
tahoe = { "flow.recovery" = "tahoe", "flow.sack" = false }
sack = { "flow.recovery" = "sack" }
[sweep]
"choice.tcp" = ["tahoe", "sack"]
"flow.count" = [1, 2]
"""


def test_a_choice_stands_for_its_settings(tmp_path: Path) -> None:
    read = sweep.read(write(tmp_path, TWO_FLOWS + CHOICE))
    found = [(p.name, p.scenario.flow[0].recovery, p.scenario.flow[0].sack) for p in read]
    assert found == [
        ("tcp=tahoe,count=1,seed=1", "tahoe", False),
        ("tcp=tahoe,count=2,seed=1", "tahoe", False),
        ("tcp=sack,count=1,seed=1", "sack", None),
        ("tcp=sack,count=2,seed=1", "sack", None),
    ]


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("choice.tcp", "taho", 'value of choice.tcp; did you mean "tahoe"?'),
        ("choice.tpc", "tahoe", 'is an unknown choice; did you mean "tcp"?'),
        ("sweep.flow.cuont", [1], 'did you mean "count"'),
    ],
)
def test_a_wrong_choice_is_refused(tmp_path: Path, key: str, value: object, says: str) -> None:
    with pytest.raises(InputError) as refused:
        sweep.read(write(tmp_path, TWO_FLOWS + CHOICE), [(key, value)])
    assert says in str(refused.value)


def test_a_setting_narrows_a_sweep_and_keeps_the_points_names(tmp_path: Path) -> None:
    path = write(tmp_path, TWO_FLOWS + CHOICE)
    narrowed = sweep.read(path, [("sweep.flow.count", [2]), ("sweep.repeat", 2)])
    names = [f"tcp={tcp},count=2,seed={seed}" for tcp in ("tahoe", "sack") for seed in (1, 2)]
    assert [point.name for point in narrowed] == names


@pytest.mark.parametrize(
    "path", sorted(ROOT.glob("scenarios/**/*.toml")), ids=lambda path: path.stem
)
def test_a_scenario_as_resolved_is_the_same_scenario(path: Path) -> None:
    for point in sweep.read(path):
        resolved = json.loads(json.dumps(point.scenario.resolved()))
        assert Scenario.model_validate(resolved) == point.scenario


@pytest.mark.parametrize(
    ("key", "value"),
    [("record.capture", True), ("telemetry.every", 0), ("report.figures", ["cwnd"])],
)
def test_what_is_recorded_does_not_name_a_point(key: str, value: object, tmp_path: Path) -> None:
    path = tmp_path / "scenario.toml"
    path.write_text(TWO_FLOWS)
    (point,) = sweep.read(path, [(key, value)])
    assert (point.name, point.values) == ("seed=1", {})
