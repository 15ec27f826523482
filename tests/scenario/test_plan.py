"""A scenario's point as the engine's plan: a golden file, and arithmetic done here."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from narrows.testbed.problems import InputError
from narrows.testbed.scenario import draws, sweep
from narrows.testbed.scenario.plan import make_plan
from tests.support.world import ROOT, TWO_FLOWS, write

GOLDEN = ROOT / "tests/golden/plan.json"

SMALL = """
title = "What the golden plan is made of"
seed = 3
duration = "completion"
profile = "ns2"
[bottleneck]
rate = "5Mbps"
delay = "15us"
queue = "1.5bdp"
loss = 0.001
ecn_threshold = 30
telemetry = 100
[access]
rate = "10Mbps"
delay = "10ms"
queue = "100packets"
[[flow]]
variant = "reno"
recovery = "newreno"
sink = "TCPSink/DelAck"
window = "200packets"
min_rto = "1s"
app = { kind = "bulk", bytes = "20000KB" }
[[event]]
at = "30s"
set = { bottleneck = { rate = "2Mbps", loss = 0.0 } }
"""


def planned(tmp_path: Path, text: str, *settings: tuple[str, Any]) -> Any:
    source = write(tmp_path, text)
    return make_plan(sweep.read(source, settings)[0].scenario, str(source))


def test_the_plan_is_the_golden_one(tmp_path: Path) -> None:
    """`NARROWS_BLESS=1` writes it anew; the change is a commit of its own, with the reason."""
    plan = planned(tmp_path, SMALL)
    plan["switches"][0]["program"] = "p4/build/v1model.json"
    text = json.dumps(plan, indent=1) + "\n"
    if os.environ.get("NARROWS_BLESS"):
        GOLDEN.write_text(text)
    assert text == GOLDEN.read_text()


@pytest.mark.parametrize(
    ("app", "expected"),
    [
        (
            'kind = "cve", size = "80B", interval = "50ms", users = 3, messages = 9',
            {"size_bytes": 80, "interval_ps": 50 * 10**9, "users": 3, "messages": 9},
        ),
        (
            'kind = "on-off", rate = "64kbps", size = "210B", on = "0.5s", off = "1.5s", '
            'distribution = "pareto", shape = 1.5, messages = 1',
            {
                "rate_bps": 64_000,
                "size_bytes": 210,
                "on_ps": 5 * 10**11,
                "off_ps": 15 * 10**11,
                "distribution": "pareto",
                "shape": 1.5,
                "messages": 1,
            },
        ),
        (
            'kind = "trace", file = "small.csv"',
            {"writes": [(0, 60), (1_500, 1514), (10**12, 24)]},
        ),
    ],
)
def test_an_application_s_keys_are_in_base_units(
    tmp_path: Path, app: str, expected: dict[str, Any]
) -> None:
    (tmp_path / "small.csv").write_text("seconds,bytes\n7,60\n7.0000000015,1514\n8,24\n")
    plan = planned(tmp_path, SMALL.replace('kind = "bulk", bytes = "20000KB"', app))
    kind = app.split('"')[1]
    assert plan["flows"][0]["flow"]["app"] == {"kind": kind} | expected


def test_ns2s_names_stand_for_what_its_agents_are(tmp_path: Path) -> None:
    flow = """
