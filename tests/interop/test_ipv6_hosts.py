"""The kernel's TCP and UDP over IPv6 (`--hosts linux`), through our switch."""

from __future__ import annotations

import socket
import time

import pytest

from narrows.testbed import engine
from narrows.testbed.targets.linux import namespaces
from narrows.testbed.targets.linux.namespaces import Plumbing
from tests.support.needs import without
from tests.support.real_time import Machine, judged
from tests.support.world import RunDirectory, narrows, write
from tests.targets.test_real_time import WIDE

LACKING = namespaces.missing()
if engine.dpdk_version() is None:
    LACKING.append("needs libdpdk: narrows doctor")
needs_hosts = without(LACKING)

SCENARIO = (
    """
title = "The kernel's reno over IPv6, beside requests and datagrams"
duration = "4s"
profile = "linux"
ip_version = 6
[bottleneck]
rate = "10Mbps"
delay = "10ms"
queue = "40packets"
[access]
rate = "100Mbps"
delay = "2ms"
[[flow]]
variant = "reno"
dscp = 46
ttl = 9
initial_window = 20
delayed_ack = false
[[flow]]
variant = "cubic"
app = { kind = "request-response", size = "200B", response = "3000B", messages = 20 }
[[flow]]
transport = "udp"
dscp = 10
ttl = 7
app = { kind = "cbr", rate = "1Mbps", size = "1000B" }
[record]
capture = true
"""
    + WIDE
)


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> RunDirectory:
    directory = tmp_path_factory.mktemp("linux")
    source = write(directory, SCENARIO)
    machine = Machine()
    done = narrows(
        "run", source, "--target", "dpdk", "--hosts", "linux", "--out", directory, "--no-figures"
    )
    stalled_us = machine.longest_us()
    assert done.returncode == 0, done.stderr
    [path] = [made.parent for made in directory.glob("scenario/[!.]*/run.json")]
    return RunDirectory(path, stalled_us)


@needs_hosts
def test_the_kernel_sends_and_is_sampled(ran: RunDirectory) -> None:
    """The base round trip is 2 x (2 x 2 + 10) ms; segments have 1,428 bytes."""
    reno, requests, datagrams = ran.summary["flows"]
    with judged(ran.longest_gap_us):
        assert reno["delivered_bytes"] > 0.6 * 4 * 9e6 / 8
    assert requests["messages"]["read"] == 20
    assert datagrams["datagrams"]["received"] > 400
    rows = ran.table("flows")
    own = rows.filter((rows["flow"] == 1) & (rows["acked_bytes"] > 0))
    assert {cwnd % 1428 for cwnd in own["cwnd_bytes"]} == {0}
    assert min(own["srtt_ps"].to_list()) >= 28 * 10**9
    # Departures from the socket's error queue, and arrivals: at least the way's 14 ms.
    assert reno["one_way_delay_ms"]["min"] >= 14
    assert reno["impossible_delays"] == 0


@needs_hosts
def test_its_packets_are_ours_alone(ran: RunDirectory) -> None:
    """No neighbour, router or multicast messages; class and hop limit are the flow's."""
    assert set(ran.table("queue")["flow"]) == {1, 2, 3}
    sent = ran.table("capture")
    frames = sent.filter(sent["direction"] == "sent")["bytes"].to_list()
    assert {frame[12:14] for frame in frames} == {b"\x86\xdd"}
    seen = {(frame[20], (frame[14] << 4 | frame[15] >> 4) >> 2 & 63, frame[21]) for frame in frames}
    assert {(6, 46, 9), (17, 10, 7)} <= seen
    assert {protocol for protocol, _, _ in seen} == {6, 17}


@needs_hosts
def test_a_host_says_nothing_of_its_own(plumbing: Plumbing) -> None:
    host = plumbing.add_host("quiet", "fd00::9", "02:00:00:00:00:09", "02:00:00:00:00:01")
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)) as wire:
        wire.bind((host.outside, 3))
        wire.settimeout(2)
        with host.socket(socket.SOCK_DGRAM, socket.AF_INET6) as sender:
            sender.bind(("fd00::9", 1000))
            sender.sendto(b"hello", ("fd00::5", 2000))
        frames, deadline = [], time.monotonic() + 2
        while time.monotonic() < deadline:
            try:
                frames.append(wire.recv(2000))
            except TimeoutError:
                break
    [frame] = frames
    assert frame[:14] == bytes.fromhex("020000000001 020000000009 86dd")
    assert frame.endswith(b"hello")
