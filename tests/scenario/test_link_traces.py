"""Link traces: both formats by arithmetic, and the committed traces from their generator."""

from __future__ import annotations

from pathlib import Path

import pytest

from narrows.testbed.cli.main import main
from narrows.testbed.scenario.traces.links import (
    LinkTrace,
    LinkTraceError,
    as_csv,
    as_mahimahi,
    parse_csv,
    parse_mahimahi,
    read,
)
from tests.support.world import ROOT

MS = 1_000_000_000
ONE = 1504 * 8 * 1000
"""The rate of one chance a millisecond, in bit/s."""


def test_a_series_holds_each_rate_until_the_next() -> None:
    found = parse_csv("seconds,bps\n0,1000000\n0.5,0\n1.25,2e6\n")
    assert found.steps == [(0, 1_000_000), (500 * MS, 0), (1250 * MS, 2_000_000)]
    assert found.period_ps == 2000 * MS, "the last rate holds as long as the one before"
    # 0.5 s at 1 Mb/s and 0.75 s at 2 Mb/s over 2 s.
    assert found.mean_bps == 1_000_000


def test_chances_are_rates_of_their_milliseconds() -> None:
    """Two chances at 1 ms, one at 4 ms, one at 5 ms and one at 0, which is that of 5 ms."""
    found = parse_mahimahi("0\n1\n1\n4\n5\n")
    assert found.steps == [(0, 2 * ONE), (MS, 0), (3 * MS, ONE), (4 * MS, 2 * ONE)]
    assert found.period_ps == 5 * MS
    assert found.bit_ps(5 * MS) == 5 * 1504 * 8 * 10**12, "five chances a period"


def test_mahimahis_format_comes_back_as_it_was() -> None:
    text = "1\n1\n4\n5\n5\n9\n"
    assert as_mahimahi(parse_mahimahi(text)) == text


def test_a_rate_becomes_a_chance_whenever_its_bytes_are_complete() -> None:
    """6.016 Mb/s are a chance each 2 ms; half the rate for the second half, one each 4 ms."""
    half = ONE // 2
    trace = LinkTrace([(0, half), (8 * MS, half // 2)], 16 * MS)
    assert as_mahimahi(trace).split() == ["2", "4", "6", "8", "12", "16"]


def test_a_trace_in_csv_comes_back_as_it_was() -> None:
    for text in ("1\n", "1\n1\n4\n5\n5\n9\n", "3\n8\n"):
        trace = parse_mahimahi(text)
        again = parse_csv(as_csv(trace))
        assert again.period_ps == trace.period_ps
        for end_ps in range(0, trace.period_ps + 1, MS // 2):
            assert again.bit_ps(end_ps) == trace.bit_ps(end_ps)


WRONG = [
    ("a.csv", "time,rate\n", "expected seconds,bps"),
    ("a.csv", "seconds,bps\n", "holds no rate"),
    ("a.csv", "seconds,bps\n1,5\n", "line 2 is at 1 s; expected the first rate at 0"),
    ("a.csv", "seconds,bps\n0,5\n0,6\n", "line 3 is not after its predecessor"),
    ("a.csv", "seconds,bps\n0,x\n", "line 2 is not a time in seconds and a rate"),
    ("a.csv", "seconds,bps\n0,-5\n", "line 2 has -5 bit/s"),
    ("a.csv", "seconds,bps\n0,0\n", "has no rate above 0"),
    ("a.trace", "1\nx\n", "line 2 is not a time in whole milliseconds"),
    ("a.trace", "2\n1\n", "line 2 is earlier than its predecessor"),
    ("a.trace", "0\n", "ends at 0 ms"),
    ("a.trace", "", "ends at 0 ms"),
]


@pytest.mark.parametrize(("name", "text", "words"), WRONG)
def test_a_wrong_trace_is_refused(tmp_path: Path, name: str, text: str, words: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(LinkTraceError, match=words):
        read(tmp_path / name)


def test_a_missing_trace_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LinkTraceError, match="cannot be read"):
        read(tmp_path / "no.csv")


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("cellular-walking.trace", ["cellular-walking", "--seconds", "30"]),
        ("cellular-driving.trace", ["cellular-driving", "--seconds", "30", "--seed", "2"]),
        ("satellite.csv", ["satellite", "--seconds", "90"]),
    ],
)
def test_committed_traces_are_the_generators(
    tmp_path: Path, name: str, arguments: list[str]
) -> None:
    assert main(["link-trace", *arguments, "--out", str(tmp_path / name)]) == 0
    committed = ROOT / "scenarios/paths" / name
    assert (tmp_path / name).read_text() == committed.read_text()


def test_a_trace_is_converted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = ROOT / "scenarios/paths/cellular-walking.trace"
    for given, out in ((source, "a.csv"), (tmp_path / "a.csv", "b.trace")):
        assert main(["link-trace", str(given), "--out", str(tmp_path / out)]) == 0
    assert (tmp_path / "b.trace").read_text() == source.read_text()
    assert "b.trace: 30 s, mean 1.317 Mb/s, 3284 chances" in capsys.readouterr().out
    assert main(["link-trace", "no-such-file", "--out", str(tmp_path / "c.csv")]) == 2
    assert "no-such-file: cannot be read" in capsys.readouterr().err
