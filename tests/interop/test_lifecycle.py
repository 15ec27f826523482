"""Connections with the kernel: how they begin, pause and end."""

from __future__ import annotations

import errno
import itertools
import random
import socket
import struct

import pytest

from tests.interop.conftest import MakePair
from tests.interop.port import Tcp, marked
from tests.interop.stack import Pair, TcpInfo


class Dropper:
    """Drops the first frames of a direction that have these flags."""

    def __init__(self, flags: int, count: int) -> None:
        self.flags, self.left = flags, count

    def __call__(self, frame: bytes) -> bytes | None:
        if self.left and Tcp.of(frame).flags & self.flags == self.flags:
            self.left -= 1
            return None
        return frame


def text(size: int) -> bytes:
    return random.Random(size).randbytes(size)


@pytest.mark.parametrize("we_connect", [True, False], ids=["client", "server"])
@pytest.mark.parametrize("what", ["syn", "syn-ack", "last-ack"])
def test_a_handshake_s_lost_segment_is_sent_again(
    make_pair: MakePair, we_connect: bool, what: str
) -> None:
    pair = make_pair()
    flags = {"syn": Tcp.SYN, "syn-ack": Tcp.SYN | Tcp.ACK, "last-ack": Tcp.ACK}[what]
    from_us = we_connect == (what != "syn-ack")
    direction = pair.port.outward if from_us else pair.port.inward
    dropper = direction.change = Dropper(flags, 1)
    ours, theirs = pair.established(we_connect)
    assert dropper.left == 0
    ours.to_write += text(10_000)
    theirs.to_write += text(20_000)
    pair.run_until(lambda: (len(theirs.received), len(ours.received)) == (10_000, 20_000))


@pytest.mark.parametrize("who_closes", ["we", "kernel"])
def test_a_half_closed_connection_still_carries_data(make_pair: MakePair, who_closes: str) -> None:
    pair = make_pair(delay_ms=1, loss=0.01)
    ours, theirs = pair.established(True)
    if who_closes == "we":
        ours.closes = True
        pair.run_until(lambda: theirs.has_ended)
        theirs.to_write += text(300_000)
        theirs.closes = True
        pair.run_until(lambda: ours.connection.is_read_to_end)
        assert ours.received == text(300_000)
        pair.run_until(lambda: ours.connection.state == "TIME-WAIT")
    else:
        theirs.closes = True
        pair.run_until(lambda: ours.connection.state == "CLOSE-WAIT")
        ours.to_write += text(300_000)
        ours.closes = True
        pair.run_until(lambda: theirs.has_ended)
        assert theirs.received == text(300_000)
        pair.run_until(lambda: ours.connection.state == "CLOSED")


@pytest.mark.parametrize("who", ["we", "kernel", "both"])
@pytest.mark.parametrize("lost", ["nothing", "our FIN", "its FIN", "the last ACK"])
def test_closing_ends_in_the_right_states(make_pair: MakePair, who: str, lost: str) -> None:
    pair = make_pair()
    ours, theirs = pair.established(True)
    ours.to_write += b"x"
    pair.run_until(lambda: bool(theirs.received) and ours.connection.unacked_bytes == 0)
    if lost == "our FIN":
        pair.port.outward.change = Dropper(Tcp.FIN, 1)
    elif lost == "its FIN":
        pair.port.inward.change = Dropper(Tcp.FIN, 1)
    elif lost == "the last ACK":
        from_us = who != "kernel"
        seen: list[Tcp] = []

        def drop_ack_of_fin(frame: bytes) -> bytes | None:
            tcp = Tcp.of(frame)
            seen.append(tcp)
            is_pure_ack = tcp.flags == Tcp.ACK and tcp.payload_bytes == 0
            if is_pure_ack and not dropped and any(old.flags & Tcp.FIN for old in seen):
                dropped.append(tcp)
                return None
            return frame

        dropped: list[Tcp] = []
        (pair.port.outward if from_us else pair.port.inward).change = drop_ack_of_fin
    if who in ("we", "both"):
        ours.closes = True
    if who in ("kernel", "both"):
        theirs.closes = True
    if who == "we":
        pair.run_until(lambda: theirs.has_ended)
        theirs.closes = True
    elif who == "kernel":
        pair.run_until(lambda: ours.connection.is_read_to_end)
        ours.closes = True
    end = {"we": "TIME-WAIT", "kernel": "CLOSED"}.get(who)
    pair.run_until(
        lambda: theirs.has_ended and ours.connection.state in (end, "TIME-WAIT", "CLOSED")
    )
    if end and lost != "the last ACK":
        assert ours.connection.state == end
    # The kernel's end is closed too.
    pair.run_until(lambda: theirs.info().state in (TcpInfo.TIME_WAIT, TcpInfo.CLOSE))


