"""The record of the kernel's TCP beside ours: whole, explained, and drawn as measured."""

from __future__ import annotations

import pytest

from narrows.testbed import kernel_variants
from tests.validation import kernel
from tests.validation.kernel_reasons import REASONS


def test_every_variant_of_the_kernel_s_was_measured_three_ways() -> None:
    assert set(kernel.recorded()) == {*kernel.ANCHORS, *kernel_variants.ours()}
    for by_way in kernel.recorded().values():
        assert list(by_way) == list(kernel.WAYS)
        lengths = {len(run.cwnd_segments) for run in by_way.values()}
        assert lengths == {kernel.SECONDS * 1000 // 50}


@pytest.mark.parametrize("variant", ["reno", "hstcp"])
def test_what_was_recorded_is_not_older_than_our_tcp(variant: str) -> None:
    """Otherwise `python -m tests.validation.kernel` must record it again."""
    now, then = kernel.measure(variant, "sim"), kernel.recorded()[variant]["sim"]
    assert now.goodput_mbps == pytest.approx(then.goodput_mbps, rel=0.01)
    assert now.queue_ms == pytest.approx(then.queue_ms, rel=0.05)
    assert kernel.distance(sorted(now.cwnd_segments), sorted(then.cwnd_segments)) < 0.05


def test_a_difference_beyond_the_tolerance_has_its_reason() -> None:
    for variant, by_way in kernel.recorded().items():
        virtual, real = by_way["sim"], by_way["kernel"]
        goodput = abs(real.goodput_mbps / virtual.goodput_mbps - 1)
        queue = abs(real.queue_ms / virtual.queue_ms - 1)
        assert variant in REASONS or (goodput <= 0.03 and queue <= 0.25), variant
        # On DPDK's ports the same TCP behaves as in virtual time.
        assert by_way["dpdk"].goodput_mbps == pytest.approx(virtual.goodput_mbps, rel=0.01)
    assert set(REASONS) <= set(kernel.recorded())


def test_distances_are_shares_of_the_mean_window() -> None:
    assert kernel.distance([10, 20], [20, 10]) == pytest.approx(10 / 15)
    assert kernel.distance(sorted([10, 20]), sorted([20, 10])) == 0
