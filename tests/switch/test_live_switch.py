"""`narrows switch` on DPDK ports, in real time: Linux hosts behind it, controllers, faults.

The machine may do other work meanwhile, so rates are judged by the bytes that passed, not by the
lateness of single packets.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from narrows.controller.client import SwitchClient
from narrows.controller.drivers.gnmi import GnmiDriver
from tests.support.live_switch import TCP_SHARE, Between, LinuxHost, needs, put_away
from tests.support.real_time import Machine, needs_dpdk
from tests.support.switch_command import P4INFO, PROGRAM, Running
from tests.support.world import ROOT, narrows

pytestmark = needs_dpdk
DEEP_RING = ",framecnt=8192"
"""The 512 frames of DPDK's default lose packets of a TCP burst before the switch has them."""
FILE_SERVER = """
import functools, http.server, socketserver, sys
address, port, directory = sys.argv[1:]
socketserver.TCPServer.allow_reuse_address = True
handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=directory)
socketserver.ThreadingTCPServer((address, int(port)), handler).serve_forever()
"""
"""`python -m http.server` would first ask a name server for its own name."""


@needs("iperf3")
@pytest.mark.parametrize(("mbps", "workers"), [(5, 1), (50, 2), (500, 1)])
def test_linux_tcp_gets_the_configured_rate_within_one_percent(
    hosts: tuple[LinuxHost, LinuxHost], machine: Machine, mbps: float, workers: int
) -> None:
    arguments = ("--rate", f"2={mbps}Mbps", "--queue", "2=100ms", "--counts", "ip")
    path = ("--delay", "2=2ms", "--workers", str(workers))
    with Between(hosts, *arguments, *path, options=DEEP_RING) as between:
        seconds = between.iperf3(6)
        between.end()
    assert len(seconds) == 4
    assert_rate(between, machine, statistics.median(seconds), mbps)


def assert_rate(between: Between, machine: Machine, measured_mbps: float, mbps: float) -> None:
    """The rate of TCP's payload, if the bottleneck set it: it was busy for two whole seconds.

    Any machine's hosts keep a slow bottleneck busy, but not every machine's a fast one.
    """
    is_busy = between.busy_seconds(2) >= 2
    if mbps > 100 and not is_busy:
        pytest.skip("the hosts left a fast bottleneck idle in nearly each second")
    with machine.figures():
        assert is_busy, between.running.lines
        between.judge(measured_mbps, pytest.approx(mbps * TCP_SHARE, rel=0.01))


