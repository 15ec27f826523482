"""The entries of the P4 program's disciplines, with their fixed-point numbers by hand."""

from __future__ import annotations

import pytest

from narrows.controller import aqm
from narrows.controller.aqm import dualpi2
from narrows.controller.matches import Exact
from narrows.controller.objects import CloneSession, Replica
from narrows.controller.stages import REPORT_SESSION
from narrows.controller.state import SwitchState, TableEntry

NAMES = [record["name"] for record in aqm.RECORDS]


def params(name: str, **others: float) -> dict[str, int]:
    """The parameters of a discipline's entry at 10 Mb/s; a name's dashes are underscores."""
    return dict(entry(name, **others).params)


def entry(name: str, **others: float) -> TableEntry:
    record = next(record for record in aqm.RECORDS if record["name"] == name)
    values = {each["name"]: each["default"] for each in record["parameters"]}
    values |= {key.replace("_", "-"): value for key, value in others.items()}
    stages = aqm.stages(name, values, 10_000_000)
    own = name.removeprefix("p4-")
    entries = [stage.entry(2, value) for stage, value in stages.items()]
    return next(one for one in entries if one.table.endswith(f".{own}.{own}"))


def test_red_has_thresholds_slopes_and_halvings() -> None:
    assert params("p4-red") == {
        "red_min_th": 5 * 2**16,
        "red_max_th": 15 * 2**16,
        "red_forced_th": 30 * 2**16,
        "red_max_p": round(0.1 * 2**32),
        "red_slope": round(0.01 * 2**32),
        "red_gentle_slope": round(0.06 * 2**32),  # 0.9 over 15 packets
        "red_weight": 131,  # 0.002
        # 2,500 packets of 500 B a second; 0.998^346.2 is 1/2, so 7.2206 halvings a second.
        "red_idle_halvings": pytest.approx(7.2206e-9 * 2**40, abs=1),
        "red_ecn": 0,
        "red_interval": 0,
        "red_target_low": 9 * 2**16,
        "red_target_high": 11 * 2**16,
        "red_inverse_range": round(2**32 / 10),
        "red_inverse_max_th": round(2**32 / 15),
    }
    assert params("p4-red", adaptive=1)["red_interval"] == 500_000_000
    assert params("p4-red", gentle=0)["red_forced_th"] == 15 * 2**16
    # 1 - exp(-1/2500) = 0.00039992, in 2^-16.
    assert params("p4-red", weight=0)["red_weight"] == 26


def test_pie_has_gains_for_each_tick() -> None:
    found = params("p4-pie", ecn=1)
    assert found["pie_alpha"] == round(0.125 * 2**48 / 1e9)
    assert found["pie_beta"] == round(1.25 * 2**48 / 1e9)
    assert found["pie_idle_decay"] == round(0.02 * 2**48 / 15e6)
    assert found["pie_mark_below"] == round(0.1 * 2**32)
    assert params("p4-pie")["pie_mark_below"] == 0


def test_dualpi2_has_a_ramp_and_weights() -> None:
    found = params("p4-dualpi2")
    assert found["dualpi2_ramp_slope"] * 400_000 == pytest.approx(2**32, rel=1e-4)
    assert found["dualpi2_most_classic"] == 2**30  # 1 / 2^2
    assert found["dualpi2_coupling"] == 2 * 2**16
    assert dualpi2.queues({"classic-share": 0.1}) == [{"weight": 9}, {"weight": 1}]
    assert dualpi2.queues({"classic-share": 1 / 16}) == [{"weight": 15}, {"weight": 1}]
    assert dualpi2.queues({"classic-share": 0}) == [{}, {}]


def test_copies_have_a_session_for_each_port_with_dualpi2() -> None:
    other = TableEntry("t", {"meta.egress_port": Exact(4)}, "a", {})
    reports = CloneSession(REPORT_SESSION, (Replica(9),))
    ports = [at_ingress(port) for port in (2, 3)]
    state = aqm.with_copies(SwitchState((ports[0], other, ports[1]), (reports,)))
    assert state.entries[1] == other
    assert state.clone_sessions[0] == reports
    own = {session.id: session.replicas for session in state.clone_sessions[1:]}
    assert REPORT_SESSION not in own
    chosen = [state.entries[index].params["scalable_copies"] for index in (0, 2)]
    assert [own[each] for each in chosen] == [(Replica(2),), (Replica(3),)]
    assert all(entry.params["scalable_copies"] == 0 for entry in ports), "elsewhere there are none"


def at_ingress(port: int) -> TableEntry:
    (stage,) = dualpi2.at_ingress({"any-ect": 1})
    return stage.entry(port, 1)


@pytest.mark.parametrize("name", NAMES)
def test_longer_ticks_keep_the_rule(name: str) -> None:
    in_ns = entry(name)
    other = TableEntry("t", {}, "a", {"red_min_th": 5000})
    state = aqm.in_longer_ticks(SwitchState((in_ns, other)), 1000)
    in_us, same = state.entries
    assert same == other
    discipline = next(each for each in aqm.DISCIPLINES if each.record["name"] == name)
    for key, value in in_ns.params.items():
        if key in discipline.in_ticks:
            assert in_us.params[key] * 1000 == value, key
        elif key in discipline.per_tick:
            assert in_us.params[key] == value * 1000, key
        else:
            assert in_us.params[key] == value, key


def test_a_duration_has_at_least_one_tick() -> None:
    (found,) = aqm.in_longer_ticks(SwitchState((entry("p4-codel", target=5e5),)), 1000).entries
    assert found.params["codel_target"] == 1


def test_an_unknown_name_is_the_traffic_managers() -> None:
    assert not aqm.is_stage("codel")
    assert aqm.stages("codel", {}, 1) == {}
    assert aqm.queues("dualpi2", {}) == []
