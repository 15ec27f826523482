"""The core's random loss: the draws of xoshiro256++ from a seed, as `common/` draws them."""

from __future__ import annotations

import math

from narrows.testbed.targets.rtl.library import missing
from tests.fpga.core import Driven, Settings
from tests.support import needs

pytestmark = needs.without(missing())

MASK = 2**64 - 1


def seeded(seed: int) -> list[int]:
    """The generator's state from a seed: four numbers of SplitMix64 (Steele et al. 2014)."""
    state = []
    for n in range(1, 5):
        z = seed + n * 0x9E3779B97F4A7C15 & MASK
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
        state.append(z ^ z >> 31)
    return state


def rotated(value: int, left: int) -> int:
    return (value << left | value >> 64 - left) & MASK


def draw(state: list[int]) -> int:
    """The next number of xoshiro256++ (Blackman and Vigna 2021); changes the state."""
    drawn = rotated(state[0] + state[3] & MASK, 23) + state[0] & MASK
    shifted = state[1] << 17 & MASK
    state[2] ^= state[0]
    state[3] ^= state[1]
    state[1] ^= state[2]
    state[0] ^= state[3]
    state[2] ^= shifted
    state[3] = rotated(state[3], 45)
    return drawn


def test_the_generator_here_gives_its_authors_numbers() -> None:
    state = [1, 2, 3, 4]
    assert [draw(state) for _ in range(4)] == [
        41943041, 58720359, 3588806011781223, 3591011842654386,
    ]  # fmt: skip


def lossy(threshold: int, state: list[int]) -> Settings:
    return Settings(10**9, loss_threshold=threshold, loss_state=tuple(state))


def lost(driven: Driven) -> set[int]:
    return {row.number for row in driven.core.rows() if row.reason == "random-loss"}


def test_packets_are_lost_by_the_generators_draws() -> None:
    probability, state = 0.1, seeded(7)
    driven = Driven(lossy(math.ceil(probability * 2**53), state))
    for n in range(1000):
        driven.offer(n, 100)
    found = lost(driven)
    assert found == {n for n in range(1000) if (draw(state) >> 11) * 2.0**-53 < probability}
    assert 70 < len(found) < 130


def test_a_loss_of_one_drops_all_and_none_draws_nothing() -> None:
    driven = Driven(lossy(2**53, seeded(1)))
    for n in range(50):
        driven.offer(n, 100)
    assert lost(driven) == set(range(50))
    driven.set(50, Settings(10**9))
    for n in range(50):
        driven.offer(50 + n, 100)
    assert lost(driven) == set()
