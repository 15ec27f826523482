"""A live switch between two hosts with the kernel's TCP."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import finsy as fy
import pytest

from narrows.testbed.targets.linux.namespaces import Namespace, Plumbing, missing
from tests.support.needs import without
from tests.support.real_time import judged
from tests.support.switch_command import P4INFO, PROGRAM, Running

TCP_SHARE = 1448 / 1500


"""Of an IP packet at Linux's usual MSS: what iperf3 calls bits are the payload's."""


ROUTER_MAC = "02:00:0a:09:00:fe"


def needs(*programs: str) -> pytest.MarkDecorator:
    """Skips a test if the machine lacks namespaces or these programs."""
    lacking = missing() + [
        f"{name} is not installed" for name in programs if not shutil.which(name)
    ]
    return without(lacking)


@dataclass(frozen=True)
class LinuxHost:
    """A namespace behind one port."""

    namespace: Namespace
    ip: str
    mac: str


@pytest.fixture(scope="module")
def hosts() -> Iterator[tuple[LinuxHost, LinuxHost]]:
    with Plumbing() as plumbing:
        made = [
            LinuxHost(plumbing.add_host(name, ip, mac, ROUTER_MAC), ip, mac)
            for name, ip, mac in (
                ("a", "10.9.1.1", "02:00:0a:09:01:01"),
                ("b", "10.9.2.1", "02:00:0a:09:02:01"),
            )
        ]
        for host in made:
            keep_filling(host.namespace)
        yield made[0], made[1]


def keep_filling(namespace: Namespace) -> None:
    """Makes its senders CUBIC: BBR, the default of some kernels, sometimes leaves a link idle."""
    route = namespace.run("ip", "route", "show", "default").split()
    namespace.run("ip", "route", "change", *route, "congctl", "cubic")


def route(host: LinuxHost, port: int) -> Any:
    """All packets to a host, by a port."""
    return fy.P4TableEntry(
        "ipv4_lpm",
        match=fy.P4TableMatch({"hdr.ipv4.dst_addr": f"{host.ip}/32"}),
        action=fy.P4TableAction("route", port=port, src_mac=ROUTER_MAC, dst_mac=host.mac),
    )


async def set_up(address: str, hosts: tuple[LinuxHost, LinuxHost]) -> None:
    options = fy.SwitchOptions(device_id=0, p4info=P4INFO)
    async with fy.Switch("sw", address, options) as switch:
        await switch.write([+route(host, port) for port, host in enumerate(hosts, start=1)])


class Between:
    """A running switch between two Linux hosts: port 2, the bottleneck, leads to the second."""

    def __init__(
        self,
        hosts: tuple[LinuxHost, LinuxHost],
        *arguments: str,
        driver: str = "net_af_packet",
        options: str = "",
    ) -> None:
        self.hosts = hosts
        interfaces = [
            text
            for port, host in enumerate(hosts, start=1)
            for text in ("--port", f"{port}={driver}{port},iface={host.namespace.outside}{options}")
        ]
        self.running = Running(PROGRAM, "--p4info", P4INFO, *interfaces, *arguments)
        asyncio.run(set_up(self.running.address, hosts))

    def __enter__(self) -> Between:
        return self

    def __exit__(self, *_: object) -> None:
        put_away(self.running)

    def iperf3(self, seconds: int) -> list[float]:
        """A transfer from the first host to the second:

        Mb/s of each second at the receiver, without the first and the last one, in which it begins
        and ends.
        """
        first, second = self.hosts
        server = subprocess.Popen(
            second.namespace.command("iperf3", "--server", "--one-off", "--json"),
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            time.sleep(0.5)
            first.namespace.run("iperf3", "--client", second.ip, "--time", str(seconds))
            printed, _ = server.communicate(timeout=10)
        finally:
            server.kill()
            server.wait()
        intervals = json.loads(printed)["intervals"]
        return [interval["sum"]["bits_per_second"] / 1e6 for interval in intervals[1 : seconds - 1]]

    def round_trips_ms(self, count: int) -> list[float]:
        """ICMP echoes, one at a time, as by `ping`, which not every machine has."""
        script = Path(__file__).with_name("ping.py")
        arguments = (str(script), self.hosts[1].ip, str(count))
        printed = self.hosts[0].namespace.run(sys.executable, *arguments)
        return [float(line) for line in printed.split()]

    def end(self) -> None:
        """Ends it as an operator would."""
        code, errors = self.running.end()
        assert (code, errors) == (0, "")

    def busy_seconds(self, port: int) -> int:
        """For how many whole seconds the port always sent; it says so when it ends."""
        pattern = re.compile(rf"port {port}: rate off by .* over (\d+) busy seconds")
        return sum(int(found[1]) for found in map(pattern.fullmatch, self.running.lines) if found)

    def judge(self, measured: float, expected: Any) -> None:
        """Compares, after the end."""
        with judged(self.running.longest_gap_us()):
            assert measured == expected


def put_away(running: Running) -> None:
    """Ends a switch that may have ended already."""
    running.process.kill()
    running.process.wait()
    for pipe in (running.process.stdout, running.process.stderr):
        assert pipe is not None
        pipe.close()
