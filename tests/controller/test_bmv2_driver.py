"""bmv2's traffic manager through the Thrift driver: the driver's answers, and bmv2's behaviour."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import TypeVar

import pytest

from narrows.controller.__main__ import main
from narrows.controller.client import SwitchClient
from narrows.controller.errors import DriverError
from narrows.controller.state import SwitchState
from narrows.schema.switch import QueueLimit
from narrows.testbed.targets.bmv2.switch import THRIFT_PORT, Bmv2
from tests.controller.test_controller_switch import frame
from tests.support.controller_state import everything_on
from tests.support.p4rt import BOTTLENECK
from tests.support.switches import DEVICE, bmv2, lacking_for_bmv2

pytest.importorskip("thriftpy2", reason="thriftpy2 is not installed (the extra `bmv2`)")

from narrows.controller.drivers.bmv2 import Bmv2Driver

Result = TypeVar("Result")
FRAME_BYTES = 1000
ETH_P_ALL = 3
QUIET_S = 1.0
BURST = 30
"""bmv2's ports take 32 packets at once: of a burst of 40 on a veth, 8 never reach its program."""


@pytest.fixture(scope="module")
def switch() -> Iterator[Bmv2]:
    if reason := lacking_for_bmv2():
        pytest.skip(reason)
    with bmv2() as started:
        yield started


def on(switch: Bmv2, work: Callable[[Bmv2Driver], Result]) -> Result:
    with closing(switch.thrift(FRAME_BYTES)) as driver:
        return work(driver)


def set_rate(switch: Bmv2, rate_bps: int, port: int = 2) -> int:
    return on(switch, lambda driver: asyncio.run(driver.set_rate(port, rate_bps)))


def set_limit(switch: Bmv2, limit: QueueLimit) -> QueueLimit:
    return on(switch, lambda driver: asyncio.run(driver.set_queue_limit(2, limit)))


def packet_socket(interface: str) -> socket.socket:
    # Without a protocol it receives nothing until it is bound, so no foreign frames (packet(7)).
    made = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    made.bind((interface, ETH_P_ALL))
    made.settimeout(QUIET_S)
    return made


def burst(switch: Bmv2, packets: int) -> tuple[int, float]:
    """Sends a burst of packets; returns how many come out, and the seconds until the last."""
    sent = frame(0x0A000001, 0x0A000002, FRAME_BYTES)

    there = switch.namespace.outside
    with packet_socket(there[1]) as source, packet_socket(there[2]) as sink:
        began, last, count = time.monotonic(), 0.0, 0
        for _ in range(packets):
            source.send(sent)
        try:
            while True:
                if sink.recv(2048)[30:34] == sent[30:34]:
                    count, last = count + 1, time.monotonic() - began
        except TimeoutError:
            return count, last


def test_a_rate_is_whole_packets_per_second(switch: Bmv2) -> None:
    # Packets of 8,000 bits: 625 a second; 1.4999 are one, 1.5 are two, and less than one is one.
    for asked, in_force in ((5_000_000, 5_000_000), (11_999, 8_000), (12_000, 16_000), (1, 8_000)):
        assert set_rate(switch, asked) == in_force


def test_a_limit_is_whole_packets(switch: Bmv2) -> None:
    limits: list[tuple[QueueLimit, int]] = [
        ({"packets": 7}, 7),
        ({"bytes": 7999}, 7),
        ({"bytes": 1}, 1),
    ]
    for asked, packets in limits:
        assert set_limit(switch, asked) == {"packets": packets}


def test_a_time_is_what_leaves_in_it(switch: Bmv2) -> None:
    # 625 packets a second: 20 ms are 12.5, 1 ms is less than one.
    async def both(driver: Bmv2Driver) -> list[QueueLimit]:
        await driver.set_rate(2, 5_000_000)
        return [await driver.set_queue_limit(2, {"time_ps": ms * 10**9}) for ms in (20, 1)]

    assert on(switch, lambda driver: asyncio.run(both(driver))) == [{"packets": 12}, {"packets": 1}]


def test_what_bmv2_has_no_words_for(switch: Bmv2) -> None:
    refused: list[tuple[QueueLimit, str]] = [
        ({"time_ps": 10**9}, "limit in time_ps: expected packets, bytes, or a time after a rate"),
        ({"packets": 0}, "0 packets: expected 1 to 2147483647"),
        ({"packets": 2**31}, "2147483648 packets: expected 1 to"),
    ]
    for limit, words in refused:
        with pytest.raises(DriverError, match=words):
            set_limit(switch, limit)
    with pytest.raises(DriverError, match="rate_bps = 0: expected 1 to"):
        set_rate(switch, 0)
    with pytest.raises(DriverError, match="port 9: expected one of 1, 2, 3"):
        set_rate(switch, 1_000_000, port=9)
    with pytest.raises(DriverError, match="port 2: bmv2 does not report"):
        on(switch, lambda driver: asyncio.run(driver.queue_state(2)))


def test_no_server() -> None:
    with pytest.raises(DriverError, match=r"127\.0\.0\.1:1: no Thrift server"):
        Bmv2Driver("127.0.0.1", 1, FRAME_BYTES).__enter__()


def test_bmv2_does_what_it_was_told(switch: Bmv2) -> None:
    state = everything_on()
    plain = tuple(
        one for one in state.entries if "random_loss" not in one.table and "report" not in one.table
    )

    async def push() -> None:
        p4info, program = BOTTLENECK
        async with SwitchClient(
            switch.address, p4info=p4info, program=program, device_id=DEVICE
        ) as client:
            await client.make(SwitchState(plain))

    asyncio.run(push())
    # 100 packets a second: each but the first waits 10 ms more than the one before.
    assert set_rate(switch, 800_000) == 800_000
    set_limit(switch, {"packets": 100})
    count, seconds = burst(switch, BURST)
    assert count == BURST
    assert seconds > 0.28
    # 10 wait. How many leave while the others arrive depends on the machine.
    set_limit(switch, {"packets": 10})
    count, _ = burst(switch, BURST)
    assert 10 <= count < BURST


def test_the_command_sets_bmv2(switch: Bmv2, capsys: pytest.CaptureFixture[str]) -> None:
    at = ["--address", switch.address, "--device-id", str(DEVICE)]
    at += ["--thrift", f"127.0.0.1:{THRIFT_PORT}", "--packet-bytes", "1500"]
    # 5 Mb/s are 416.67 packets of 12,000 bits: 417 are set.
    assert switch.namespace.call(lambda: main([*at, "set-rate", "2", "5Mbps"])) == 0
    assert switch.namespace.call(lambda: main([*at, "set-queue", "2", "20kB"])) == 0
    assert capsys.readouterr().out == "rate_bps 5004000\npackets 13\n"
    assert switch.namespace.call(lambda: main([*at, "queue", "2"])) == 1
    assert "bmv2 does not report" in capsys.readouterr().err
