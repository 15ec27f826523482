"""Our TCP and the kernel's over IPv6: every byte, segment sizes, options and marks."""

from __future__ import annotations

from typing import Any

import pytest

from tests.interop.conftest import MakePair
from tests.interop.port import Tcp
from tests.interop.stack import TcpInfo
from tests.interop.test_lifecycle import exchange_with_marks
from tests.interop.test_transfer import PATHS, VARIANTS, exchange


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("we_connect", [True, False], ids=["client", "server"])
def test_bulk_both_ways(make_pair: MakePair, path: str, we_connect: bool) -> None:
    pair = make_pair(ip_version=6, delay_ms=2, **PATHS[path])
    ours, theirs = pair.established(we_connect)
    exchange(pair, ours, theirs, 400_000, 400_000)
    pair.run_until(lambda: ours.connection.state in ("TIME-WAIT", "CLOSED"))


def test_every_variant_sends_to_the_kernel(make_pair: MakePair) -> None:
    pair = make_pair(ip_version=6, delay_ms=1)
    for port, variant in enumerate(VARIANTS, 6000):
        ours, theirs = pair.established(True, port, variant=variant)
        exchange(pair, ours, theirs, 100_000, 0)


@pytest.mark.parametrize("we_connect", [True, False], ids=["client", "server"])
def test_segments_are_20_bytes_shorter(make_pair: MakePair, we_connect: bool) -> None:
    """1,500 bytes less 40 of IP, 20 of TCP, 12 of timestamps."""
    pair = make_pair(ip_version=6)
    sizes: dict[str, set[int]] = {"inward": set(), "outward": set()}

    def look(frame: bytes, direction: str) -> bytes:
        sizes[direction].add(Tcp.of(frame).payload_bytes)
        return frame

    pair.port.inward.change = lambda frame: look(frame, "inward")
    pair.port.outward.change = lambda frame: look(frame, "outward")
    ours, theirs = pair.established(we_connect)
    exchange(pair, ours, theirs, 50_000, 50_000)
    assert {name: max(seen) for name, seen in sizes.items()} == {"inward": 1428, "outward": 1428}
    assert theirs.info().snd_mss == 1428


@pytest.mark.parametrize("size", [1, 1427, 1428, 1429, 65_536])
def test_sizes_around_segments_and_windows(make_pair: MakePair, size: int) -> None:
    pair = make_pair(ip_version=6)
    for port, we_connect in ((7001, True), (7002, False)):
        ours, theirs = pair.established(we_connect, port)
        exchange(pair, ours, theirs, size, size)


@pytest.mark.parametrize(
    ("options", "agreed"),
    [({}, 7), ({"timestamps": False}, TcpInfo.SACK | TcpInfo.WSCALE), ({"ecn": True}, 15)],
)
def test_options_are_agreed_upon(make_pair: MakePair, options: dict[str, Any], agreed: int) -> None:
    pair = make_pair(ip_version=6)
    pair.host.set_sysctl("net.ipv4.tcp_ecn", "1")
    ours, theirs = pair.established(True, **options)
    assert theirs.info().options & 15 == agreed
    exchange(pair, ours, theirs, 50_000, 50_000)


@pytest.mark.parametrize("direction", ["inward", "outward"])
def test_congestion_marks_are_echoed(make_pair: MakePair, direction: str) -> None:
    exchange_with_marks(make_pair(ip_version=6, delay_ms=2), direction)
