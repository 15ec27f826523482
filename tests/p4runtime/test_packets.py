"""Packets and digests between a controller and the switch."""

from __future__ import annotations

import asyncio
from typing import Any

import finsy as fy

from tests.p4runtime.messages import (
    drive,
    frame,
)
from tests.support.p4rt import CONTROL, Served

PROGRAM = CONTROL


def test_packets_to_and_from_a_controller(served: Served) -> None:
    async def exchange(switch: Any) -> Any:
        punt = fy.P4TableEntry(
            "forward",
            match=fy.P4TableMatch({"hdr.ethernet.dst": 0x5}),
            action=fy.P4TableAction("to_controller", reason=9),
        )
        await switch.write([+punt])
        served.send(3, frame(5))
        async with asyncio.timeout(10):
            packet = await anext(switch.read_packets())
        await switch.write([fy.P4PacketOut(frame(6), egress_port=2, pad=0)])
        async with asyncio.timeout(10):
            while not (sent := served.switch.run_until(0)):
                await asyncio.sleep(0.01)
        return packet, sent

    packet, sent = drive(served, exchange)
    assert packet.payload == frame(5)
    assert (packet["ingress_port"], packet["reason"]) == (3, 9)
    assert [(port, data) for port, _, _, data in sent] == [(2, frame(6))]


def test_digests_are_sent_once_until_acknowledged(served: Served) -> None:
    async def learn(switch: Any) -> Any:
        learn = fy.P4TableEntry(
            "prefixes",
            match=fy.P4TableMatch({"std.ingress_port": 1}),
            action=fy.P4TableAction("learn"),
        )
        digest = fy.P4DigestEntry("Seen", max_list_size=2, ack_timeout_ns=60 * 10**9)
        await switch.write([+learn, +digest])
        lists = []
        # The first source was not acknowledged, so it is not sent again.
        sources = iter([(0xA, 0xB), ()])
        served.send(1, frame(1, 0xA))
        async with asyncio.timeout(10):
            async for found in switch.read_digests("Seen"):
                lists.append([dict(one) for one in found.data])
                for source in next(sources):
                    served.send(1, frame(1, source))
                if len(lists) == 2:
                    break
        return lists

    first, second = drive(served, learn)
    assert [one["src"] for one in first] == [0xA]
    assert [one["src"] for one in second] == [0xB]
    assert first[0]["port"] == 1
