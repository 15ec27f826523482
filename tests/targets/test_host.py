"""`narrows host` opposite a `narrows switch`: processes of their own, joined by shared memory."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from narrows.controller.client import SwitchClient
from narrows.controller.drivers.gnmi import GnmiDriver
from tests.packets.wires import Interfaces, packet_socket
from tests.support.live_switch import needs, put_away
from tests.support.real_time import judged, needs_dpdk
from tests.support.switch_command import P4INFO, PROGRAM, Running
from tests.support.world import ROOT, TWO_FLOWS, RunDirectory, command, environment, narrows, write
from tests.targets.test_real_time import wait_for
from tests.traffic.test_generate import right

pytestmark = needs_dpdk

WIDE = """
[instrument]
departure_error = "100ms"
rate_error = 0.5
poll_gap = "2s"
lost_packets = 1000
"""
BASE_MS = 1 + 5 + 1 + 8 * 1514 / 5e6 * 1e3 + 2 * 8 * 1514 / 100e6 * 1e3
"""One way through an idle path: the delays and three transmissions of a full segment."""
GROUPS = ("senders", "receivers", "collector at s1")


class Opposite:
    """A switch with a memif for every group, set up as the scenario's plan says."""

    def __init__(self, directory: Path, more: str = "") -> None:
        self.scenario = write(directory, TWO_FLOWS + more + WIDE)
        self.socket = f"narrows-test-{os.getpid()}-{directory.name}"
        self.state = directory / "state.json"
        self.state.write_text(narrows("plan", self.scenario, "--switch", "s1").stdout)

    def start(self, *devices: str) -> None:
        """Starts the switch, its first ports on these devices and the others on memifs, and lets
        its controller set it up."""
        memifs = [f"net_memif{n},role=server,id={n},socket={self.socket}" for n in range(3)]
        opened = [*devices, *memifs[len(devices) :]]
        ports = [text for n, device in enumerate(opened, 1) for text in ("--port", f"{n}={device}")]
        shaper = ("--rate", "2=5Mbps", "--queue", "2=20packets", "--delay", "2=5ms")
        self.switch = Running(*ports, "--no-p4", *shaper, "--timestamp-unit", "ns")
        connected = ("--address", self.switch.address, "--p4info", P4INFO, "--json", PROGRAM)
        subprocess.run(
            [sys.executable, "-m", "narrows.controller", *connected, "push", "--state", self.state],
            cwd=ROOT, check=True, stdout=subprocess.DEVNULL,
        )  # fmt: skip

    def host(
        self,
        out: Path,
        *groups: str,
        begin_s: float | None = None,
        settings: Sequence[str] = (),
        senders: str | None = None,
    ) -> subprocess.Popen[str]:
        """The hosts of these groups, in a process; the senders by another device than a memif."""
        devices = [
            f"{group}=net_memif{n},role=client,id={n},socket={self.socket}"
            for n, group in enumerate(GROUPS)
            if group in groups
        ]
        if senders is not None:
            devices[0] = f"senders={senders}"
        ports = [text for device in devices for text in ("--port", device)]
        begin = () if begin_s is None else ("--begin", str(begin_s))
        return subprocess.Popen(
            command("host", self.scenario, *ports, *begin, *settings, "--out", out),
            cwd=ROOT,
            env=environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )

    async def forwards(self, packets: int) -> None:
        """Returns when its bottleneck has sent this many packets."""
        async with SwitchClient(self.switch.address, p4info=P4INFO) as client:
            assert client.gnmi is not None
            driver = GnmiDriver(client.gnmi)
            deadline = time.monotonic() + 40
            while (await driver.queue_state(2)).transmitted < packets:
                assert time.monotonic() < deadline, self.switch.lines
                await asyncio.sleep(0.1)

    def stop(self) -> None:
        put_away(self.switch)


@pytest.fixture
def opposite(tmp_path: Path) -> Iterator[Opposite]:
    made = Opposite(tmp_path)
    try:
        made.start()
        yield made
    finally:
        made.stop()


DATAGRAMS = """
[[flow]]
transport = "udp"
app = { kind = "cbr", rate = "400kbps", size = "501B", messages = 100 }
"""


def results(out: Path) -> RunDirectory:
    """A host's run directory."""
    [path] = [made.parent for made in out.glob("scenario/[!.]*/run.json")]
    return RunDirectory(path)


