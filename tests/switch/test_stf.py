"""`narrows stf`: exit codes, and that it can fail. The programs' tests are in switch/tests/stf."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from narrows.testbed.cli.main import main
from tests.support.world import ROOT, called

SWITCH = ROOT / "switch/tests"
PROGRAM = SWITCH / "programs/tables.json"
P4INFO = SWITCH / "programs/tables.p4info.txtpb"
TEST = SWITCH / "stf/tables.stf"


def stf(*arguments: object) -> tuple[int, str, str]:
    """Exit code, standard output and error."""
    done = called("stf", *map(str, arguments))
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("name", sorted(path.stem for path in SWITCH.glob("stf/*.stf")))
def test_our_own_tests_pass(name: str) -> None:
    program, test = SWITCH / f"programs/{name}.json", SWITCH / f"stf/{name}.stf"
    assert stf("--program", program, test) == (0, f"{test}: passed\n", "")


def test_a_wrong_nibble_fails_and_is_shown(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.stf"
    wrong.write_text(TEST.read_text().replace("0011 99 $", "0012 99 $", 1))
    code, out, _ = stf("--program", PROGRAM, "--p4info", P4INFO, TEST, wrong)
    assert code == 1
    assert f"{TEST}: passed" in out and f"{wrong}: FAILED" in out
    assert "line 5: port 1: packet 0: digit 51 differs" in out


def test_a_counter_and_a_packet_too_many_fail(tmp_path: Path) -> None:
    packet = "packet 0 00 02 0002 00000000 00000000000000000000000000000000 0000\n"
    cases = {
        "add by_exact hdr.h.a:1 hdr.h.b:2 deny() = one\ncheck_counter hits($one) packets == 1": (
            "line 2: counter hits($one): 0 packets, not == 1"
        ),
        packet + "no_packet": "line 2: 1 packets came out, none should",
        packet + packet + "expect 1": "packets too many",
        "expect 1 00": "packet 0 did not come",
    }
    for text, shown in cases.items():
        test = tmp_path / "test.stf"
        test.write_text(text)
        code, out, _ = stf("--program", PROGRAM, test)
        assert (code, shown in out) == (1, True), out


def test_what_can_t_be_carried_out_is_told(tmp_path: Path) -> None:
    test = tmp_path / "test.stf"
    for text, shown in {
        "launch 1": "line 1: 'launch' is not supported",
        "register_write": "line 1: '': expected a number",
        "add by_exact hdr.h.a:* hdr.h.b:2 deny()": "line 1:",
        "add by_ternary hdr.h.b:* hdr.h.a:1 deny()": "expected 0x or 0b before a *",
        "mc_node_create 1 70000": "'70000': expected at most 65535",
        "add by_none a:1 deny()": "there is no table 'by_none'",
        "packet 0 0": "expected pairs of hexadecimal digits",
    }.items():
        test.write_text(text)
        code, out, err = stf("--program", PROGRAM, test)
        assert (code, shown in err) == (2, True), (text, out, err)
    assert stf("--program", tmp_path / "none.json", TEST)[0] == 2
    assert stf("--program", PROGRAM, tmp_path / "none.stf")[0] == 2
    assert stf("--program", TEST, TEST)[0] == 2


def test_a_p4info_of_another_program_is_refused() -> None:
    other = ROOT / "p4/build/v1model.p4info.txtpb"
    code, _, err = stf("--program", PROGRAM, "--p4info", other, TEST)
    assert code == 2 and str(other) in err and "table" in err
    code, _, err = stf("--program", PROGRAM, "--p4info", TEST, TEST)
    assert code == 2 and "not a P4Info in text" in err


NO_P4INFO = {
    "gauntlet_nested_switch-bmv2": "has a table that p4c left out of the JSON",
    "issue1062-1-bmv2": "has a match field of an error's type, to which P4Info gives no width",
}
"""Programs of the corpus whose P4Info the server refuses."""


@pytest.mark.skipif("NARROWS_STF_CORPUS" not in os.environ, reason="NARROWS_STF_CORPUS is not set")
def test_p4c_s_corpus(capsys: pytest.CaptureFixture[str]) -> None:
    failed = []
    for test in sorted(Path(os.environ["NARROWS_STF_CORPUS"]).glob("*.stf")):
        program, info = test.with_suffix(".json"), test.with_suffix(".p4info.txtpb")
        checked = info.exists() and test.stem not in NO_P4INFO
        p4info = ["--p4info", str(info)] if checked else []
        if program.exists():
            code = main(["stf", "--program", str(program), *p4info, str(test)])
            said = capsys.readouterr()
            failed += [f"{test.name}: {said.out}{said.err}"] * (code != 0)
    assert failed == []
