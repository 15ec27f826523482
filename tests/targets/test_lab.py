"""lab.toml, and the report of `narrows doctor --target tofino` on it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from narrows.testbed.cli.main import main
from narrows.testbed.problems import InputError
from narrows.testbed.scenario import sweep
from narrows.testbed.scenario.plan import make_plan
from narrows.testbed.targets.tofino import lab, lab_findings
from tests.support.bfrt.server import FakeSwitch, served
from tests.support.world import ROOT

LAB = """
calibration = "calibration.json"
[switch]
kind = "tofino"
address = "127.0.0.1:50052"
[port.senders]
device_port = 132
nic = "0000:81:00.0"
speed = "10Gbps"
[port.receivers]
device_port = 140
nic = "81:00.1"
speed = "10Gbps"
fec = "firecode"
[port.collector]
device_port = 148
nic = "net_memif0,role=client"
speed = "10Gbps"
"""
SCENARIO = """
title = "t"
duration = "1s"
[bottleneck]
rate = "5Mbps"
delay = "1ms"
ecn_threshold = 30
loss = 0.01
[[flow]]
variant = "reno"
"""
CALIBRATION = {"segments": [{"rate_bps": 10**8}, {"rate_bps": 2 * 10**9}, {"rate_bps": 0}]}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "calibration.json").write_text(json.dumps(CALIBRATION))
    path = tmp_path / "lab.toml"
    path.write_text(LAB)
    return path


def test_the_runbooks_file_is_one(tmp_path: Path) -> None:
    [text] = re.findall(
        r"^```toml\n(.*?)^```", (ROOT / "docs/guide/hardware.md").read_text(), re.M | re.S
    )
    path = tmp_path / "lab.toml"
    path.write_text(text)
    read = lab.read(path)
    assert read.device_ports == [132, 140, 148]
    assert (read.switch.packet, read.timing.kind) == (1514, "single-box")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"tofino"', '"tofina"', "switch.kind = \"tofina\": should be 'tofino' (line 4)"),
        ("127.0.0.1:50052", "127.0.0.1", 'switch.address = "127.0.0.1": expected HOST:PORT'),
        (
            "device_port = 140",
            "device_port = 132",
            "port.receivers.device_port = 132: is also used",
        ),
        (
            "81:00.1",
            "0000:81:00.0",
            'port.senders.nic = "0000:81:00.0": is also used by another side',
        ),
        ("firecode", "x", 'port.receivers.fec = "x": expected none or firecode or reed-solomon'),
        ("[port.collector]", "[port.collectors]", "port.collector: is missing"),
        ('speed = "10Gbps"\nfec', 'speed = "7Gbps"\nfec', 'speed = "7Gbps": expected one of 1Gbps'),
        ("[switch]", '[timing]\nkind = "ptp"\n[switch]', "timing.interface: is missing; ptp needs"),
    ],
)
def test_what_is_wrong_is_named(path: Path, old: str, new: str, said: str) -> None:
    path.write_text(LAB.replace(old, new))
    with pytest.raises(InputError, match=re.escape(said)):
        lab.read(path)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("5Mbps", "11Gbps", 'bottleneck.rate = "11Gbps": above 10Gbps, the slowest port of'),
        ("5Mbps", "3Gbps", 'bottleneck.rate = "3Gbps": above 2Gbps, the limit in calibration.json'),
    ],
)
def test_a_scenario_that_is_too_fast_is_refused(
    path: Path, tmp_path: Path, old: str, new: str, said: str
) -> None:
    source = tmp_path / "s.toml"
    source.write_text(SCENARIO.replace(old, new))
    [point] = sweep.read(source)
    with pytest.raises(InputError, match=re.escape(said)):
        lab.check(lab.read(path), path, str(source), point.scenario)


def test_a_lab_has_one_switch(path: Path) -> None:
    source = ROOT / "scenarios/parking-lot.toml"
    scenario = sweep.read(source)[0].scenario
    with pytest.raises(InputError, match=r"switches; expected a dumbbell"):
        lab.check(lab.read(path), path, str(source), scenario)


def test_a_plan_has_the_labs_ports(path: Path, tmp_path: Path) -> None:
    source = tmp_path / "s.toml"
    source.write_text(SCENARIO)
    read = lab.read(path)
    [point] = sweep.read(source)
    plan = make_plan(point.scenario, str(source), read.device_ports)
    [switch] = plan["switches"]
    assert [port["port"] for port in switch["config"]["ports"]] == [132, 140, 148]
    assert plan["bottleneck"] == {"switch": "s1", "port": 140}
    keyed = {
        entry["table"].rpartition(".")[2]: entry["matches"] for entry in switch["entries"][-4:]
    }
    assert keyed["ecn"] == keyed["loss"] == {"meta.egress_port": {"exact": "0x8c"}}
    assert keyed["collector"] == {"collector_port": {"exact": "0x94"}}
    assert switch["clone_sessions"][0]["replicas"] == [{"port": 148, "rid": 0}]
    assert read.devices(plan) == {
        "senders": "0000:81:00.0",
        "receivers": "81:00.1",
        "collector at s1": "net_memif0,role=client",
    }


def machine(root: Path) -> None:
    """A Linux that has everything except a driver for the second card."""
    pages = root / "sys/kernel/mm/hugepages/hugepages-2048kB"
    pages.mkdir(parents=True)
    (pages / "free_hugepages").write_text("512\n")
    for card, driver in (("0000:81:00.0", "vfio-pci"), ("0000:81:00.1", "ixgbe")):
        (root / "sys/bus/pci/devices" / card).mkdir(parents=True)
        (root / "drivers" / driver).mkdir(parents=True)
        (root / "sys/bus/pci/devices" / card / "driver").symlink_to(root / "drivers" / driver)
    clock = root / "sys/devices/system/clocksource/clocksource0"
    clock.mkdir(parents=True)
    (clock / "current_clocksource").write_text("tsc\n")
    (root / "proc/17").mkdir(parents=True)
    (root / "proc/17/comm").write_text("ptp4l\n")


def test_the_machine_is_looked_at(path: Path, tmp_path: Path) -> None:
    machine(tmp_path)
    path.write_text(LAB + '[timing]\nkind = "ptp"\ninterface = "eth7"\n')
    found = {one.name: one for one in lab_findings.of_machine(lab.read(path), path, tmp_path)}
    assert found["hugepages"].found == "1024 MiB"
    assert found["card 0000:81:00.0"].found == "vfio-pci"
    assert found["card 81:00.1"].found is None
    assert "dpdk-devbind.py --bind=vfio-pci 0000:81:00.1" in found["card 81:00.1"].mend
    assert found["clock"].found == "tsc"
    assert found["PTP clock"].found is None
    assert (found["ptp4l"].found, found["phc2sys"].found) == ("runs", None)
    assert found["phc2sys"].mend == "phc2sys -s eth7 -w -m"
    assert found["calibration"].found == "up to 2Gbps"
    # A vdev is not a card, so it needs no binding.
    assert not any("memif" in name for name in found)


def test_the_switch_is_looked_at(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    switch = FakeSwitch()
    with served(switch):
        path.write_text(LAB.replace("127.0.0.1:50052", switch.address))
        assert main(["doctor", "--target", "tofino", "--lab", str(path)]) == 1
        said = capsys.readouterr().out
        assert f"ok       BfRuntime: {switch.address}, tf1" in said
        assert "ok       program: tna" in said
        assert "MISSING  port 140 (receivers)" in said
        command = (
            f"python -m narrows.controller --address {switch.address} --bfrt set-port 140 10Gbps"
        )
        assert f"{command} --fec firecode" in said
        # It only reads.
        assert not switch.names_written()
    assert main(["doctor", "--target", "tofino", "--lab", str(path)]) == 1
    assert "run_switchd.sh -p tna" in capsys.readouterr().out


def test_a_lab_must_be_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--target", "tofino"]) == 2
    assert "--target: tofino: needs --lab FILE" in capsys.readouterr().err