def test_senders_and_receivers_in_two_processes_share_one_time(
    opposite: Opposite, tmp_path: Path
) -> None:
    # If a busy machine's processes miss the start, they say so and exit.
    for ahead_s in (4, 12, 30):
        begin_s = time.time() + ahead_s
        there_groups = ("receivers", "collector at s1")
        receiver = opposite.host(tmp_path / "there", *there_groups, begin_s=begin_s)
        sender = opposite.host(tmp_path / "here", "senders", begin_s=begin_s)
        errors = [host.communicate(timeout=90)[1] for host in (receiver, sender)]
        if receiver.returncode == sender.returncode == 0:
            break
    else:
        pytest.fail("\n".join(errors))
    assert opposite.switch.end() == (0, "")
    here, there = results(tmp_path / "here"), results(tmp_path / "there")
    assert not {"bottleneck", "switches"} & (set(here.summary) | set(there.summary))
    acked = here.table("flows").group_by("flow").max()
    assert len(acked) == 2
    assert here.summary["flows"][0]["retransmits"] > 0
    delivered = sum(flow["delivered_bytes"] for flow in there.summary["flows"])
    # 5 s at 5 Mb/s, less headers, the first round trips and time-outs.
    assert delivered < 3.125e6 * 1460 / 1514
    least = min(flow["one_way_delay_ms"]["min"] for flow in there.summary["flows"])
    assert least >= BASE_MS
    reports = there.table("packets")
    gaps_us = (here.longest_gap_us, there.longest_gap_us, opposite.switch.longest_gap_us())
    with judged(*gaps_us):
        assert delivered > 0.75 * 3.125e6
        assert least < BASE_MS + 1.0
        assert reports["egress_port"].to_list().count(2) > 1500


def test_a_switch_that_is_killed_and_started_again_carries_on(
    opposite: Opposite, tmp_path: Path
) -> None:
    """A flow starts every second, so one always tests whether the path has returned."""
    many = ("--set", "flow.count=60", "--set", 'flow.start={ every = "1s" }')
    host = opposite.host(tmp_path / "out", *GROUPS, settings=(*many, "--set", "duration=60s"))
    try:
        asyncio.run(opposite.forwards(packets=100))
        opposite.switch.process.send_signal(signal.SIGKILL)
        opposite.stop()
        opposite.start()
        asyncio.run(opposite.forwards(packets=100))
    finally:
        host.kill()
        host.communicate()


@needs()
def test_a_device_computes_checksums_for_hosts_if_it_can(tmp_path: Path) -> None:
    """The senders are on a tap, whose other end is the switch's port by its interface.

    The test recomputes the checksums of segments and datagrams seen there; no device verifies them
    for the receivers.
    """
    opposite = Opposite(tmp_path, DATAGRAMS)
    tap = f"nrwtap{os.getpid() % 10**6}"
    senders = f"net_tap0,iface={tap}"
    bulk = ("--set", 'flow.0.app={ kind = "bulk", bytes = "100KB" }')
    settings = (*bulk, "--set", "duration=completion")
    host = opposite.host(tmp_path / "out", *GROUPS, senders=senders, settings=settings)
    try:
        wait_for(lambda: Path("/sys/class/net", tap).exists())
        seen = packet_socket(tap)
        opposite.start(f"net_af_packet0,iface={tap}")
        try:
            _, errors = host.communicate(timeout=60)
        finally:
            opposite.stop()
    finally:
        host.kill()
        host.wait()
    assert host.returncode == 0, errors
    summary = results(tmp_path / "out").summary
    wires = {wire["name"]: wire for wire in summary["instrument"]["wires"]}
    by = {name: wire["checksums_by"] for name, wire in wires.items()}
    assert by == {"senders": "device", "receivers": "software", "collector at s1": "software"}
    assert {name: wire["sent_checksums_by"] for name, wire in wires.items()} == by
    assert {wire["arrivals_by"] for wire in wires.values()} == {"software"}
    delivered = [flow["delivered_bytes"] for flow in summary["flows"]]
    # Datagrams that come before the switch has its entries are lost.
    assert delivered[:2] == [100_000, 100_000]
    seen.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)  # that its interface is gone
    tapped = Interfaces({1: seen}, least_bytes=0)
    sent = [frame for _, frame in tapped.receive() if frame[12:14] == b"\x08\x00"]
    tapped.close()
    protocols = Counter(frame[23] for frame in sent)
    # 70 segments of 1,448 bytes hold 100 kB, and each datagram is one.
    assert protocols[socket.IPPROTO_TCP] >= 2 * 70
    assert protocols[socket.IPPROTO_UDP] == 100
    for frame in sent:
        assert right(frame[14:34], 0)
        # RFC 9293 and RFC 768: over addresses, protocol, length and an even number of bytes.
        transport = frame[34:] + bytes(len(frame) % 2)
        assert right(frame[26:34] + transport, frame[23] + len(frame) - 34)


def test_wires_and_times_that_are_wrong_are_named(tmp_path: Path) -> None:
    scenario = write(tmp_path, TWO_FLOWS)
    for arguments, message in (
        (("--port", "fish=net_ring0"), "no wire 'fish'; expected s1 port 1, senders"),
        (("--port", "senders"), "expected GROUP=DEVICE"),
        (("--port", "senders=net_ring0", "--begin", "1"), "--begin"),
    ):
        ran = narrows("host", scenario, *arguments, "--out", tmp_path)
        assert ran.returncode == 2
        assert message in ran.stderr
    record = json.loads(narrows("plan", scenario).stdout)
    assert [switch["name"] for switch in record["switches"]] == ["s1"]
    assert narrows("plan", scenario, "--switch", "s2").returncode == 2
