"""`narrows packetdrill`: our own scripts pass, wrong ones fail and show the difference."""

from __future__ import annotations

from pathlib import Path

import pytest

from narrows.testbed.cli import main as cli
from narrows.testbed.tools.packetdrill.play import SOCKET_OPTIONS
from narrows.testbed.tools.packetdrill.script import Segment, parse
from narrows.testbed.tools.packetdrill.wire import emit_options, parse_options
from tests.support.world import ROOT

SCRIPTS = sorted((ROOT / "tests/packetdrill").glob("*.pkt"))
HANDSHAKE = (ROOT / "tests/packetdrill/handshake_passive.pkt").read_text()


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_our_tcp_does_what_the_script_says(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = cli.main(["packetdrill", str(path)])
    assert (code, capsys.readouterr().out) == (0, f"{path}: passed\n")


@pytest.mark.parametrize(
    ("was", "becomes", "complaint"),
    [
        (
            "ack 1 win 32768",
            "ack 1 win 32767",
            "line 12: expected > P. 1:501(500) ack 1 win 32767 <TS val 100 ecr 800>\n"
            "  sent     > P. 1:501(500) ack 1 win 32768 <TS val 100 ecr 800>",
        ),
        (
            "+0   > P. 1:501",
            "+.1  > P. 1:501",
            "  sent at 0.100000 s, not 0.200000 s",
        ),
        (
            "+0   > P. 1:501(500) ack 1 win 32768 <TS val 100 ecr 800>",
            "",
            "sent after the end of the script: > P. 1:501(500)",
        ),
        ("state == ESTABLISHED", "state == CLOSED", "state is ESTABLISHED, not == CLOSED"),
        ("= 500", "= 499", "write() returns 500, not 499"),
    ],
)
def test_a_difference_is_shown_with_its_line_and_the_trace(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], was: str, becomes: str, complaint: str
) -> None:
    assert HANDSHAKE.count(was) == 1
    path = tmp_path / "wrong.pkt"
    path.write_text(HANDSHAKE.replace(was, becomes))
    assert cli.main(["packetdrill", str(path)]) == 1
    out = capsys.readouterr().out
    assert complaint in out
    assert "    0.000000 s < S 0:0(0) win 32792 <mss 1000,sackOK,TS val 700 ecr 0,wscale 7>" in out


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("tomorrow > S 0:0(0)", "expected a time"),
        ("0 > S 0:1(0)", "0:1 are 1 bytes, not 0"),
        ("0 < X 0:0(0)", "expected FLAGS START:END(LENGTH)"),
        ("0 < [ect7] S 0:0(0)", "[ect7]; expected one of noecn, ect1, ect0, ce"),
        ("0 < S 0:0(0) win 5 <mss>", 'option "mss"; expected nop'),
        ("0 ioctl(3, SIOCOUTQ, 0) = 0", "ioctl() before there is a connection"),
        ("0 setsockopt(3, SOL_TCP, TCP_CORK, [1], 4) = 0", "setsockopt TCP_CORK; expected one of"),
        ("* < S 0:0(0) win 5", "only sent segments can have the time *"),
        ("--variant=renoo\n0 < S 0:0(0) win 5", 'variant = "renoo" is unknown'),
        ("--colour=1\n0 < S 0:0(0) win 5", "colour"),
    ],
)
def test_what_is_no_script_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], line: str, complaint: str
) -> None:
    path = tmp_path / "bad.pkt"
    path.write_text(line)
    assert cli.main(["packetdrill", str(path)]) == 2
    assert complaint in capsys.readouterr().err


def test_a_segment_is_read_as_written() -> None:
    text = "0.5 < [ce] PW. 1:1001(1000) ack 7 win 257 <nop,nop,TS val 5 ecr 6,sack 3:4 9:11>"
    (event,) = parse(text).events
    assert event.when.least_ps == 500_000_000_000
    options = ("TS val 5 ecr 6", "sack 3:4 9:11")
    assert event.action == Segment(False, 0x98, 1, 1000, 7, 257, options, 3)


def test_options_have_the_bytes_of_their_rfcs() -> None:
    options = ("mss 1460", "wscale 7", "sackOK", "TS val 1 ecr 2", "sack 3:4 9:11")
    data = emit_options(options, 100)
    assert data == bytes.fromhex(
        "020405b4" "030307" "0402" "080a0000000100000002" "05120000006700000068"
        "0000006d0000006f" "010101"
    )  # fmt: skip
    assert parse_options(data, 100) == list(options)


def test_the_documentation_names_every_socket_option() -> None:
    text = (ROOT / "docs/guide/packetdrill.md").read_text()
    assert not [name for name in SOCKET_OPTIONS if f"`{name}`" not in text]
