"""A run with its switches set up over P4Runtime and gNMI equals the run set up in process."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from finsy import p4client
from finsy.proto import p4r

from narrows.controller.errors import ControllerError
from narrows.schema.plan import Plan
from narrows.testbed import engine
from narrows.testbed.scenario import sweep
from narrows.testbed.scenario.plan import make_plan
from narrows.testbed.targets import direct_setup
from narrows.testbed.targets.switch_setup import set_up
from tests.support.world import ROOT, TWO_FLOWS, write

BUSY = (
    TWO_FLOWS.replace('duration = "5s"', 'duration = "2s"').replace(
        'queue = "20packets"',
        'queue = "30ms"\nloss = 0.001\nduplicate = 0.002\necn_threshold = 5',
    )
    + """
[[event]]
at = "1s"
set = { bottleneck = { rate = "2Mbps", loss = 0.01 } }
"""
)


def planned(directory: Path, text: str, name: str = "scenario") -> Plan:
    source = write(directory, text, name)
    return make_plan(sweep.read(source, [])[0].scenario, str(source))


def run(plan: Plan, out: Path, switches: dict[str, Any] | None) -> dict[str, bytes]:
    out.mkdir()
    engine.run(json.dumps(plan), str(out), None, switches)
    return {path.name: path.read_bytes() for path in out.iterdir()}


def without_state(plan: Plan) -> Plan:
    """The plan without the controller's state, which then must come with the switches."""
    bare: Plan = json.loads(json.dumps(plan))
    for switch in bare["switches"]:
        switch["entries"], switch["clone_sessions"], switch["registers"] = [], [], []
        switch["multicast_groups"] = []
    return bare


@pytest.mark.parametrize("scenario", ["busy", "parking-lot"])
def test_a_run_is_the_same_byte_for_byte(tmp_path: Path, scenario: str) -> None:
    if scenario == "busy":
        plan = planned(tmp_path, BUSY)
    else:
        source = ROOT / "scenarios/parking-lot.toml"
        point = sweep.read(source, [("duration", "1s")])[0]
        plan = make_plan(point.scenario, str(source))
    switches = set_up(plan)
    assert list(switches) == [switch["name"] for switch in plan["switches"]]
    state = switches["s1"].port_state(2)
    wanted = next(port for port in plan["switches"][0]["config"]["ports"] if port["port"] == 2)
    assert (state["rate_bps"], state["queue"]) == (wanted["rate_bps"], wanted["queue"])
    bare = without_state(plan)
    by_controller = run(bare, tmp_path / "controller", switches)
    assert by_controller == run(plan, tmp_path / "plan", None)
    assert by_controller == run(bare, tmp_path / "direct", direct_setup.set_up(plan))


@pytest.mark.parametrize(
    "discipline", ["red", "pie", "cobalt", '{ name = "codel", target = "9ms" }']
)
def test_random_disciplines_draw_the_same(tmp_path: Path, discipline: str) -> None:
    """A discipline that a switch is given later draws from another stream than its first one."""
    written = discipline if discipline.startswith("{") else f'"{discipline}"'
    plan = planned(tmp_path, BUSY.replace("loss = 0.001", f"discipline = {written}", 1))
    bare = without_state(plan)
    by_controller = run(bare, tmp_path / "controller", set_up(plan))
    assert by_controller == run(bare, tmp_path / "direct", direct_setup.set_up(plan))


def test_a_program_without_p4info_is_left_to_the_engine(tmp_path: Path) -> None:
    plan = planned(tmp_path, TWO_FLOWS)
    program = tmp_path / "own.json"
    shutil.copy(plan["switches"][0]["program"], program)
    plan["switches"][0]["program"] = str(program)
    assert set_up(plan) == direct_setup.set_up(plan) == {}


@pytest.mark.parametrize("set_up", [set_up, direct_setup.set_up], ids=["controller", "direct"])
def test_what_is_refused_names_the_switch(
    tmp_path: Path, set_up: Callable[[Plan], dict[str, Any]]
) -> None:
    plan = planned(tmp_path, TWO_FLOWS)
    plan["switches"][0]["entries"][0]["table"] = "nowhere"
    with pytest.raises(ControllerError, match=r"^switch 's1': .*'nowhere'"):
        set_up(plan)


def test_a_switch_that_was_late_is_set_up_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """finsy's time-out is too short for the first two pipelines, then long enough."""
    plan, waits = planned(tmp_path, TWO_FLOWS), iter([1e-3, 1e-3])
    request = p4client.P4Client.request

    async def impatient(client: p4client.P4Client, message: Any) -> Any:
        pushes = isinstance(message, p4r.SetForwardingPipelineConfigRequest)
        monkeypatch.setattr(p4client, "_DEFAULT_RPC_TIMEOUT", next(waits, 10.0) if pushes else 10.0)
        return await request(client, message)

    monkeypatch.setattr(p4client.P4Client, "request", impatient)
    assert set(set_up(plan)) == {"s1"}
    waits = iter([1e-3] * 3)
    with pytest.raises(ControllerError, match=r"^switch 's1': DEADLINE_EXCEEDED"):
        set_up(plan)


def test_a_switch_that_is_not_in_the_plan(tmp_path: Path) -> None:
    plan = planned(tmp_path, TWO_FLOWS)
    switches = set_up(plan)
    (tmp_path / "out").mkdir()
    with pytest.raises(engine.PlanError, match="no switch 's7'"):
        engine.run(json.dumps(plan), str(tmp_path / "out"), None, {"s7": switches["s1"]})
    # The run used it.
    with pytest.raises(engine.PlanError, match="it has no program"):
        engine.run(json.dumps(plan), str(tmp_path / "out"), None, {"s1": switches["s1"]})


@pytest.mark.parametrize("text", [None, "{", '{"header_types": 7}'])
def test_a_broken_program_is_left_to_the_run_with_it(
    text: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "v1model.json"
    if text is not None:
        program.write_text(text)
    monkeypatch.setattr(direct_setup, "PROGRAM", program)
    direct_setup.load_ahead()
    plan = planned(tmp_path, BUSY)
    assert set(direct_setup.set_up(plan)) == {switch["name"] for switch in plan["switches"]}
