"""The controller's state for a switch, against the P4Info and against routes drawn by hand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import IPv4Address

import pytest

from narrows.controller import aqm
from narrows.controller import topology as net
from narrows.controller.matches import Lpm, Match, Range
from narrows.controller.objects import RegisterCell
from narrows.controller.routes import Paths, routes
from narrows.controller.stages import DUPLICATE, LOSS, PortStage
from narrows.controller.state import SwitchState, TableEntry
from narrows.controller.switch import FLOW_ENTRIES, flow_ids, switch_state
from tests.support.controller_state import everything_on
from tests.support.world import ROOT

P4INFO = ROOT / "p4/build/v1model.p4info.txtpb"


def blocks(text: str, name: str) -> Iterator[str]:
    """The contents of a message's fields of this name, with matched braces."""
    for found in re.finditer(rf"^(\s*){name} \{{\n(.*?)^\1\}}", text, re.M | re.S):
        yield found[2]


def first(text: str, key: str) -> str:
    found = re.search(rf'^\s*{key}: "?([^"\n]*)"?$', text, re.M)
    assert found, key
    return found[1]


def widths(text: str, field: str) -> dict[str, int]:
    return {first(b, "name"): int(first(b, "bitwidth")) for b in blocks(text, field)}


def value_of(match: Match) -> int:
    assert not isinstance(match, Range)
    return match.value


def test_every_entry_is_in_the_words_of_the_p4info() -> None:
    text = P4INFO.read_text()
    tables = {first(block, "name"): block for block in blocks(text, "tables")}
    actions = {first(block, "name"): block for block in blocks(text, "actions")}
    disciplines: dict[PortStage, float] = {DUPLICATE: 0.1}
    for record in aqm.RECORDS:
        values = {each["name"]: each["default"] for each in record["parameters"]}
        disciplines |= aqm.stages(record["name"], values, 10**7)
    entries = everything_on(disciplines).entries
    entries += everything_on(ip_version=6).entries
    assert {entry.table for entry in entries} == {
        name for name, block in tables.items() if "is_const_table: true" not in block
    }
    for entry in entries:
        fields = widths(tables[entry.table], "match_fields")
        params = widths(actions[entry.action], "params")
        assert set(entry.matches) == set(fields)
        assert set(entry.params) == set(params)
        assert first(actions[entry.action], "id") in re.findall(r"id: (\d+)", tables[entry.table])
        for name, value in entry.params.items():
            assert value < 1 << params[name], f"{entry.action}.{name}"
        for name, match in entry.matches.items():
            assert value_of(match) < 1 << fields[name], f"{entry.table}.{name}"
        ternary = "match_type: TERNARY" in tables[entry.table]
        assert (entry.priority > 0) == ternary
    assert f"size: {FLOW_ENTRIES}" in tables["NarrowsIngress.identify_flow.flow"]


def test_a_state_is_compared_as_a_set_of_lines() -> None:
    lines = everything_on().lines()
    assert (
        "NarrowsIngress.forward.ipv4_lpm hdr.ipv4.dst_addr=0xa000002/32 -> "
        "NarrowsIngress.forward.route(port=0x2, src_mac=0x2ff00010002, dst_mac=0x2)"
    ) in lines
    assert "clone session 1 -> 3" in lines
    assert lines == everything_on().lines()
    changed = SwitchState(everything_on().entries[1:], everything_on().clone_sessions)
    assert len(lines - changed.lines()) == 1
    assert SwitchState(registers=(RegisterCell("r", 1, 2),)).lines() == {"r[1] = 0x2"}


def test_an_entry_as_json() -> None:
    entry = TableEntry("t", {"k": Lpm(0x0A000001, 32)}, "a", {"p": 2})
    assert entry.as_json() == {
        "table": "t",
        "matches": {"k": {"lpm": ["0xa000001", 32]}},
        "priority": 0,
        "action": "a",
        "params": {"p": "0x2"},
    }


@pytest.mark.parametrize(
    ("probability", "threshold"),
    [(0.5, 2**31), (1e-7, 429), (1e-12, 1), (1 - 1e-12, 2**32 - 1)],
)
def test_a_loss_is_a_threshold_of_32_bits(probability: float, threshold: int) -> None:
    assert LOSS.entry(2, probability).params == {"loss": threshold}


def test_a_port_that_duplicates_has_a_group_of_two() -> None:
    assert everything_on().multicast_groups == ()
    [group] = everything_on({DUPLICATE: 1e-3}).multicast_groups
    assert str(group) == "multicast group 3 -> 2,2/1"


def test_flows_beyond_the_table_are_left_to_the_hash() -> None:
    hosts = [net.Host(n, 1, IPv4Address(1), net.End("s1", 1)) for n in "ab"]
    flows = tuple(net.Flow(n, hosts[0], hosts[1], n, 1) for n in range(1, FLOW_ENTRIES))
    assert len(list(flow_ids(flows))) == FLOW_ENTRIES


def square() -> net.Topology:
    """s1 - s2 - s3 - s4 - s1, and s5 apart; s1-s2 is slow."""
    names = ["s1", "s2", "s3", "s4", "s5"]
    switches = tuple(
        net.Switch(name, i, (net.Port(1, 16 * i + 1), net.Port(2, 16 * i + 2), net.Port(3, 0)))
        for i, name in enumerate(names)
    )
    cables = tuple(
        net.Cable(net.End(a, 2), net.End(b, 1), delay)
        for a, b, delay in (("s1", "s2", 9), ("s2", "s3", 1), ("s3", "s4", 1), ("s4", "s1", 1))
    )
    hosts = tuple(
        net.Host(f"h{n}", 100 + n, IPv4Address(n), net.End(f"s{n}", 3), delay_ps=n)
        for n in range(1, 6)
    )
    flow = net.Flow(1, hosts[0], hosts[2], 1, 1)
    return net.Topology(switches, cables, hosts, (flow,))


def test_routes_are_the_fewest_cables_then_the_least_delay() -> None:
    topology = square()
    found = routes(topology)
    assert found["s1"]["s2"] == net.End("s1", 2)  # one slow cable beats three fast ones
    assert found["s1"]["s3"] == net.End("s1", 1)  # two ways of two cables: by s4 it takes 2 ps
    assert "s5" not in found["s1"]
    paths = Paths(topology, found)
    assert paths.ports("s1", "s3") == (net.End("s1", 1), net.End("s4", 1))
    assert paths.ports("s1", "s5") is None
    # 2 x (1 + 1 + 1 + 3) ps.
    assert paths.base_rtt_ps(topology.flows[0]) == 12


def test_a_packet_gets_the_mac_of_the_next_hop() -> None:
    topology = square()
    state = switch_state(topology, routes(topology), topology.switches[0])
    macs = {value_of(entry.matches["hdr.ipv4.dst_addr"]): entry.params["dst_mac"]
            for entry in state.entries if "hdr.ipv4.dst_addr" in entry.matches
            and entry.table.endswith("ipv4_lpm")}  # fmt: skip
    # h1 is here; h2 behind s2's port 1; h3 and h4 behind s4's port 2; h5 cannot be reached.
    assert macs == {1: 101, 2: 16 * 1 + 1, 3: 16 * 3 + 2, 4: 16 * 3 + 2}
