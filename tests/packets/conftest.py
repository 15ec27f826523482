"""The targets: each is started once for all tests, and skipped by name if it cannot start."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager

import pytest

from narrows.controller.client import SwitchClient
from narrows.controller.drivers import TrafficManager
from narrows.controller.drivers.gnmi import GnmiDriver
from narrows.testbed import engine
from narrows.testbed.targets.linux import namespaces
from narrows.testbed.targets.linux.namespaces import Plumbing
from tests.controller.test_controller_switch import running
from tests.packets.target import PORTS, Target, ready
from tests.packets.wires import InProcess, Interfaces, packet_socket
from tests.support.live_switch import put_away
from tests.support.p4rt import BOTTLENECK
from tests.support.switch_command import Running
from tests.support.switches import DEVICE, bmv2, lacking_for_bmv2

FRAME_BYTES = 1000
"""The packet length that bmv2's rates in packets per second assume."""
ETHERNET_BYTES = 14
LEAST_FRAME_BYTES = 60
"""A card pads shorter frames."""


def client(address: str, device: int = 0) -> SwitchClient:
    p4info, program = BOTTLENECK
    return SwitchClient(address, p4info=p4info, program=program, device_id=device, force=True)


def gnmi(connected: SwitchClient) -> TrafficManager:
    assert connected.gnmi is not None
    return GnmiDriver(connected.gnmi)


@contextmanager
def in_process() -> Iterator[Target]:
    """Our switch in this process."""
    with running() as (switch, address), asyncio.Runner() as runner:
        yield ready(runner, "engine", client(address), gnmi, InProcess(switch))


@contextmanager
def narrows() -> Iterator[Target]:
    """`narrows switch` on one end of veths, the tester on the other. Two cores have a pipeline
    each, so that packets from SOURCE to SINK cross; `engine` is one pipeline."""
    if lacking := namespaces.missing():
        pytest.skip(lacking[0])
    if engine.dpdk_version() is None:
        pytest.skip("needs libdpdk: narrows doctor")
    with Plumbing() as plumbing, asyncio.Runner() as runner:
        there = plumbing.add_switch(0, PORTS)
        interfaces = [f"{port}@{name}" for port, name in there.outside.items()]
        arguments = [word for text in interfaces for word in ("-i", text)]
        switch = Running("--no-p4", "--timestamp-unit", "ns", "--workers", "2", *arguments)
        sockets = there.call(lambda: {port: packet_socket(f"p{port}") for port in PORTS})
        try:
            # DPDK's net_af_packet requests it (PACKET_FANOUT_FLAG_DEFRAG).
            ends = Interfaces(sockets, ETHERNET_BYTES, keeps_fragments=False)
            with closing(ends) as wires:
                yield ready(runner, "narrows", client(switch.address), gnmi, wires)
        finally:
            put_away(switch)


@contextmanager
def bmv2_target() -> Iterator[Target]:
    """bmv2 on veths."""
    if reason := lacking_for_bmv2():
        pytest.skip(reason)
    with bmv2() as switch, asyncio.Runner() as runner:
        sockets = {port: packet_socket(name) for port, name in switch.namespace.outside.items()}
        with (
            closing(Interfaces(sockets, ETHERNET_BYTES)) as wires,
            closing(switch.thrift(FRAME_BYTES)) as driver,
        ):
            connection = client(switch.address, DEVICE)
            yield ready(runner, "bmv2", connection, lambda _: driver, wires, tick_ns=1000)


@contextmanager
def hardware() -> Iterator[Target]:
    """The switch that the environment variables name."""
    if "NARROWS_SWITCH" not in os.environ:
        pytest.skip("NARROWS_SWITCH and NARROWS_SWITCH_PORTS name no switch")
    given = (text.partition("@") for text in os.environ["NARROWS_SWITCH_PORTS"].split(","))
    sockets = {int(port): packet_socket(interface) for port, _, interface in given}
    with closing(Interfaces(sockets, LEAST_FRAME_BYTES)) as wires, asyncio.Runner() as runner:
        connection = client(os.environ["NARROWS_SWITCH"])
        if "NARROWS_SWITCH_THRIFT" not in os.environ:
            yield ready(runner, "hardware", connection, gnmi, wires)
            return
        from narrows.controller.drivers.bmv2 import Bmv2Driver

        host, _, port = os.environ["NARROWS_SWITCH_THRIFT"].rpartition(":")
        with Bmv2Driver(host, int(port), FRAME_BYTES) as driver:
            yield ready(runner, "hardware", connection, lambda _: driver, wires, tick_ns=1000)


TARGETS: dict[str, Callable[[], AbstractContextManager[Target]]] = {
    "engine": in_process,
    "narrows": narrows,
    "bmv2": bmv2_target,
    "hardware": hardware,
}


@pytest.fixture(scope="session", params=list(TARGETS))
def target(request: pytest.FixtureRequest) -> Iterator[Target]:
    with TARGETS[request.param]() as started:
        yield started
