"""`narrows stf`: STF tests on the software switch, in virtual time."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from narrows.testbed.files import read_text
from narrows.testbed.problems import InputError, Problem

PASSED, FAILED, WRONG = 0, 1, 2


def main(program: Path, p4info: Path | None, tests: Sequence[Path]) -> int:
    """Runs each test on a fresh switch. Returns 0 if all pass, 1 if packets or counters differ, 2
    if a test cannot run. Raises `InputError` for the program's files.
    """
    text = read_text(program)
    if p4info is not None:
        check_p4info(p4info, program, text)
    return max(run(text, program, test) for test in tests)


def run(text: str, program: Path, test: Path) -> int:
    """Runs one test and prints the result."""
    from narrows.testbed import engine

    test_text = read_text(test)
    try:
        differences = engine.stf(text, test_text)
    except ValueError as error:
        print(f"narrows: {test} on {program}: {error}", file=sys.stderr)
        return WRONG
    for difference in differences:
        print(f"{test}: {difference}")
    print(f"{test}: {'FAILED' if differences else 'passed'}")
    return FAILED if differences else PASSED


def check_p4info(path: Path, program: Path, text: str) -> None:
    """Raises `InputError` if the P4Info is invalid or does not match the program."""
    from finsy.proto import p4i
    from google.protobuf import text_format

    from narrows.switch.server.p4runtime.info.agreement import ProgramWidths, check
    from narrows.switch.server.p4runtime.info.p4info import Schema
    from narrows.switch.server.target import TargetError

    try:
        info = text_format.Parse(read_text(path), p4i.P4Info())
    except text_format.ParseError as error:
        raise InputError(str(path), [Problem("", f"not a P4Info in text: {error}")]) from None
    try:
        content = json.loads(text)
        check(Schema(info, ProgramWidths(content)), content)
    except ValueError:
        raise InputError(str(program), [Problem("", "not JSON")]) from None
    except TargetError as error:
        # A feature that only the P4Runtime server lacks must not prevent a test.
        if error.kind != "unimplemented":
            raise InputError(str(path), [Problem("", str(error))]) from None
