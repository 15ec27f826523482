"""Quantities: exact, with their units, or refused by name."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from narrows.schema import units
from tests.support.world import ROOT

EXAMPLES = json.loads((ROOT / "common/tests/units.json").read_text())
PARSERS = {
    "rate": units.parse_rate,
    "duration": units.parse_duration,
    "size": units.parse_size,
    "queue": lambda text: units.parse_queue(text).as_limit(),
    "window": units.parse_window,
    "share": units.parse_share,
}


@pytest.mark.parametrize("kind", ["rate", "duration", "size", "queue", "share"])
def test_a_quantity_is_its_number_of_base_units(kind: str) -> None:
    for text, expected in EXAMPLES[kind]:
        assert PARSERS[kind](text) == expected, text


@pytest.mark.parametrize(("kind", "value", "says"), EXAMPLES["refused"])
def test_what_is_no_quantity_is_refused(kind: str, value: object, says: str) -> None:
    with pytest.raises(ValueError, match=re.escape(says)) as refused:
        PARSERS[kind](value)
    assert "expected" in str(refused.value)


@pytest.mark.parametrize(
    ("kind", "write"),
    [("rate", units.format_rate), ("duration", units.format_duration), ("size", units.format_size)],
)
def test_a_quantity_is_written_in_the_grammars_units(
    kind: str, write: Callable[[int], str]
) -> None:
    for number, text in EXAMPLES["written"][kind]:
        assert write(number) == text


def test_a_queue_keeps_its_unit() -> None:
    assert units.parse_queue("100packets") == units.Queue("packets", Fraction(100))
    assert units.parse_queue("150KB") == units.Queue("bytes", Fraction(150_000))
    assert units.parse_queue("20ms") == units.Queue("ps", Fraction(20_000_000_000))
    assert units.parse_queue("1.5bdp") == units.Queue("bdp", Fraction(3, 2))


def test_a_window_in_packets_is_in_segments() -> None:
    assert units.parse_window("200packets").as_bytes(1460) == 292_000
    assert units.parse_window("64KiB").as_bytes(1460) == 65_536


@given(st.integers(1, units.LARGEST))
def test_a_rate_survives_being_written(bps: int) -> None:
    assert units.parse_rate(units.format_rate(bps)) == bps


@given(st.integers(0, units.LONGEST_PS))
def test_a_time_survives_being_written(ps: int) -> None:
    assert units.parse_duration(units.format_duration(ps)) == ps


@given(st.integers(0, units.LARGEST))
def test_a_size_survives_being_written(size_bytes: int) -> None:
    assert units.parse_size(units.format_size(size_bytes)) == size_bytes


@given(st.sampled_from(["packets", "bytes", "ps", "bdp"]), st.integers(1, 10**9), st.integers(0, 6))
def test_a_queue_survives_being_written(unit: str, amount: int, digits: int) -> None:
    exact = Fraction(amount, 10**digits if unit == "bdp" else 1)
    queue = units.Queue(unit, exact)  # type: ignore[arg-type]
    assert units.parse_queue(str(queue)) == queue


@given(st.text(max_size=20))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    for parse in (units.parse_rate, units.parse_duration, units.parse_size, units.parse_queue):
        try:
            parse(text)
        except ValueError as refused:
            assert "expected" in str(refused)
