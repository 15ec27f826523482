"""The kernel's BBR against the arithmetic of ours (`hosts/src/cc/bbr/mod.rs`), ACK by ACK.

The socket shows its model of the path (TCP_CC_INFO: bandwidth, minimum round trip, gains), and its
window and pacing rate (TCP_INFO). `hosts/tests/bbr.rs` checks ours against the same arithmetic.
"""

from __future__ import annotations

import itertools
import math
import socket
import struct
from dataclasses import dataclass

import pytest

from tests.interop.conftest import MakePair
from tests.interop.port import Faults, now_ns
from tests.interop.test_kernel_variants import MSS, KernelSender
from tests.support.real_time import Machine

TCP_CC_INFO = 26
SEGMENT_NS = 600_000
"""A bottleneck of 19.3 Mb/s."""
DELAY_MS = 10.0
SECONDS = 2.5
STARTUP, DRAIN = 2 / math.log(2), math.log(2) / 2


class Bottleneck(Faults):
    """Lets a segment through every `SEGMENT_NS`."""

    free_ns = 0

    @property
    def delay_ms(self) -> float:
        """Of the frame that asks."""
        now = now_ns()
        self.free_ns = max(self.free_ns, now) + SEGMENT_NS
        return (self.free_ns - now) / 1e6 + DELAY_MS

    @delay_ms.setter
    def delay_ms(self, _: float) -> None:
        pass


@dataclass(frozen=True)
class Sample:
    """Behind an ACK."""

    bandwidth: int
    """Bytes a second."""
    min_rtt_s: float
    pacing_gain: float
    cwnd_gain: float
    cwnd: int
    pace: int

    @classmethod
    def of(cls, sock: socket.socket) -> Sample:
        info = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 112)
        model = sock.getsockopt(socket.IPPROTO_TCP, TCP_CC_INFO, 20)
        bandwidth, min_rtt_us, pacing_gain, cwnd_gain = struct.unpack("=QIII", model)
        [cwnd], [pace] = struct.unpack_from("=I", info, 80), struct.unpack_from("=Q", info, 104)
        return cls(bandwidth, min_rtt_us / 1e6, pacing_gain / 256, cwnd_gain / 256, cwnd, pace)

    @property
    def windows(self) -> tuple[int, int]:
        """Minimum and maximum window in segments.

        The window is twice the path and three bursts, rounded to even, and two more when probing.
        ACK aggregation adds at most 100 ms of the bandwidth.
        """
        path = math.ceil(self.bandwidth * self.min_rtt_s * self.cwnd_gain / MSS)
        bursts = 3 * max(self.pace // 1024 // MSS, 2)
        together = self.bandwidth / 10 / MSS
        return path + bursts - 1, math.ceil(path + bursts + together) + 3


def check(known: list[Sample]) -> None:
    """A model's samples agree with one another and with its cycle."""
    for sample in known:
        expected = 0.99 * sample.pacing_gain * sample.bandwidth
        # Until the pipe is full the pacing rate only rises, from that of the first window in a
        # round trip.
        is_starting = sample.pacing_gain > 2 and sample.pace > expected
        assert is_starting or sample.pace == pytest.approx(expected, rel=1e-3)
    gains = [gain for gain, _ in itertools.groupby(sample.pacing_gain for sample in known)]
    assert gains[:2] == [pytest.approx(STARTUP, rel=2e-3), pytest.approx(DRAIN, rel=1e-2)]
    # The cycle may begin anywhere except with 3/4, which only follows 5/4.
    follows = {1.25: 0.75, 0.75: 1.0, 1.0: 1.25}
    cycle = gains[2:]
    assert len(cycle) > 6 and cycle[0] != 0.75
    assert all(follows[a] == b for a, b in itertools.pairwise(cycle))
    steady = [sample for sample in known if sample.cwnd_gain == 2]
    for before, sample in itertools.pairwise(steady):
        least, greatest = sample.windows
        # A window that the model has raised grows by the delivered bytes.
        assert least <= sample.cwnd <= greatest or sample.cwnd > before.cwnd
        assert sample.cwnd % 2 == 0 or sample.cwnd > before.cwnd


def test_window_and_pace_follow_from_the_model(make_pair: MakePair, machine: Machine) -> None:
    pair = make_pair(delay_ms=DELAY_MS)
    sender = KernelSender(pair, "bbr")
    sender.data.faults = Bottleneck()
    samples: list[Sample] = []
    deliver = sender.acks.deliver

    def deliver_and_sample(frame: bytes) -> None:
        deliver(frame)
        samples.append(Sample.of(sender.theirs.socket))

    sender.acks.deliver = deliver_and_sample
    sender.write(20_000_000)
    pair.runs_for(SECONDS)
    known = [sample for sample in samples if sample.bandwidth]
    assert known
    with machine.figures():
        check(known)
