"""Flows of a dumbbell with different delays, directions and recoveries of their profiles."""

from __future__ import annotations

from pathlib import Path

import pytest

from narrows.testbed.problems import InputError
from narrows.testbed.scenario import sweep
from narrows.testbed.scenario.plan import lay_out, make_plan
from tests.support.world import TWO_FLOWS, run, write

FAR = TWO_FLOWS + '[[flow]]\nvariant = "reno"\ndelay = "20ms"\n'
BACK = TWO_FLOWS + '[[flow]]\nvariant = "reno"\nreverse = true\n'


def test_extra_delay_is_in_both_directions_of_the_base_rtt(tmp_path: Path) -> None:
    scenario = sweep.read(write(tmp_path, FAR))[0].scenario
    layout = lay_out(scenario)
    assert layout.base_rtt_ps(layout.bottleneck) == (14 + 2 * 20) * 10**9
    delays = [host["config"]["access"]["delay_ps"] for host in make_plan(scenario, "x")["hosts"]]
    assert sorted(delays) == [10**9] * 5 + [21 * 10**9]


def test_a_far_flow_measures_its_delay(tmp_path: Path) -> None:
    finished = run(tmp_path, FAR, duration="2s", bottleneck__queue="1packets")
    near, _, far = (flow["rtt_ms"]["min"] for flow in finished.summary["flows"])
    # Besides propagation: a transmission of 2.4 ms, and at most one waiting packet.
    assert 14 < near < 20
    assert 54 < far < 60


def test_a_reverse_flow_does_not_pass_the_bottlenecks_queue(tmp_path: Path) -> None:
    finished = run(tmp_path, BACK, duration="2s", record__queue="both")
    data = finished.table("queue").filter(finished.table("queue")["length_bytes"] > 1000)
    by_port = {
        port: set(data.filter(data["port"] == port)["flow"].to_list())
        for port in data["port"].unique().to_list()
    }
    assert by_port == {1: {3}, 2: {1, 2}}
    # The link is full duplex: both directions together carry more than its 5 Mb/s.
    assert sum(flow["goodput_bps"] for flow in finished.summary["flows"]) > 6e6


@pytest.mark.parametrize(
    ("text", "hosts", "key"),
    [
        (FAR, 'hosts = "shared"', "flow.1.delay"),
        (BACK, 'hosts = "shared"', "flow.1.reverse"),
        (BACK, "receivers = 2", "flow.1.reverse"),
    ],
)
def test_shared_hosts_have_one_path(tmp_path: Path, text: str, hosts: str, key: str) -> None:
    source = write(tmp_path, f"{text}[dumbbell]\n{hosts}\n")
    with pytest.raises(InputError, match=f"{key}: needs hosts of its own"):
        make_plan(sweep.read(source)[0].scenario, str(source))


@pytest.mark.parametrize(
    ("profile", "key", "recovery"),
    [
        ("linux", "", "linux"),
        ("rfc", "", "sack"),
        ("linux-2.6.18", "", "sack"),
        ("linux", 'recovery = "sack"', "sack"),
    ],
)
def test_a_profile_brings_its_recovery(
    tmp_path: Path, profile: str, key: str, recovery: str
) -> None:
    text = TWO_FLOWS.replace('profile = "linux"', f'profile = "{profile}"')
    source = write(tmp_path, f"{text}{key}\n")
    planned = make_plan(sweep.read(source)[0].scenario, str(source))
    assert planned["flows"][0]["flow"]["recovery"] == recovery