[[flow]]
variant = "%s"
sink = "TCPSink/Sack1"
window = "20packets"
"""
    base = TWO_FLOWS.split("[[flow]]")[0]
    names = ("Agent/TCP", "TCP/Newreno", "Sack1", "FullTcp", "Agent/TCP/Reno/Asym")
    rfc, old = ("profile", "rfc"), ("profile", "ns2-2004")
    plan = planned(tmp_path, base + "".join(flow % name for name in names), rfc)
    flows = [flow["flow"] for flow in plan["flows"]]
    recoveries = ["tahoe", "newreno", "sack1", "full-reno", "reno"]
    assert [flow["recovery"] for flow in flows] == recoveries
    assert [flow["variant"] for flow in flows] == list(names)
    assert {flow["profile"] for flow in flows} == {"ns2"}
    # FullTcp has segments of 536 bytes, the others of 1,000.
    windows = [20_000, 20_000, 20_000, 10_720, 20_000]
    assert [flow["window_bytes"] for flow in flows] == windows
    reno = planned(tmp_path, base + flow % "Reno", old)["flows"][0]["flow"]
    assert (reno["recovery"], reno["profile"]) == ("reno", "ns2-2004")
    ours = planned(tmp_path, base + flow % "reno", rfc)["flows"][0]["flow"]
    assert (ours["recovery"], ours["profile"]) == ("sack", "rfc")


def test_keep_alives_and_the_user_timeout_are_in_picoseconds(tmp_path: Path) -> None:
    keys = 'keep_alive = { idle = "2s", probes = 3 }\nuser_timeout = "90s"\nmax_burst = 4\n'
    flow = planned(tmp_path, SMALL.replace("[[flow]]\n", f"[[flow]]\n{keys}"))["flows"][0]["flow"]
    # The interval is Linux's, 75 s.
    assert flow["keep_alive"] == {"idle_ps": 2 * 10**12, "interval_ps": 75 * 10**12, "probes": 3}
    assert (flow["user_timeout_ps"], flow["max_burst"]) == (90 * 10**12, 4)


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("variant", "Agent/TCP/Newrino", "unknown variant"),
        ("recovery", "Newrino", "unknown recovery"),
        ("sink", "TCPSink/Delack", 'did you mean "Agent/TCPSink/DelAck"'),
    ],
)
def test_a_name_that_ns2_has_not_is_refused(
    tmp_path: Path, key: str, value: str, says: str
) -> None:
    with pytest.raises(InputError, match=says):
        planned(tmp_path, TWO_FLOWS, (f"flow.{key}", value))


def test_connections_take_the_named_hosts_in_turn(tmp_path: Path) -> None:
    flow = """
