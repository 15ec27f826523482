"""Quantities: exact, with their units, or refused by name."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from narrows.testbed.scenario import units

Parse = Callable[[object], int]


@pytest.mark.parametrize(
    ("parse", "text", "expected"),
    [
        (units.parse_rate, "5Mbps", 5_000_000),
        (units.parse_rate, "9.999999937Gbps", 9_999_999_937),
        (units.parse_rate, "622 Mbit/s", 622_000_000),
        (units.parse_duration, "15us", 15_000_000),
        (units.parse_duration, "15µs", 15_000_000),
        (units.parse_duration, "1.5ms", 1_500_000_000),
        (units.parse_duration, "0s", 0),
        (units.parse_duration, "1h", 3_600_000_000_000_000),
        (units.parse_size, "20000KB", 20_000_000),
        (units.parse_size, "20000KiB", 20_480_000),
        (units.parse_size, "1460B", 1460),
    ],
)
def test_a_quantity_is_its_number_of_base_units(parse: Parse, text: str, expected: int) -> None:
    assert parse(text) == expected


@pytest.mark.parametrize(
    ("parse", "value", "says"),
    [
        (units.parse_rate, "5", "has no unit"),
        (units.parse_rate, 5_000_000, "has no unit"),
        (units.parse_rate, "-5Mbps", "is negative"),
        (units.parse_rate, "0bps", "is below 1 bit/s"),
        (units.parse_rate, "0.5bps", "no whole number of bit/s"),
        (units.parse_rate, "5mbps", 'did you mean "Mbps"'),
        (units.parse_rate, "5ms", 'unknown unit "ms"'),
        (units.parse_rate, "fast", "not a number with a unit"),
        (units.parse_rate, True, "is no text"),
        (units.parse_rate, None, "is no text"),
        (units.parse_duration, "60", "has no unit"),
        (units.parse_duration, "0.1ps", "no whole number of ps"),
        (units.parse_duration, "300000h", "is above"),
        (units.parse_duration, "1e3s", "not a number with a unit"),
        (units.parse_size, "1.5B", "no whole number of B"),
        (units.parse_size, "10kb", 'did you mean "KB"'),
        (units.parse_queue, "100", "has no unit"),
        (units.parse_queue, "0packets", "is below 1 packets"),
        (units.parse_queue, "1.5packets", "no whole number of packets"),
        (units.parse_queue, "0bdp", "is not above zero"),
        (units.parse_window, "20ms", 'unknown unit "ms"'),
    ],
)
def test_what_is_no_quantity_is_refused(parse: Parse, value: object, says: str) -> None:
    with pytest.raises(ValueError, match=says.replace("(", r"\(")) as refused:
        parse(value)
    assert "expected" in str(refused.value)


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