def test_the_kernel_s_reset_ends_our_connection(make_pair: MakePair) -> None:
    pair = make_pair()
    ours, theirs = pair.established(True)
    # Closing with a linger time of zero sends a reset.
    theirs.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    pair.forget(theirs)
    pair.run_until(lambda: ours.connection.was_reset)
    assert ours.connection.state == "CLOSED"


def test_our_reset_ends_the_kernel_s_connection(make_pair: MakePair) -> None:
    pair = make_pair()
    ours, theirs = pair.established(False)
    theirs.to_write += text(1000)
    pair.run_until(lambda: len(ours.received) == 1000)
    ours.connection.abort()
    pair.run_until(lambda: theirs.error is not None)
    assert theirs.error and theirs.error.errno == errno.ECONNRESET


def test_a_port_where_nobody_listens_refuses_us(make_pair: MakePair) -> None:
    pair = make_pair()
    ours = pair.connect(9)
    pair.run_until(lambda: ours.connection.was_reset)
    assert ours.connection.state == "CLOSED"


def test_data_to_a_socket_that_is_closed_is_reset(make_pair: MakePair) -> None:
    pair = make_pair()
    ours, theirs = pair.established(True)
    pair.forget(theirs)
    pair.run_until(lambda: ours.connection.state == "CLOSE-WAIT")
    ours.to_write += b"too late"
    pair.run_until(lambda: ours.connection.was_reset)


def test_we_wait_for_a_reader_of_the_kernel_s_that_pauses(make_pair: MakePair) -> None:
    pair = make_pair(delay_ms=1)
    ours, theirs = pair.established(True)
    theirs.reads = False
    ours.to_write += text(20_000_000)
    # Its buffer fills and its window closes. Our probes keep the connection alive.
    pair.run_until(lambda: ours.figure("probes") >= 3)
    assert ours.figure("timeouts") == 0
    theirs.reads = True
    ours.closes = True
    pair.run_until(lambda: theirs.has_ended)
    assert theirs.received == text(20_000_000)


def test_the_kernel_waits_for_our_reader_that_pauses(make_pair: MakePair) -> None:
    pair = make_pair(delay_ms=1)
    ours, theirs = pair.established(False, window_bytes=100_000)
    ours.reads = False
    theirs.to_write += text(3_000_000)
    windows: list[int] = []

    def look(frame: bytes) -> bytes:
        windows.append(Tcp.of(frame).window)
        return frame

    pair.port.outward.change = look
    pair.run_until(lambda: 0 in windows)
    # Three probes of the kernel's, 0.2, 0.4, 0.8 s apart, are each answered.
    before = len(windows)
    pair.run_until(lambda: len(windows) >= before + 3)
    assert set(windows[before:]) == {0}
    assert ours.connection.readable_bytes == 100_000
    ours.reads = True
    theirs.closes = True
    pair.run_until(lambda: ours.connection.is_read_to_end)
    assert ours.received == text(3_000_000)


@pytest.mark.parametrize("read_bytes", [100, 1_000])
def test_small_reads_make_no_silly_windows(make_pair: MakePair, read_bytes: int) -> None:
    pair = make_pair()
    ours, theirs = pair.established(False, window_bytes=20_000)
    ours.reads = False
    theirs.to_write += text(60_000)
    edges: list[int] = []

    def look(frame: bytes) -> bytes:
        tcp = Tcp.of(frame)
        edges.append(tcp.ack + tcp.window)
        return frame

    pair.port.outward.change = look
    received = bytearray()

    pair.on_step.append(lambda: received.extend(ours.connection.read(read_bytes)))
    pair.run_until(lambda: len(received) == 60_000)
    assert received == text(60_000)
    # RFC 9293 section 3.8.6.2.2: the window's edge moves by a segment at least, or not at all.
    steps = {after - before for before, after in itertools.pairwise(edges)}
    assert max(steps) > 0
    assert not steps & set(range(1, 1448))


