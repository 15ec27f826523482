"""The running kernel's variants, its own and ours in eBPF, compared with our TCP's.

A sender of the kernel or of ours loses one segment at a time on an otherwise clean path. The window
after each loss, and its growth per acknowledged segment, must follow the variant's arithmetic,
written out here from its source.
"""

from __future__ import annotations

import math
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from narrows.testbed.targets.linux import variants
from tests.interop.conftest import MakePair
from tests.interop.port import Tcp, now_ns
from tests.interop.stack import Pair
from tests.support.needs import without
from tests.support.real_time import Machine

needs_ebpf = without(variants.missing())

MSS = 1448
LEAST_PEAK = {"vegas": 8}
"""Minimum window in segments before the first loss, by default 100.

Vegas's window stays small if the machine's load lengthens round trips.
"""
GROWTH_SEGMENTS = 1200
"""Number of acknowledged segments over which growth is measured."""


@dataclass
class Losses:
    """The effect of each loss, in segments."""

    peaks: list[float] = field(default_factory=list)
    """The window just before its cut."""
    left: list[float] = field(default_factory=list)
    """The threshold after it."""


Cut = Callable[[float, Losses], float]
"""From the window at a loss, and the earlier losses, to the threshold."""
Growth = Callable[[float, Losses], float]
"""From the window, and the earlier losses, to segments added per acknowledged segment."""


def share(part: float) -> Cut:
    return lambda window, _: window * part


def reno_growth(window: float, _: Losses) -> float:
    return 1 / window


def hstcp_decrease(window: float) -> float:
    """RFC 3649 section 5."""
    return 0.5 - 0.4 * math.log(window / 38) / math.log(83000 / 38)


def hstcp_growth(window: float, _: Losses) -> float:
    b = hstcp_decrease(window)
    return 2 * window * 0.078 / math.pow(window, 1.2) * b / (2 - b)


def bic_growth(window: float, losses: Losses) -> float:
    """A quarter of the distance to the window of the second loss (fast convergence), or 16."""
    first, second = losses.left[0] / (819 / 1024), losses.peaks[1]
    w_max = second if second >= first else second * (1 + 819 / 1024) / 2
    distance = (w_max - window) / 4
    return (min(distance, 16) if distance > 1 else 0.2) / window


def new_aimd_cut(window: float, losses: Losses) -> float:
    """The base is the window after the first loss, halved at each later one."""
    return window - losses.left[0] * math.pow(0.5, len(losses.left))


def aimd_fc_cut(window: float, losses: Losses) -> float:
    return window - losses.left[-1] / 2


def aimd_fc_plus_cut(window: float, losses: Losses) -> float:
    """A quarter of the base if the last two windows differed by at most one segment."""
    return window - losses.left[-1] / (4 if abs(window - losses.peaks[-1]) <= 1 else 2)


RULES: dict[str, tuple[Cut, Growth | None]] = {
    "reno": (share(1 / 2), reno_growth),
    "cubic": (share(0.7), None),
    "scalable": (share(7 / 8), lambda window, _: 1 / min(window, 50)),
    "hstcp": (lambda window, _: window * (1 - hstcp_decrease(window)), hstcp_growth),
    # Round trips of 12 ms are below 25 ms: rho is 1.
    "hybla": (share(1 / 2), reno_growth),
    "bic": (share(819 / 1024), bic_growth),
    # Within a second of the last loss.
    "new-aimd": (new_aimd_cut, reno_growth),
    "aimd-fc": (aimd_fc_cut, reno_growth),
    "aimd-fc-plus": (aimd_fc_plus_cut, reno_growth),
    "vegas": (share(1 / 2), None),
    # Until it is repaired; then the rate that the path carried.
    "westwood": (share(1 / 2), reno_growth),
}
"""Cut and growth of variants where both follow from the window alone."""

BOUNDS = {"veno": (1 / 2, 4 / 5), "yeah": (1 / 2, 7 / 8), "illinois": (1 / 2, 7 / 8),
          "htcp": (1 / 2, 4 / 5)}  # fmt: skip
"""Where round trips decide: minimum and maximum share of the window after a loss."""