[[flow]]
variant = "reno"
count = 5
from = ["h1", "h2"]
to = ["h3", "h6"]
"""
    text = PARKING_LOT.split("[[flow]]")[0]
    flows = planned(tmp_path, text + flow)["flows"]
    pairs = [("h1", "h3"), ("h1", "h6"), ("h2", "h3"), ("h2", "h6"), ("h1", "h3")]
    assert [(flow["from"], flow["to"]) for flow in flows] == pairs
    for hosts, says in (('["h1", "h7"]', "no such host"), ("[]", "at least 1 item")):
        with pytest.raises(InputError, match=says):
            planned(tmp_path, text + flow.replace('["h1", "h2"]', hosts))


def port(plan: dict[str, Any], switch: int, number: int) -> dict[str, Any]:
    found: dict[str, Any] = plan["switches"][switch]["config"]["ports"][number - 1]
    assert found["port"] == number
    return found


def test_a_bdp_is_rate_times_base_rtt(tmp_path: Path) -> None:
    # 2 x (10 ms + 15 us + 10 ms) = 40.03 ms; x 5 Mb/s / 8 = 25,018.75 B; x 1.5 = 37,528.125 B.
    plan = planned(tmp_path, SMALL)
    assert port(plan, 0, 2)["queue"] == {"bytes": 37_528}
    assert port(plan, 0, 1)["queue"] == {"bytes": 37_528}


def test_a_bdp_of_nothing_is_refused(tmp_path: Path) -> None:
    text = SMALL.replace('"15us"', '"0s"').replace('"10ms"', '"0s"')
    with pytest.raises(InputError, match="base RTT is 0 ps"):
        planned(tmp_path, text)


def test_a_window_in_packets_counts_the_profiles_segments(tmp_path: Path) -> None:
    # ns-2's packetSize_ is 1000; an Ethernet MSS is 1460, of which timestamps take 12.
    sizes = {"ns2": 1000, "rfc": 1448}
    for profile, segment in sizes.items():
        flow = planned(tmp_path, SMALL, ("profile", profile))["flows"][0]["flow"]
        assert flow["window_bytes"] == 200 * segment
    plan = planned(tmp_path, SMALL, ("flow.timestamps", False), ("profile", "rfc"))
    assert plan["flows"][0]["flow"]["window_bytes"] == 200 * 1460
    plan = planned(tmp_path, SMALL, ("flow.segment", "500B"))
    assert plan["flows"][0]["flow"]["window_bytes"] == 200 * 500


def test_starts_are_spread_evenly_and_follow_from_the_seed(tmp_path: Path) -> None:
    start = {"at": "1s", "every": "2s", "spread": "0.5s"}
    settings = [("flow.start", start), ("flow.count", 200)]
    plan = planned(tmp_path, SMALL, *settings)
    late = [
        flow["flow"]["start_ps"] - (10**12 + index * 2 * 10**12)
        for index, flow in enumerate(plan["flows"])
    ]
    assert all(0 <= ps < 5 * 10**11 for ps in late)
    # The mean of 200 uniform draws from 0.5 s is 0.25 s, standard deviation 0.5/sqrt(12 x 200).
    assert abs(sum(late) / 200 - 2.5e11) < 4 * 5e11 / (12 * 200) ** 0.5
    assert plan == planned(tmp_path, SMALL, *settings)
    assert plan != planned(tmp_path, SMALL, *settings, ("seed", 4))


def test_poisson_arrivals_have_exponential_gaps(tmp_path: Path) -> None:
    settings = [("flow.count", 4000), ("flow.start", {"at": "1s", "poisson": "10ms"})]
    starts = [flow["flow"]["start_ps"] for flow in planned(tmp_path, TWO_FLOWS, *settings)["flows"]]
    gaps_ms = [(b - a) / 10**9 for a, b in zip([10**12, *starts], starts, strict=False)]
    # 4,000 gaps: the mean within 5 standard deviations of 10/63 ms; e^-2 of them above 20 ms.
    assert 9.2 < sum(gaps_ms) / 4000 < 10.8
    assert 0.11 < sum(gap > 20 for gap in gaps_ms) / 4000 < 0.16
    assert min(gaps_ms) >= 0
    again = [flow["flow"]["start_ps"] for flow in planned(tmp_path, TWO_FLOWS, *settings)["flows"]]
    assert starts == again


def test_each_flow_has_its_own_hosts_unless_they_are_shared(tmp_path: Path) -> None:
    plan = planned(tmp_path, TWO_FLOWS)
    assert len(plan["hosts"]) == 4
    plan = planned(tmp_path, TWO_FLOWS, ("dumbbell.hosts", "shared"))
    assert [host["config"]["name"] for host in plan["hosts"]] == ["sender1", "receiver1"]
    ports = {
        (flow["flow"]["source"]["port"], flow["flow"]["destination"]["port"])
        for flow in plan["flows"]
    }
    assert len(ports) == 2


def test_flows_take_a_given_number_of_receivers_in_turn(tmp_path: Path) -> None:
    plan = planned(tmp_path, TWO_FLOWS, ("flow.count", 5), ("dumbbell.receivers", 2))
    assert [flow["to"] for flow in plan["flows"]] == ["receiver1", "receiver2"] * 2 + ["receiver1"]
    assert len({flow["from"] for flow in plan["flows"]}) == 5
    assert len(plan["hosts"]) == 7


def test_addresses_and_ports_are_unique(tmp_path: Path) -> None:
    plan = planned(tmp_path, TWO_FLOWS, ("flow.count", 600))
    hosts = [host["config"] for host in plan["hosts"]]
    assert len({host["mac"] for host in hosts}) == len(hosts) == 1200
    assert len({host["ip"] for host in hosts}) == 1200
    routed = [e for e in plan["switches"][0]["entries"] if e["table"].endswith("ipv4_lpm")]
    assert len(routed) == 1200


def test_an_event_sets_the_rate_both_ways_and_the_loss_one_way(tmp_path: Path) -> None:
    text = TWO_FLOWS + "".join(
        f'[[event]]\nat = "{at}"\nset = {{ bottleneck = {{ {what} }} }}\n'
        for at, what in (
            ("3s", "loss = 0.5"),
            ("1s", 'rate = "1Mbps", queue = "2bdp"'),
            ("2s", "loss = 0.25"),
            ("4s", "loss = 0.0"),
        )
    )
    events = planned(tmp_path, text)["events"]
    # Base RTT 2 x (1 + 5 + 1) ms = 14 ms; x 1 Mb/s / 8 = 1,750 B; x 2.
    assert events[:4] == [
        {"at_ps": 10**12, "switch": "s1", "port": number} | change
        for number in (2, 1)
        for change in ({"rate_bps": 1_000_000}, {"queue": {"bytes": 3_500}})
    ]
    written = [(e["op"], e["entry"]["params"].get("loss")) for e in events[4:]]
    quarter, half = hex(2**30), hex(2**31)
    assert written == [("insert", quarter), ("modify", half), ("delete", half)]


PARKING_LOT = (ROOT / "scenarios/parking-lot.toml").read_text()


def test_a_topology_of_its_own_is_routed_along_its_links(tmp_path: Path) -> None:
    plan = planned(tmp_path, PARKING_LOT)
    assert [cable["b"] for cable in plan["cables"][:2]] == [
        {"switch": "s2", "port": 1},
        {"switch": "s3", "port": 1},
    ]
    assert plan["bottleneck"] == {"switch": "s2", "port": 2}
    ips = {host["config"]["name"]: host["config"]["ip"] for host in plan["hosts"]}

    def route(switch: int, host: str) -> int:
        address = sum(
            int(b) << s for b, s in zip(ips[host].split("."), (24, 16, 8, 0), strict=True)
        )
        for entry in plan["switches"][switch]["entries"]:
            if entry["matches"].get("hdr.ipv4.dst_addr") == {"lpm": [hex(address), 32]}:
                return int(entry["params"]["port"], 16)
        raise AssertionError(f"{host} has no route at s{switch + 1}")

    # s1: 1 to s2, 2 hosts. s2: 1 to s1, 2 to s3, 3 hosts. s3: 1 to s2, 2 hosts.
    assert [route(0, host) for host in ("h1", "h3", "h4")] == [2, 1, 1]
    assert [route(1, host) for host in ("h1", "h3", "h4")] == [1, 2, 3]
    assert [route(2, host) for host in ("h1", "h3", "h4")] == [1, 2, 1]


def test_a_bdp_in_a_custom_topology_uses_the_longest_path(tmp_path: Path) -> None:
    # s1->s2 carries h1->h3 (0.5 + 5 + 10 + 0.5 = 16 ms one way) and h2->h4 (6 ms).
    plan = planned(tmp_path, PARKING_LOT.replace('"50packets"', '"1bdp"'))
    assert port(plan, 0, 1)["queue"] == {"bytes": 10_000_000 * 32 // 8000}
    # s2->s3 carries h5->h6 (0.5 + 10 + 2 = 12.5 ms) too; the longest is still h1->h3.
    assert port(plan, 1, 2)["queue"] == {"bytes": 8_000_000 * 32 // 8000}


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('from = "h1"\nto = "h3"', 'from = "h1"\nto = "h1"', "is the sender itself"),
        ('to = "h3"', 'to = "h9"', "no such host"),
        ('from = "h1"\n', "", "flow.0.from: is missing"),
        ('from = "s2"\nto = "s3"', 'from = "s2"\nto = "s9"', "no such switch"),
        ('from = "s2"\nto = "s3"', 'from = "s2"\nto = "s1"', "s2->s1 already exists"),
        ('from = "s2"\nto = "s3"', 'from = "s2"\nto = "s2"', "connects s2 to itself"),
        ('name = "s2"', 'name = "s1"', "already exists"),
        ('name = "h2"', 'name = "h1"', "already exists"),
        ('name = "h3"\nswitch = "s3"', 'name = "h3"\nswitch = "s4"', "no such switch"),
        ('name = "s3"\n', 'name = "s3"\n[[switch]]\nname = "s4"\n', ""),
        ('name = "h3"\nswitch = "s3"', 'name = "h3"\nswitch = "s4"\n[[switch]]\nname = "s4"',
         "no links lead from h1 to h3"),
    ],
)  # fmt: skip
def test_a_topology_that_does_not_fit_together_is_refused(
    tmp_path: Path, old: str, new: str, says: str
) -> None:
    assert old in PARKING_LOT
    text = PARKING_LOT.replace(old, new, 1)
    if not says:
        planned(tmp_path, text)
        return
    with pytest.raises(InputError) as refused:
        planned(tmp_path, text)
    assert says in str(refused.value)


def test_a_draw_is_uniform_below_its_bound() -> None:
    assert draws.draw(1, "x", 0) == 0
    drawn = [draws.draw(seed, "x", 10) for seed in range(5000)]
    counts = [drawn.count(value) for value in range(10)]
    assert sum(counts) == 5000
    # 500 each; 4 standard deviations of a binomial are 4 x sqrt(5000 x 0.1 x 0.9) = 85.
    assert all(abs(count - 500) < 85 for count in counts)