@pytest.mark.parametrize("direction", ["inward", "outward"])
def test_marks_are_echoed_and_answered(make_pair: MakePair, direction: str) -> None:
    exchange_with_marks(make_pair(delay_ms=2), direction)


def exchange_with_marks(pair: Pair, direction: str) -> None:
    """Marks some packets of one direction; the receiver must echo, and the sender answer."""
    pair.host.set_sysctl("net.ipv4.tcp_ecn", "1")
    # A machine that stands still for a few milliseconds would get tail loss probes.
    pair.host.set_sysctl("net.ipv4.tcp_early_retrans", "0")
    ours, theirs = pair.established(True, ecn=True)
    lane = getattr(pair.port, direction)
    seen: list[Tcp] = []
    echoes: list[Tcp] = []

    def mark_some(frame: bytes) -> bytes:
        tcp = Tcp.of(frame)
        seen.append(tcp)
        return marked(frame) if tcp.payload_bytes and len(seen) % 30 == 0 else frame

    def look(frame: bytes) -> bytes:
        tcp = Tcp.of(frame)
        if tcp.flags & Tcp.ECE:
            echoes.append(tcp)
        return frame

    lane.change = mark_some
    other = pair.port.outward if direction == "inward" else pair.port.inward
    other.change = look
    sender = theirs if direction == "inward" else ours
    sender.to_write += text(400_000)
    sender.closes = True
    receiver = theirs if direction == "outward" else ours
    pair.run_until(lambda: len(receiver.received) == 400_000)
    assert echoes, "the receiver echoes a mark until it is answered"
    assert any(tcp.flags & Tcp.CWR for tcp in seen), "the sender answers with CWR"
    if direction == "inward":
        assert ours.figure("ce_marks") > 0
        assert theirs.info().retransmitted == 0
    else:
        assert ours.figure("retransmits") == 0


def keep_alive(pair: Pair, sock: socket.socket) -> None:
    for option, value in (
        (socket.TCP_KEEPIDLE, 1),
        (socket.TCP_KEEPINTVL, 1),
        (socket.TCP_KEEPCNT, 2),
    ):
        sock.setsockopt(socket.IPPROTO_TCP, option, value)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)


def test_the_kernel_s_keep_alives_are_answered(make_pair: MakePair) -> None:
    pair = make_pair()
    ours, theirs = pair.established(False)
    keep_alive(pair, theirs.socket)
    frames = pair.port.inward.frames
    pair.runs_for(2.5)
    assert pair.port.inward.frames >= frames + 2, "two probes came"
    assert theirs.error is None
    theirs.to_write += b"still there"
    pair.run_until(lambda: ours.received == b"still there" and theirs.info().unacked == 0)
    # Without answers, the kernel ends its connection.
    pair.port.outward.change = lambda frame: None
    pair.run_until(lambda: theirs.error is not None)
    assert theirs.error and theirs.error.errno == errno.ETIMEDOUT


def test_our_keep_alives_end_a_connection_only_when_unanswered(make_pair: MakePair) -> None:
    pair = make_pair()
    keep_alive = {"idle_ps": 300 * 10**9, "interval_ps": 200 * 10**9, "probes": 3}
    ours, theirs = pair.established(True, keep_alive=keep_alive)
    frames = pair.port.outward.frames
    pair.runs_for(1.5)
    assert pair.port.outward.frames >= frames + 2, "we probed"
    assert ours.connection.state == "ESTABLISHED"
    theirs.to_write += b"still there"
    pair.run_until(lambda: ours.received == b"still there")
    pair.port.inward.change = lambda frame: None
    pair.run_until(lambda: ours.connection.state == "CLOSED")
    assert ours.connection.has_given_up
    # The kernel's end learns of it by our reset.
    pair.run_until(lambda: theirs.error is not None)
    assert theirs.error and theirs.error.errno == errno.ECONNRESET


def test_our_user_timeout_ends_a_connection_that_nothing_answers(make_pair: MakePair) -> None:
    pair = make_pair()
    ours, _ = pair.established(True, user_timeout_ps=10**12)
    pair.port.outward.change = lambda frame: None
    ours.to_write += text(5_000)
    pair.run_until(lambda: ours.connection.has_given_up)