@dataclass
class Sample:
    """In segments."""

    cwnd: float
    ssthresh: float
    acked: float
    recovery: int
    """The number differs during the repair of a loss."""


class KernelSender:
    """A socket of the kernel's that sends to us."""

    def __init__(self, pair: Pair, name: str) -> None:
        sock = pair.their_socket()
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())
        pair.listen(7000)
        self.theirs = pair.their_connect(7000, sock)
        self.data, self.acks = pair.port.inward, pair.port.outward

    def write(self, size: int) -> None:
        self.theirs.to_write += bytes(size)

    def sample(self) -> Sample:
        data = self.theirs.socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 128)
        ssthresh, cwnd = struct.unpack_from("=2I", data, 76)
        return Sample(cwnd, ssthresh, int.from_bytes(data[120:128], "little") / MSS, data[1] == 3)


class OurSender:
    """A connection of ours that sends to the kernel."""

    def __init__(self, pair: Pair, variant: str) -> None:
        self.ours, self.theirs = pair.established(True, 7001, 2_000_000, variant=variant)
        self.data, self.acks = pair.port.outward, pair.port.inward

    def write(self, size: int) -> None:
        self.ours.to_write += bytes(size)

    def sample(self) -> Sample:
        names = ("cwnd_bytes", "ssthresh_bytes", "acked_bytes")
        figures = [self.ours.figure(name) for name in names]
        cwnd, ssthresh, acked = ((math.inf if f is None else f / MSS) for f in figures)
        return Sample(cwnd, ssthresh, acked, self.ours.figure("fast_recoveries"))


def until(pair: Pair, condition: Callable[..., bool]) -> None:
    pair.run_until(condition)


def lose_three(
    pair: Pair, sender: KernelSender | OurSender, least_peak: float
) -> tuple[Losses, list[Sample]]:
    """Three losses, some windows apart: the windows after them, and samples after the second."""
    losses, between = Losses(), []
    armed = False

    def drop_when_armed(frame: bytes) -> bytes | None:
        nonlocal armed
        if armed and Tcp.of(frame).payload_bytes == MSS:
            armed = False
            return None
        return frame

    samples = [sender.sample()]
    deliver = sender.acks.deliver

    def sample_and_deliver(frame: bytes) -> None:
        """The sender just before an ACK; at the ACK that reports a loss, the peak."""
        samples.append(sender.sample())
        deliver(frame)

    sender.data.change, sender.acks.deliver = drop_when_armed, sample_and_deliver
    sender.write(40_000_000)
    until(pair, lambda: samples[-1].cwnd >= least_peak)
    for number in range(3):
        before, armed = samples[-1].recovery, True
        until(pair, lambda before=before: samples[-1].recovery != before)
        losses.peaks.append(next(s.cwnd for s in reversed(samples) if s.recovery == before))
        losses.left.append(samples[-1].ssthresh)
        # Two windows later the loss is repaired.
        repaired = samples[-1].acked + 2 * losses.peaks[-1]
        until(pair, lambda repaired=repaired: samples[-1].acked >= repaired)
        start, end = len(samples) - 1, samples[-1].acked + GROWTH_SEGMENTS
        until(pair, lambda end=end: samples[-1].acked >= end)
        if number == 1:
            between = [samples[start], samples[-1]]
    return losses, between


def check_losses(losses: Losses, cut: Cut) -> None:
    """Slow start may continue until the first loss is noticed; the other losses are checked."""
    for number in (1, 2):
        earlier = Losses(losses.peaks[:number], losses.left[:number])
        expected = cut(losses.peaks[number], earlier)
        # The kernel's windows are whole segments, and one of its threads may be late.
        allowed = min(2, losses.peaks[number] / 8)
        assert losses.left[number] == pytest.approx(expected, rel=0.03, abs=allowed)


def check_growth(losses: Losses, between: list[Sample], growth: Growth) -> None:
    first, last = between
    window, earlier = first.cwnd, Losses(losses.peaks[:2], losses.left[:2])
    for _ in range(round(last.acked - first.acked)):
        window += growth(window, earlier)
    assert last.cwnd - first.cwnd == pytest.approx(window - first.cwnd, rel=0.15, abs=1.5)


