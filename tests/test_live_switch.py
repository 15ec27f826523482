"""`narrows switch` on DPDK ports, in real time: Linux hosts behind it, controllers, faults.

Everything here runs beside whatever else the machine does, so rates are told by what came through,
not by how late single packets were.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import finsy as fy
import pytest

from controller.client import SwitchClient
from controller.drivers.gnmi import GnmiDriver
from testbed import catalogue
from tests.namespaces import LinuxHost, needs, two_hosts
from tests.test_switch_command import P4INFO, PROGRAM, Running

pytestmark = pytest.mark.skipif(
    catalogue.engine().dpdk_version() is None, reason="needs libdpdk: narrows doctor"
)

TCP_SHARE = 1448 / 1500
"""Of an IP packet at Linux's usual MSS: what iperf3 calls bits are the payload's."""


def route(host: LinuxHost, port: int) -> Any:
    """All packets to a host, by a port."""
    mac = int(host.mac.replace(":", ""), 16)
    return fy.P4TableEntry(
        "ipv4_lpm",
        match=fy.P4TableMatch({"hdr.ipv4.dst_addr": f"{host.ip}/32"}),
        action=fy.P4TableAction("route", port=port, src_mac=0x02000A0900FE, dst_mac=mac),
    )


async def set_up(address: str, hosts: tuple[LinuxHost, LinuxHost]) -> None:
    options = fy.SwitchOptions(device_id=0, p4info=P4INFO)
    async with fy.Switch("sw", address, options) as switch:
        await switch.write([+route(host, port) for port, host in enumerate(hosts, start=1)])


@pytest.fixture(scope="module")
def hosts() -> Iterator[tuple[LinuxHost, LinuxHost]]:
    with two_hosts() as made:
        yield made


class Between:
    """A running switch between two Linux hosts: port 2, the bottleneck, leads to the second."""

    def __init__(self, hosts: tuple[LinuxHost, LinuxHost], *arguments: str) -> None:
        self.hosts = hosts
        interfaces = [
            text
            for port, host in enumerate(hosts, start=1)
            for text in ("-i", f"{port}@{host.interface}")
        ]
        self.running = Running(PROGRAM, "--p4info", P4INFO, *interfaces, *arguments)
        asyncio.run(set_up(self.running.address, hosts))

    def __enter__(self) -> Between:
        return self

    def __exit__(self, *_: object) -> None:
        self.running.process.kill()
        self.running.process.wait()
        for pipe in (self.running.process.stdout, self.running.process.stderr):
            assert pipe is not None
            pipe.close()

    def iperf3(self, seconds: int) -> list[float]:
        """A transfer from the first host to the second: Mb/s of each second at the receiver, the
        first and the last ones aside, in which it began and ended."""
        first, second = self.hosts
        server = subprocess.Popen(
            second.command("iperf3", "--server", "--one-off", "--json"),
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            time.sleep(0.5)
            first.run("iperf3", "--client", second.ip, "--time", str(seconds))
            printed, _ = server.communicate(timeout=10)
        finally:
            server.kill()
            server.wait()
        intervals = json.loads(printed)["intervals"]
        return [interval["sum"]["bits_per_second"] / 1e6 for interval in intervals[1 : seconds - 1]]

    def round_trips_ms(self, count: int) -> list[float]:
        """What `ping` would say, which not every machine has: ICMP echoes, one at a time."""
        script = Path(__file__).with_name("ping.py")
        printed = self.hosts[0].run("python3", str(script), self.hosts[1].ip, str(count))
        return [float(line) for line in printed.split()]


@needs("iperf3")
@pytest.mark.parametrize(("rate", "mbps"), [("5Mbps", 5.0), ("50Mbps", 50.0)])
def test_linux_tcp_gets_the_configured_rate_within_one_percent(
    hosts: tuple[LinuxHost, LinuxHost], rate: str, mbps: float
) -> None:
    arguments = ("--rate", f"2={rate}", "--queue", "2=100ms", "--counts", "ip")
    with Between(hosts, *arguments, "--delay", "2=2ms") as between:
        seconds = between.iperf3(6)
        code, errors = between.running.end()
    assert (code, errors) == (0, "")
    assert len(seconds) == 4
    # The median, since a virtual machine stands still for some 50 ms now and then.
    goodput = statistics.median(seconds)
    assert goodput == pytest.approx(mbps * TCP_SHARE, rel=0.01), (seconds, between.running.lines)
    assert any(line.startswith("port 2: rate off by") for line in between.running.lines)


@needs()
def test_the_delay_of_a_cable_is_in_the_round_trip_and_a_controller_is_heard_meanwhile(
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
    assert len(round_trips) == 10
    # A late poll adds to it, nothing takes away from it.
    assert 25.0 <= min(round_trips) < 27.0, round_trips
    assert (rate_bps, entries, dequeued) == (7_000_000, 2, 10)