@needs("curl")
@pytest.mark.parametrize(("mbps", "seconds"), [(5, 4), (50, 3), (500, 3)])
def test_curl_gets_the_configured_rate_within_one_percent(
    hosts: tuple[LinuxHost, LinuxHost], tmp_path: Path, machine: Machine, mbps: int, seconds: int
) -> None:
    """The median over quarters of a second counts, if the hosts kept the port busy meanwhile."""
    with (tmp_path / "file").open("wb") as file:
        file.truncate(mbps * 1_000_000 // 8 * seconds)
    first, second = hosts
    serve = ("-c", FILE_SERVER, first.ip, "8000", str(tmp_path))
    server = subprocess.Popen(
        first.namespace.command(sys.executable, *serve),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    shaper = ("--rate", f"2={mbps}Mbps", "--queue", "2=100ms", "--counts", "ip")
    try:
        with Between(
            hosts, "--rate", "1=1Gbps", *shaper, "--delay", "2=2ms", options=DEEP_RING
        ) as between:
            rates_mbps, whole_mbps = download(second, f"http://{first.ip}:8000/file")
            between.end()
    finally:
        server.kill()
        server.wait()
    assert whole_mbps < 1.001 * mbps * TCP_SHARE
    assert_rate(between, machine, statistics.median(rates_mbps), mbps)


def download(host: LinuxHost, url: str, interval_s: float = 0.25) -> tuple[list[float], float]:
    """curl's rates in Mb/s: of each whole interval, and from its request to its last byte."""
    curl = subprocess.Popen(
        host.namespace.command(
            "curl", "--silent", "--show-error", "--retry", "20", "--retry-connrefused",
            "--retry-delay", "1", "--no-buffer", "--write-out",
            "%{stderr}%{size_download} %{time_pretransfer} %{time_total}", url,
        ),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert curl.stdout is not None
    rates: list[float] = []
    received, began = 0, 0.0
    while chunk := os.read(curl.stdout.fileno(), 1 << 16):
        now = time.monotonic()
        if began == 0:
            began = now
            continue
        received += len(chunk)
        if now - began >= interval_s:
            rates.append(received * 8 / (now - began) / 1e6)
            received, began = 0, now
    _, printed = curl.communicate()
    size_bytes, asked_s, last_s = map(float, printed.split())
    return rates, size_bytes * 8 / (last_s - asked_s) / 1e6


@needs()
def test_round_trips_hold_the_cable_delay_beside_a_controller(
    hosts: tuple[LinuxHost, LinuxHost],
) -> None:
    async def read_and_write(address: str) -> tuple[int, int, int]:
        async with SwitchClient(address, p4info=P4INFO) as client:
            assert client.gnmi is not None
            driver = GnmiDriver(client.gnmi)
            rate_bps = await driver.set_rate(2, 7_000_000)
            state = await client.read_state()
            counts = await driver.queue_state(2)
            return rate_bps, len(state.entries), counts.transmitted

    delays = ("--delay", "1=10ms", "--delay", "2=15ms")
    with Between(hosts, "--rate", "2=1Gbps", *delays) as between:
        round_trips = between.round_trips_ms(10)
        rate_bps, entries, dequeued = asyncio.run(read_and_write(between.running.address))
        between.end()
    assert len(round_trips) == 10
    # A late poll only adds to it.
    assert min(round_trips) >= 25.0
    between.judge(min(round_trips), pytest.approx(26.0, abs=1.0))
    assert (rate_bps, entries) == (7_000_000, 2)
    assert dequeued == 10


@needs()
def test_ping_sees_the_queueing_delay_that_the_program_measures(
    hosts: tuple[LinuxHost, LinuxHost],
) -> None:
    """A flood of 1.1 times the rate keeps the queue at 40 packets of 1,500 bytes: 96 ms at 5 Mb/s,
    one packet (2.4 ms) more or less, and an echo's 84 bytes wait as long."""

    async def longest_wait_ms(address: str) -> float:
        async with SwitchClient(address, p4info=P4INFO) as client:
            name = "NarrowsEgress.measure_delay.delay_max"
            return await client.read_register(name, 2) / 1e6

    arguments = ("--rate", "2=5Mbps", "--queue", "2=40packets", "--counts", "ip")
    with Between(hosts, *arguments, "--timestamp-unit", "ns", "--delay", "1=5ms") as between:
        base = min(between.round_trips_ms(5))
        script = ROOT / "tests/support/flood.py"
        flood = subprocess.Popen(
            hosts[0].namespace.command(sys.executable, str(script), hosts[1].ip, "5.5e6")
        )
        try:
            time.sleep(1.0)
            loaded = statistics.median(between.round_trips_ms(15))
        finally:
            flood.kill()
            flood.wait()
        measured = asyncio.run(longest_wait_ms(between.running.address))
        between.end()
    between.judge(measured, pytest.approx(40.5 * 2.4, abs=1.3))
    between.judge(loaded - base, pytest.approx(measured, abs=2.5))


@needs()
@pytest.mark.parametrize("driver", ["net_pcap", "net_af_xdp"])
def test_other_drivers_take_an_interface_too(
    hosts: tuple[LinuxHost, LinuxHost], driver: str
) -> None:
    with Between(hosts, driver=driver) as between:
        assert len(between.round_trips_ms(3)) == 3
        code, errors = between.running.end()
    # What net_af_xdp is built on talks.
    assert (code, [line for line in errors.splitlines() if not line.startswith("lib")]) == (0, [])


@needs()
def test_ports_on_two_cores_answer_to_their_own_numbers(
    hosts: tuple[LinuxHost, LinuxHost],
) -> None:
    with Between(hosts, "--workers", "2", "--delay", "2=5ms") as between:
        round_trips = between.round_trips_ms(5)
        between.end()
    assert len(round_trips) == 5
    between.judge(min(round_trips), pytest.approx(6.0, abs=1.0))
    said = [line for line in between.running.lines if ": received" in line]
    assert [line.split(":")[0] for line in said] == ["port 1", "port 2"]
    # The neighbour never sends an ARP request: its address is fixed.
    assert all("received 5, sent 5," in line for line in said), said


@needs()
def test_a_port_discards_frames_of_other_interfaces(hosts: tuple[LinuxHost, LinuxHost]) -> None:
    """A packet socket receives from every interface until the driver binds it."""
    script = str(ROOT / "tests/support/flood.py")
    flood = subprocess.Popen([sys.executable, script, "127.0.0.1", "500e6"])
    try:
        with Between(hosts) as between:
            assert len(between.round_trips_ms(5)) == 5
            between.end()
    finally:
        flood.kill()
        flood.wait()
    said = [line for line in between.running.lines if ": received" in line]
    assert [line.split(",")[0] for line in said] == ["port 1: received 5", "port 2: received 5"]


@needs()
def test_two_cores_read_a_ports_queues_and_keep_flows_in_order(
    hosts: tuple[LinuxHost, LinuxHost],
) -> None:
    """The kernel distributes 16 flows to two packet sockets by their hashes."""
    first, second = hosts

    def bound(address: str, port: int) -> socket.socket:
        made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        made.bind((address, port))
        made.settimeout(5.0)
        return made

    sink = second.namespace.call(lambda: bound(second.ip, 9000))
    ports = range(10_000, 10_016)
    sources = [first.namespace.call(partial(bound, first.ip, port)) for port in ports]
    arguments = ("--workers", "2", "--queues", "2")
    with Between(hosts, *arguments, options=",qpairs=2") as between:
        for number in range(10):
            for source in sources:
                source.sendto(bytes([number]), (second.ip, 9000))
        came: dict[int, list[int]] = {port: [] for port in ports}
        for _ in range(10 * len(ports)):
            payload, (_, port) = sink.recvfrom(100)
            came[port].append(payload[0])
        between.end()
    for one in (sink, *sources):
        one.close()
    assert came == {port: list(range(10)) for port in ports}
    assert any(line.startswith("port 1: received 160,") for line in between.running.lines)


def test_a_device_with_fewer_receive_queues_is_refused_by_name() -> None:
    for device in ("net_ring0", "net_memif0,role=client,id=0"):
        arguments = ("--port", f"1={device}", "--queues", "32")
        ran = narrows("switch", PROGRAM, *arguments, "--grpc-server-addr", "127.0.0.1:0")
        assert ran.returncode == 2
        assert f"device '{device}'" in ran.stderr, ran.stderr
        assert "queue" in ran.stderr, ran.stderr


@needs()
def test_a_queue_longer_than_the_memory_loses_nothing_else(
    hosts: tuple[LinuxHost, LinuxHost],
) -> None:
    """A second at 30 Mb/s, 2,500 packets, into a queue of 2,000 that sends 400 a second."""
    arguments = ("--rate", "2=5Mbps", "--queue", "2=2000packets", "--mbufs", "512")
    with Between(hosts, *arguments) as between:
        script = str(ROOT / "tests/support/flood.py")
        flood = subprocess.Popen(
            hosts[0].namespace.command(sys.executable, script, hosts[1].ip, "30e6")
        )
        time.sleep(1.5)
        flood.kill()
        flood.wait()
        between.end()
    said = "\n".join(between.running.lines)
    [copied] = re.findall(r"port 1: copied (\d+)", said)
    assert int(copied) > 1000
    assert "without memory" not in said


CONTROLLER = """
import asyncio, sys
from pathlib import Path
from narrows.controller.client import SwitchClient

async def main():
    async with SwitchClient(sys.argv[1], p4info=Path(sys.argv[2])) as client:
        await client.read_state()
        print("connected", flush=True)
        await asyncio.sleep(600)

asyncio.run(main())
"""


@needs()
def test_a_killed_controller_leaves_the_switch_to_the_next(
    hosts: tuple[LinuxHost, LinuxHost],
) -> None:
    async def entries(address: str) -> int:
        async with SwitchClient(address, p4info=P4INFO) as client:
            return len((await client.read_state()).entries)

    with Between(hosts) as between:
        address = between.running.address
        controller = subprocess.Popen(
            [sys.executable, "-c", CONTROLLER, address, str(P4INFO)],
            cwd=ROOT, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert controller.stdout is not None
        assert controller.stdout.readline() == "connected\n"
        controller.kill()
        controller.communicate()
        assert len(between.round_trips_ms(3)) == 3
        assert asyncio.run(entries(address)) == 2
        between.end()


@needs()
def test_a_cable_that_is_unplugged_and_back_carries_on(
    hosts: tuple[LinuxHost, LinuxHost],
) -> None:
    """It is on the second core."""
    with Between(hosts, "--workers", "2") as between:
        assert between.round_trips_ms(2)
        outside = hosts[1].namespace.outside
        subprocess.run(["ip", "link", "set", outside, "down"], check=True)
        assert between.round_trips_ms(1) == []
        subprocess.run(["ip", "link", "set", outside, "up"], check=True)
        time.sleep(0.5)
        assert between.round_trips_ms(2)
        between.end()


@needs()
def test_a_switch_that_was_killed_leaves_its_ports_free(
    hosts: tuple[LinuxHost, LinuxHost],
) -> None:
    with Between(hosts, "--workers", "2") as between:
        between.running.process.send_signal(signal.SIGKILL)
        between.running.process.wait(timeout=10)
    with Between(hosts) as between:
        assert between.round_trips_ms(2)
        between.end()


def test_two_switches_on_one_socket_are_told_apart() -> None:
    """The second memif server of one socket is refused, and the first goes on."""
    device = "1=net_memif0,role=server,id=0,socket=narrows-test-two"
    first = Running(PROGRAM, "--port", device)
    try:
        ran = narrows("switch", PROGRAM, "--port", device, "--grpc-server-addr", "127.0.0.1:0")
        assert ran.returncode == 2
        assert "device 'net_memif0,role=server" in ran.stderr
        assert "Traceback" not in ran.stderr
        code, errors = first.end()
        assert (code, errors) == (0, "")
    finally:
        put_away(first)


@pytest.mark.parametrize(
    ("device", "message"),
    [
        ("net_fish0", "device 'net_fish0': "),
        ("net_af_packet0,iface=narrows-none", "narrows-none"),
        ("net_memif0,role=fish", "device 'net_memif0,role=fish': "),
        ("ffff:ff:1f.7", "device 'ffff:ff:1f.7': "),
    ],
)
def test_a_wrong_device_is_named_with_the_drivers_reason(device: str, message: str) -> None:
    ran = narrows("switch", PROGRAM, "--port", f"1={device}", "--grpc-server-addr", "127.0.0.1:0")
    assert ran.returncode == 2
    assert message in ran.stderr, ran.stderr
    assert "Traceback" not in ran.stderr
