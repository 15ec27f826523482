"""Our TCP and the kernel's carry every byte in both directions over any faulty path."""

from __future__ import annotations

import random
from typing import Any

import pytest

from narrows import _engine
from tests.interop.conftest import MakePair
from tests.interop.port import Direction, Tcp
from tests.interop.stack import Ours, Pair, TcpInfo, Theirs

PATHS = {
    "clean": {},
    "loss": {"loss": 0.03},
    "reordering": {"reordering": 0.05},
    "duplication": {"duplication": 0.05},
    "corruption": {"corruption": 0.02},
    "all": {"loss": 0.01, "reordering": 0.03, "duplication": 0.02, "corruption": 0.01},
}


def exchange(pair: Pair, ours: Ours, theirs: Theirs, our_bytes: int, their_bytes: int) -> None:
    """Both sides write and close; each must read exactly the other's data."""
    rng = random.Random(1)
    texts = [rng.randbytes(size) for size in (our_bytes, their_bytes)]
    ours.to_write += texts[0]
    theirs.to_write += texts[1]
    ours.closes = theirs.closes = True
    pair.run_until(lambda: theirs.has_ended and ours.connection.is_read_to_end)
    assert theirs.received == texts[0]
    assert ours.received == texts[1]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("we_connect", [True, False], ids=["client", "server"])
def test_bulk_both_ways(make_pair: MakePair, path: str, we_connect: bool) -> None:
    pair = make_pair(delay_ms=2, **PATHS[path])
    ours, theirs = pair.established(we_connect)
    exchange(pair, ours, theirs, 400_000, 400_000)
    pair.run_until(lambda: ours.connection.state in ("TIME-WAIT", "CLOSED"))


RECOVERIES = [recovery["name"] for recovery in _engine.recoveries()]
VARIANTS = [variant["name"] for variant in _engine.variants()]


@pytest.mark.parametrize("recovery", RECOVERIES)
def test_every_recovery_repairs_what_the_kernel_did_not_get(
    make_pair: MakePair, recovery: str
) -> None:
    pair = make_pair(delay_ms=2, loss=0.02)
    ours, theirs = pair.established(True, recovery=recovery, variant="reno", min_rto_ps=50 * 10**9)
    exchange(pair, ours, theirs, 300_000, 0)
    assert ours.figure("retransmits") > 0


def test_every_variant_sends_to_the_kernel(make_pair: MakePair) -> None:
    pair = make_pair(delay_ms=1)
    for port, variant in enumerate(VARIANTS, 6000):
        ours, theirs = pair.established(True, port, variant=variant)
        exchange(pair, ours, theirs, 100_000, 0)


@pytest.mark.parametrize("size", [1, 2, 1447, 1448, 1449, 65_535, 65_536])
def test_sizes_around_segments_and_windows(make_pair: MakePair, size: int) -> None:
    pair = make_pair()
    for port, we_connect in ((7001, True), (7002, False)):
        ours, theirs = pair.established(we_connect, port)
        exchange(pair, ours, theirs, size, size)


def drop_every_fortieth(direction: Direction) -> set[int]:
    """Drops every fortieth frame if it has data, each segment once; returns what it dropped."""
    lost: set[int] = set()

    def drop_some(frame: bytes) -> bytes | None:
        tcp = Tcp.of(frame)
        if tcp.payload_bytes and direction.frames % 40 == 0 and tcp.seq not in lost:
            lost.add(tcp.seq)
            return None
        return frame

    direction.change = drop_some
    return lost


def test_with_sack_the_kernel_resends_little_beyond_the_losses(make_pair: MakePair) -> None:
    pair = make_pair(delay_ms=5)
    ours, theirs = pair.established(True)
    lost = drop_every_fortieth(pair.port.inward)
    exchange(pair, ours, theirs, 0, 1_000_000)
    assert len(lost) >= 10
    # Possible extra retransmissions: tail loss probes, and reordering by a late thread.
    assert len(lost) <= theirs.info().retransmitted <= 1.3 * len(lost) + 5


