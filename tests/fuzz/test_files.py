"""Untrusted files: each is read, or refused with an `InputError` and nothing else."""

from __future__ import annotations

import struct
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from narrows.testbed.files import PLAIN_DIRECTORY, plain_directory
from narrows.testbed.problems import InputError
from narrows.testbed.scenario import sweep
from narrows.testbed.scenario.plan import make_plan
from narrows.testbed.tools.packetdrill import play
from narrows.testbed.tools.switch.pcap import Ports
from tests.fuzz.budget import cases
from tests.support.world import ROOT, TWO_FLOWS

SCRIPTS = sorted((ROOT / "tests/packetdrill").glob("*.pkt"))
WORDS = st.sampled_from(
    ["", "-1", "0", "1e400", "nan", "99999999999999999999", '"', "[", "]", "{ }", "#", "\x00",
     "+", "~", "*", "ack", "win", "<...>", "(", ")", "=", "true", '"5Mbps"', '"-1s"', "\u202e"]
)  # fmt: skip


@st.composite
def changed(draw: st.DrawFn, texts: list[str]) -> str:
    """One of the texts with some words changed, added or removed."""
    words = draw(st.sampled_from(texts)).split(" ")
    for _ in range(draw(st.integers(1, 5))):
        at = draw(st.integers(0, len(words) - 1))
        words[at] = draw(WORDS | st.just(words[draw(st.integers(0, len(words) - 1))]))
    return " ".join(words)


@cases(40)
@given(text=changed([TWO_FLOWS]) | st.text(max_size=60))
def test_scenarios_are_read_or_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "scenario.toml"
    path.write_text(text, encoding="utf-8")
    with suppress(InputError):
        for point in sweep.read(path)[:3]:
            make_plan(point.scenario, str(path))


@cases(60)
@given(text=changed([path.read_text() for path in SCRIPTS]))
def test_scripts_are_played_or_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "script.pkt"
    path.write_text(text, encoding="utf-8")
    with suppress(InputError):
        play.run(path)


def pcap(packets: list[tuple[int, int, bytes]], order: str = "<") -> bytes:
    """A file with packets at seconds and microseconds."""
    data = struct.pack(f"{order}IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    for seconds, micros, frame in packets:
        data += struct.pack(f"{order}4I", seconds, micros, len(frame), len(frame)) + frame
    return data


U32 = st.integers(0, 2**32 - 1)
PACKETS = st.lists(st.tuples(U32, U32, st.binary(max_size=80)), max_size=5)


@cases(100)
@given(
    packets=PACKETS, order=st.sampled_from("<>"), cut=st.integers(0, 60),
    flips=st.lists(st.tuples(st.integers(0, 400), st.integers(0, 255)), max_size=4),
)  # fmt: skip
def test_captures_are_read_or_refused(
    tmp_path: Path,
    packets: list[tuple[int, int, bytes]],
    order: str,
    cut: int,
    flips: list[tuple[int, int]],
) -> None:
    data = bytearray(pcap(packets, order))
    for at, value in flips:
        data[at % len(data)] = value
    (tmp_path / "a_in.pcap").write_bytes(bytes(data[: max(0, len(data) - cut)]))
    try:
        ports = Ports({1: str(tmp_path / "a")})
    except InputError:
        return
    last = 0
    with suppress(InputError):
        for time_ns, port, frame in ports.arrivals():
            assert time_ns >= last and port == 1 and len(frame) <= 262_144
            last = time_ns
    ports.close()


@pytest.mark.parametrize(
    ("packets", "cut", "message"),
    [
        ([(0, 0, b"x" * 60)], 1, "ends in the middle of packet 1"),
        ([(0, 0, b"x" * 60)], 65, "ends within the header of packet 1"),
        ([(0, 0, b"x"), (86_400 * 213, 0, b"x")], 0, "213 days apart"),
    ],
)
def test_captures_that_cannot_be_are_refused_by_name(
    tmp_path: Path, packets: list[tuple[int, int, bytes]], cut: int, message: str
) -> None:
    data = pcap(packets)
    (tmp_path / "a_in.pcap").write_bytes(data[: len(data) - cut])
    ports = Ports({1: str(tmp_path / "a")})
    with pytest.raises(InputError, match=message):
        list(ports.arrivals())
    ports.close()


@pytest.mark.parametrize("name", ["...toml", "..toml.toml", ".hidden.toml"])
def test_a_scenario_cannot_write_beside_its_results(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="does not begin with a dot"):
        sweep.scenario_name(tmp_path / name)


@pytest.mark.parametrize(
    "text", ["title = " + "[" * 100_000, "a." * 1_000_000 + "b = 1", "[" + "a." * 9000 + "b]"]
)
def test_a_scenario_nested_too_deep_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "deep.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=r"nested too deep|not valid TOML"):
        sweep.read(path)


def test_a_file_without_end_is_refused() -> None:
    with pytest.raises(InputError, match="more than 10 MB"):
        sweep.read(Path("/dev/zero"))


@pytest.mark.parametrize("name", ["x" * 120, "with space", "with#hash", "with%25", "with?q"])
def test_a_strange_temporary_directory_holds_no_socket(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (tmp_path / name).mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / name))
    with plain_directory() as directory:
        assert PLAIN_DIRECTORY.fullmatch(directory)
