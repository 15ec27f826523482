"""A board's lab.toml, what the target refuses of a scenario, and what `narrows doctor` finds."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from narrows.testbed.cli.main import main
from narrows.testbed.problems import InputError
from narrows.testbed.scenario import sweep
from narrows.testbed.scenario.plan import make_plan
from narrows.testbed.targets.fpga import FPGA, lab, lab_findings
from narrows.testbed.targets.our_hosts import OUR_HOSTS
from tests.support.world import ROOT, TWO_FLOWS, write

LAB = """
[switch]
kind = "fpga"
address = "192.0.2.66"

[port.senders]
nic = "eth1"

[port.receivers]
nic = "eth2"
"""
SCENARIO = """
title = "t"
duration = "3s"
[bottleneck]
rate = "5Mbps"
delay = "1ms"
[[flow]]
variant = "reno"
"""


def lab_of(tmp_path: Path, text: str = LAB) -> lab.Lab:
    path = tmp_path / "lab.toml"
    path.write_text(text)
    return lab.read(path)


def test_the_guides_file_is_one(tmp_path: Path) -> None:
    guide = (ROOT / "docs/guide/hardware-bottleneck.md").read_text()
    [text] = re.findall(r"^```toml\n(.*?)^```", guide, re.M | re.S)
    assert lab_of(tmp_path, text).interface == "eth1"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"fpga"', '"tofino"', "switch.kind = \"tofino\": should be 'fpga' (line 3)"),
        ("192.0.2.66", "192.0.2.266", '192.0.2.266": expected an IPv4 address (line 4)'),
        ('nic = "eth2"', 'nick = "eth2"', "port.receivers.nic: is missing (line 9)"),
        ("eth2", "eth1", 'port.receivers.nic = "eth1": is also used by another side (line 10)'),
        ("eth1", "0000:81:00.0", "switch.interface: is missing; the kernel does not have 0000"),
        ('address = "192.0.2.66"', 'interface = "eth2"', "is at port 1; expected the cable of por"),
        ("[port.receivers]", "[port.receiver]", "port.receivers: is missing"),
        ("nic = ", "nic = [", "lab.toml: is not valid TOML"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        lab_of(tmp_path, LAB.replace(old, new))


def test_interfaces_and_cards_have_device_strings(tmp_path: Path) -> None:
    read = lab_of(tmp_path, LAB.replace('"eth2"', '"0000:81:00.1"'))
    senders, receivers = read.sides.values()
    assert senders.device(0) == "net_af_packet1000,iface=eth1,qdisc_bypass=0"
    assert (receivers.device(1), receivers.interface) == ("0000:81:00.1", None)


def refusal(tmp_path: Path, text: str) -> str:
    [point] = sweep.read(write(tmp_path, text))
    lab_of(tmp_path)
    with pytest.raises(InputError) as refused:
        FPGA.check(
            point.scenario, "s.toml", FPGA.settings(OUR_HOSTS, {"lab": tmp_path / "lab.toml"})
        )
    return str(refused.value)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ('discipline = "pie"', 'bottleneck.discipline = "pie": --target fpga supports only'),
        ('discipline = { name = "ecn-threshold", ramp = 2 }', "bottleneck.discipline.ramp: --targ"),
        ("queues = [{}, {}]", "bottleneck.queues: is not supported by --target fpga"),
        ("ecn_threshold = 5", "bottleneck.ecn_threshold: is not supported by --target fpga"),
        ('duplicate = { probability = "1%" }', "bottleneck.duplicate: is not supported by --tar"),
        ("[record]\npackets = true", "record.packets: is not supported by --target fpga"),
        ('[[event]]\nat = "1s"\nset = { bottleneck = { rate = "2Gbps" } }', "event.0.set.bottlen"),
        ('[[event]]\nat = "1s"\nset = { bottleneck = { discipline = "pie" } }',
         'event.0.set.bottleneck.discipline = "pie"'),
        ('[[event]]\nat = "1s"\nset = { bottleneck = { ecn_threshold = 3 } }',
         "event.0.set.bottleneck.ecn_threshold: is not supported"),
    ],
)  # fmt: skip
def test_what_the_board_lacks_is_refused_by_its_key(
    tmp_path: Path, more: str, message: str
) -> None:
    assert message in refusal(tmp_path, SCENARIO.replace("[[flow]]", f"{more}\n[[flow]]"))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("5Mbps", "2Gbps", 'bottleneck.rate = "2Gbps": above 1Gbps, a board\'s line'),
        ('delay = "1ms"', 'delay = "1us"', 'bottleneck.delay = "1us": expected at least 4us'),
        ('"3s"', '"3s"\nip_version = 6', "ip_version = 6: is not supported by --target fpga"),
        ('"3s"', '"3s"\nprogram = "x.json"', 'program = "x.json": is not supported'),
    ],
)
def test_what_no_board_can_do_is_refused_by_its_key(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    assert message in refusal(tmp_path, SCENARIO.replace(old, new, 1))


def test_a_network_of_several_switches_is_refused() -> None:
    scenario = sweep.read(ROOT / "scenarios/parking-lot.toml")[0].scenario
    with pytest.raises(InputError, match="bottleneck: expected a dumbbell"):
        FPGA.check(scenario, "s.toml", {})


def test_each_host_sends_to_the_address_of_its_peer(tmp_path: Path) -> None:
    source = write(tmp_path, TWO_FLOWS)
    [point] = sweep.read(source)
    plan = FPGA.planned(make_plan(point.scenario, str(source)))
    macs = {host["config"]["name"]: host["config"]["mac"] for host in plan["hosts"]}
    towards = {host["config"]["name"]: host["config"]["gateway_mac"] for host in plan["hosts"]}
    for flow in plan["flows"]:
        assert towards[flow["from"]] == macs[flow["to"]]
        assert towards[flow["to"]] == macs[flow["from"]]
    assert FPGA.problems(plan, {}) == []


def test_a_host_with_two_peers_is_refused(tmp_path: Path) -> None:
    source = write(tmp_path, f"{TWO_FLOWS}[dumbbell]\nreceivers = 1\n")
    [point] = sweep.read(source)
    [problem] = FPGA.problems(FPGA.planned(make_plan(point.scenario, str(source))), {})
    assert "receiver1 has 2 peers; behind a board a host has one" in str(problem)


def test_a_run_needs_a_lab(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "scenarios/first-look.toml", "--target", "fpga"]) == 2
    assert "fpga: needs --lab FILE" in capsys.readouterr().err


def test_doctor_says_what_the_machine_lacks(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "sys/class/net/eth1").mkdir(parents=True)
    (root / "sys/class/net/eth1/carrier").write_text("0\n")
    read = lab_of(tmp_path, LAB.replace("eth2", "0000:81:00.1"))
    found = {one.name: one for one in lab_findings.of_machine(read, root)}
    assert found["senders eth1"].found is None
    assert "ip link set eth1 up" in found["senders eth1"].mend
    assert "lspci" in found["receivers 0000:81:00.1"].mend
    assert "ip address add" in found["controller at eth1"].mend