def test_with_sack_we_send_little_more_again_than_was_lost(make_pair: MakePair) -> None:
    pair = make_pair(delay_ms=5)
    ours, theirs = pair.established(True)
    lost = drop_every_fortieth(pair.port.outward)
    exchange(pair, ours, theirs, 1_000_000, 0)
    assert len(lost) >= 10
    assert len(lost) <= ours.figure("retransmits") <= 1.1 * len(lost) + 3
    assert ours.figure("timeouts") <= 1


@pytest.mark.parametrize("we_send", [True, False], ids=["ours", "kernel's"])
def test_a_scaled_window_is_filled(make_pair: MakePair, we_send: bool) -> None:
    # 40 ms a round trip: without scaling, never more than 65,535 bytes in flight.
    pair = make_pair(delay_ms=20)
    ours, theirs = pair.established(True, their_buffer_bytes=2_000_000)
    in_flight: list[int] = [0]

    def look() -> None:
        info = theirs.info()
        theirs_bytes = info.unacked * info.snd_mss
        in_flight.append(ours.figure("in_flight_bytes") if we_send else theirs_bytes)

    pair.on_step.append(look)
    exchange(pair, ours, theirs, *((2_000_000, 0) if we_send else (0, 2_000_000)))
    assert max(in_flight) > 150_000


@pytest.mark.parametrize("we_connect", [True, False], ids=["client", "server"])
@pytest.mark.parametrize(
    ("ours_offers", "kernel_allows", "agreed"),
    [
        ({}, {}, TcpInfo.TIMESTAMPS | TcpInfo.SACK | TcpInfo.WSCALE),
        ({"timestamps": False}, {}, TcpInfo.SACK | TcpInfo.WSCALE),
        ({"sack": False, "recovery": "newreno"}, {}, TcpInfo.TIMESTAMPS | TcpInfo.WSCALE),
        ({}, {"tcp_sack": "0"}, TcpInfo.TIMESTAMPS | TcpInfo.WSCALE),
        ({}, {"tcp_timestamps": "0"}, TcpInfo.SACK | TcpInfo.WSCALE),
        ({}, {"tcp_window_scaling": "0"}, TcpInfo.TIMESTAMPS | TcpInfo.SACK),
        ({"ecn": True}, {"tcp_ecn": "1"}, 15),
        ({"ecn": False}, {"tcp_ecn": "1"}, 7),
        ({"ecn": True}, {"tcp_ecn": "0"}, 7),
    ],
)
def test_options_are_agreed_upon(
    make_pair: MakePair,
    we_connect: bool,
    ours_offers: dict[str, Any],
    kernel_allows: dict[str, str],
    agreed: int,
) -> None:
    pair = make_pair(loss=0.02)
    for key, value in kernel_allows.items():
        pair.host.set_sysctl(f"net.ipv4.{key}", value)
    ours, theirs = pair.established(we_connect, **ours_offers)
    if we_connect:
        assert theirs.info().options & 15 == agreed
    exchange(pair, ours, theirs, 50_000, 50_000)


def test_the_kernel_s_small_mss_is_kept(make_pair: MakePair) -> None:
    pair = make_pair()
    pair.host.run("ip", "link", "set", "eth0", "mtu", "600")
    sizes: set[int] = set()

    def look(frame: bytes) -> bytes:
        sizes.add(Tcp.of(frame).payload_bytes)
        return frame

    pair.port.outward.change = look
    ours, theirs = pair.established(True)
    exchange(pair, ours, theirs, 50_000, 50_000)
    # 600 bytes less 20 of IP, 20 of TCP, 12 of timestamps.
    assert max(sizes) == 548


@pytest.mark.parametrize("segment_bytes", [100, 536, 1448])
def test_our_small_mss_is_kept_by_the_kernel(make_pair: MakePair, segment_bytes: int) -> None:
    pair = make_pair()
    ours, theirs = pair.established(True, segment_bytes=segment_bytes)
    assert theirs.info().snd_mss == segment_bytes
    exchange(pair, ours, theirs, 20_000, 20_000)
