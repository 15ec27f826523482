"""p4/build/ is what p4/ compiles to, and nothing of the machine that compiled it."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys

from tests.world import ROOT

SUMS = ROOT / "p4/build/sources.sha256"
RUN_MAKE_P4 = "p4/build has drifted from p4/: run `make p4` and commit what it writes"


def recorded() -> dict[str, str]:
    """`sha256sum` lines: 64 digits, two spaces, the path."""
    lines = SUMS.read_text().splitlines()
    return {line[66:]: line[:64] for line in lines}


def test_sources_and_outputs_are_those_recorded() -> None:
    outputs = {"p4/build/v1model.json", "p4/build/v1model.p4info.txtpb"}
    sources = {path.relative_to(ROOT).as_posix() for path in ROOT.glob("p4/**/*.p4")}
    assert set(recorded()) == sources | outputs, RUN_MAKE_P4
    for path, digest in recorded().items():
        found = hashlib.sha256((ROOT / path).read_bytes()).hexdigest()
        assert found == digest, f"{path}: {RUN_MAKE_P4}"


def test_the_check_says_so_too() -> None:
    ran = subprocess.run(
        [sys.executable, ROOT / "p4/compile.py", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, "in step" in ran.stdout) == (0, True)


def test_the_program_has_no_paths_of_a_machine() -> None:
    def strings(value: object) -> list[str]:
        if isinstance(value, dict):
            return [text for inner in value.values() for text in strings(inner)]
        if isinstance(value, list):
            return [text for inner in value for text in strings(inner)]
        return [value] if isinstance(value, str) else []

    program = json.loads((ROOT / "p4/build/v1model.json").read_text())
    assert program["program"] == "p4/v1model.p4"
    assert not [text for text in strings(program) if text.startswith("/")]
