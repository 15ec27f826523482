"""`narrows generate`: the packets and their times, in a capture and at a switch."""

from __future__ import annotations

import json
import os
import re
import statistics
import threading
import time
from pathlib import Path

import dpkt
import pytest

from narrows.testbed import engine
from narrows.testbed.cli.main import main
from narrows.testbed.scenario import sweep
from narrows.testbed.scenario.plan import make_plan
from tests.support.live_switch import put_away
from tests.support.real_time import Machine, needs_dpdk
from tests.support.switch_command import Running
from tests.support.world import narrows

SCENARIO = """
title = "Background"
duration = "1s"
[bottleneck]
rate = "10Mbps"
delay = "1ms"
[[flow]]
variant = "reno"
[[flow]]
variant = "reno"
start = "500ms"
app = { kind = "cbr", rate = "800kbps", size = "500B" }
[[flow]]
variant = "reno"
count = 2
app = { kind = "on-off", rate = "400kbps", size = "1000B", on = "200ms", off = "300ms" }
"""


class Captured(threading.Thread):
    """A capture's packets, and when they were read from its pipe, in seconds.

    The stamps in a capture are not used: DPDK's driver takes them from the time-stamp counter with
    its frequency rounded to 10 MHz, which is up to 0.2 % off.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(daemon=True)
        self.path = path
        self.packets = list[tuple[float, bytes]]()
        os.mkfifo(path)
        self.start()

    def run(self) -> None:
        """Reads to the end; DPDK's driver writes out each burst."""
        with self.path.open("rb") as file:
            for _, frame in dpkt.pcap.Reader(file):
                self.packets.append((time.monotonic(), frame))


def scenario(tmp_path: Path, text: str = SCENARIO) -> Path:
    source = tmp_path / "s.toml"
    source.write_text(text)
    return source


@needs_dpdk
def test_each_message_is_a_packet_at_its_instant(tmp_path: Path, machine: Machine) -> None:
    source, out = scenario(tmp_path), tmp_path / "out.pcap"
    captured = Captured(out)
    ran = narrows("generate", source, "--port", f"net_pcap0,tx_pcap={out}")
    assert ran.returncode == 0, ran.stderr
    plan = make_plan(sweep.read(source)[0].scenario, str(source))
    written = engine.application_messages(json.dumps(plan), plan["duration_ps"] or 0)
    expected = sorted((at / 1e12, length) for _, at, length in written)
    captured.join()
    sent = captured.packets
    assert [len(frame) - 42 for _, frame in sent] == [length for _, length in expected]
    # 0.5 s of 200 messages a second, and of on-off's two flows one stream.
    assert "flow.1 (cbr x 1): 100 packets of 546 B" in ran.stdout
    assert f"flow.2 (on-off x 2): {len(sent) - 100} packets of 1046 B" in ran.stdout
    # Late by the reported amount, also the first packet: packets due at once leave in sequence.
    [(most, _)] = re.findall(r"([\d.]+) us \(max\)()", ran.stdout)
    late = [at - due for (at, _), (due, _) in zip(sent, expected, strict=True)]
    # The least of many is not the reader's lateness, which is a thread that may wake late.
    first, last = min(late[:50]), min(late[-50:])
    for _, frame in sent:
        packet = dpkt.ethernet.Ethernet(frame).data
        assert packet.data.dport == 5001
        assert packet.data.data == bytes(len(frame) - 42)
        assert right(frame[14:34], 0)
        # RFC 768: over addresses, protocol, length and datagram.
        assert right(frame[26:34] + frame[34:], 17 + len(frame) - 34)
    with machine.figures():
        assert statistics.median(late) - min(late) < float(most) / 1e6 + 5e-3
        # A clock that is off by 0.15 % drifts by 1.5 ms in this second.
        assert abs(last - first) < 5e-4


def right(data: bytes, more: int) -> bool:
    """Whether the ones' complement sum of 16-bit words is correct, including the checksum."""
    return (int.from_bytes(data, "big") + more) % 0xFFFF == 0


@needs_dpdk
def test_a_count_over_shared_memory_comes_complete(tmp_path: Path) -> None:
    text = SCENARIO.replace("800kbps", "40Mbps").replace('start = "500ms"', "")
    socket = f"narrows-generate-{os.getpid()}"
    memif = f"net_memif0,id=0,socket={socket}"
    switch = Running("--no-p4", "--port", f"1={memif},role=server")
    try:
        port = ("--port", f"{memif},role=client")
        ran = narrows("generate", scenario(tmp_path, text), *port, "--count", "3000")
        assert ran.returncode == 0, ran.stderr
        assert switch.end() == (0, "")
        assert "port 1: received 3000, sent 0" in switch.wait_for("port 1: received")
    finally:
        put_away(switch)
    counts = [int(count) for count in re.findall(r": (\d+) packets", ran.stdout)]
    assert sum(counts) == 3000
    # 10,000 a second of one, 50 of each of the others in its bursts.
    assert counts[0] > 2900
    assert "port 1: received 3000, sent 0" in switch.wait_for("port 1: received")


def test_what_cannot_be_sent_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = scenario(tmp_path)

    def wrong(*more: str) -> str:
        assert main(["generate", str(source), "--port", "net_none0", *more]) == 2
        return capsys.readouterr().err

    assert "--count: 0: expected at least 1" in wrong("--count", "0")
    assert "expected --duration" in wrong("--set", 'duration="completion"')
    source.write_text(SCENARIO.replace("500B", "1473B"))
    assert "expected 1472 at most" in wrong()
    bulk = SCENARIO.split('[[flow]]\nvariant = "reno"\nstart')[0]
    source.write_text(bulk)
    assert "no background traffic" in wrong()


@needs_dpdk
def test_a_device_that_is_not_there_and_a_trace_of_many_lengths(tmp_path: Path) -> None:
    refused = narrows("generate", scenario(tmp_path), "--port", "net_none0")
    assert refused.returncode == 2
    assert "net_none0" in refused.stderr
    # Lengths that differ after the messages that are looked at beforehand.
    trace = tmp_path / "trace.csv"
    lengths = [100] * 200 + [101]
    rows = "".join(f"{n / 1e4},{length}\n" for n, length in enumerate(lengths))
    trace.write_text(f"seconds,bytes\n{rows}")
    app = f'app = {{ kind = "trace", file = "{trace}" }}'
    text = SCENARIO.split("[[flow]]")[0] + f'[[flow]]\nvariant = "reno"\n{app}\n'
    port = f"net_pcap0,tx_pcap={tmp_path}/out.pcap"
    mixed = narrows("generate", scenario(tmp_path, text), "--port", port)
    assert mixed.returncode == 2
    assert "messages of 100 and of 101 bytes: expected one length" in mixed.stderr
