"""What p4testgen says that p4/tna.p4 does on a Tofino, the v1model program does on our switch.

p4/tofino_packets.py says how the tests come about and what they can't cover.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.world import ROOT

BUILD = ROOT / "p4/build"


def stf(files: list[Path]) -> subprocess.CompletedProcess[str]:
    """`narrows stf` on the v1model program; each file gets a switch of its own."""
    names = [BUILD / "v1model.json", "--p4info", BUILD / "v1model.p4info.txtpb", *files]
    command = [sys.executable, "-m", "narrows", "stf", "--program", *map(str, names)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def split(target: str, folder: Path) -> list[Path]:
    """Each test in a file; what the architectures do differently, as v1model does it."""
    text = (ROOT / f"tests/packets/tofino/{target}.stf").read_text()
    found = []
    for number, test in enumerate(re.split(r"^# test \d+\n", text, flags=re.M)[1:], 1):
        found.append(folder / f"{target}-{number}.stf")
        found[-1].write_text(as_v1model_does(test))
    return found


def as_v1model_does(test: str) -> str:
    """TNA's parser leaves IPv4 options alone; v1model's drops a packet that ends within them."""
    [packet] = re.findall(r"^packet \d (\w+)", test, re.M)
    options = re.match(r"4([6-9A-F])", packet[28:])
    if packet[24:28] != "0800" or not options or len(packet) >= 28 + 8 * int(options[1], 16):
        return test
    return re.sub(r"^expect .*", "no_packet", test, flags=re.M)


@pytest.mark.parametrize("target", ["tofino", "tofino2"])
def test_packets_leave_as_they_would_from_a_tofino(target: str, tmp_path: Path) -> None:
    files = split(target, tmp_path)
    assert len(files) == 150
    ran = stf(files)
    failed = [line for line in ran.stdout.splitlines() if not line.endswith(": passed")]
    assert (ran.returncode, failed) == (0, [])


def test_the_generated_tests_reach_every_protocol_and_table() -> None:
    text = (ROOT / "tests/packets/tofino/tofino.stf").read_text()
    protocols = re.findall(r"^packet \d \w{24}08004\w{17}(\w\w)", text, re.M)
    assert {"06", "11"} < set(protocols)
    assert set(re.findall(r"^add (\S+)", text, re.M)) == {
        "NarrowsIngress.forward.ipv4_lpm",
        "NarrowsIngress.identify_flow.flow",
        "NarrowsEgress.mark_ecn.ecn",
        "NarrowsEgress.select_report.telemetry",
    }


def test_a_hop_limit_one_higher_would_be_seen(tmp_path: Path) -> None:
    expecting = next(path for path in split("tofino", tmp_path) if "\nexpect " in path.read_text())
    text, at = expecting.read_text(), expecting.read_text().index("\nexpect ")
    digits = text.index(" ", at + len("\nexpect ")) + 1 + 44
    wrong = f"{(int(text[digits : digits + 2], 16) + 1) % 256:02X}"
    expecting.write_text(text[:digits] + wrong + text[digits + 2 :])
    ran = stf([expecting])
    assert (ran.returncode, "digit 4" in ran.stdout) == (1, True), ran.stdout