@needs_ebpf
@pytest.mark.parametrize("variant", BOUNDS)
def test_where_round_trips_decide_a_cut_keeps_its_bounds(
    make_pair: MakePair, variant: str, machine: Machine
) -> None:
    least, greatest = BOUNDS[variant]
    pair = make_pair(delay_ms=6)
    with variants.registered([variant]) as names:
        losses, _ = lose_three(pair, KernelSender(pair, names[variant]), 100)
    with machine.figures():
        for peak, left in list(zip(losses.peaks, losses.left, strict=True))[1:]:
            assert least * peak - 2 <= left <= greatest * peak + 2


@needs_ebpf
@pytest.mark.parametrize("variant", ["reno", "new-aimd", "hybla", "scalable"])
def test_a_window_that_is_not_used_does_not_grow(
    make_pair: MakePair, variant: str, machine: Machine
) -> None:
    pair = make_pair(delay_ms=6)
    with variants.registered([variant]) as names:
        sender = KernelSender(pair, names[variant])
        for _ in range(40):
            sender.write(2 * MSS)
            pair.runs_for(0.02)
        sample = sender.sample()
    # It begins with 10 segments, at most two of them outstanding; a late thread may make it four.
    with machine.figures():
        assert sample.acked > 60
        assert sample.cwnd <= 12


@needs_ebpf
def test_app_tcp_holds_the_rate_of_its_socket(make_pair: MakePair, machine: Machine) -> None:
    pair = make_pair(delay_ms=6)
    with variants.registered(["app-tcp"]) as names:
        sender = KernelSender(pair, names["app-tcp"])
        variants.set_required_rate(sender.theirs.socket, 2_000_000)
        sender.write(10_000_000)
        pair.runs_for(0.5)
        first, began_ns = sender.sample(), now_ns()
        pair.runs_for(1.5)
        last, seconds = sender.sample(), (now_ns() - began_ns) / 1e9
    # Windows are whole segments, about 17 of them, and round trips here vary with the load.
    with machine.figures():
        assert (last.acked - first.acked) * MSS / seconds == pytest.approx(2_000_000, rel=0.2)


USER = """
import sys
from narrows.testbed.targets.linux.variants import registered
with registered(["scalable"]) as names:
    print(*names.values(), flush=True)
    sys.stdin.read()
"""


@needs_ebpf
@pytest.mark.parametrize("end", [None, signal.SIGINT, signal.SIGKILL], ids=["done", "INT", "KILL"])
def test_a_variant_is_there_for_as_long_as_somebody_uses_it(end: signal.Signals | None) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", USER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as user:
        assert user.stdout
        assert user.stdout.readline().split() == ["nw_scalable"]
        with variants.registered(["scalable", "reno"]) as names:
            assert names == {"scalable": "nw_scalable", "reno": "reno"}
            if end:
                user.send_signal(end)
            user.communicate()
            variants.sweep()
            assert "nw_scalable" in variants.registered_names(), "we still use it"
    assert "nw_scalable" not in variants.registered_names()


@needs_ebpf
def test_what_a_killed_user_left_is_taken_out_by_the_next() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", USER], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as user:
        assert user.stdout
        user.stdout.readline()
        user.kill()
    assert "nw_scalable" in variants.registered_names()
    with variants.registered(["vegas"]):
        assert "nw_scalable" not in variants.registered_names()


def test_an_unknown_variant_is_refused_with_the_known_ones() -> None:
    with pytest.raises(variants.VariantError, match=r'variant "vega" is neither .* vegas, veno'):
        variants.registered(["vega"]).__enter__()


@needs_ebpf
@pytest.mark.parametrize("who", ["kernel", "ours"])
@pytest.mark.parametrize("variant", RULES)
def test_cut_and_growth_are_the_variant_s(
    make_pair: MakePair, variant: str, who: str, machine: Machine
) -> None:
    cut, growth = RULES[variant]
    pair = make_pair(delay_ms=6)
    with variants.registered([variant]) as names:
        sender = KernelSender(pair, names[variant]) if who == "kernel" else OurSender(pair, variant)
        losses, between = lose_three(pair, sender, LEAST_PEAK.get(variant, 100))
    with machine.figures():
        check_losses(losses, cut)
        if growth:
            check_growth(losses, between, growth)
