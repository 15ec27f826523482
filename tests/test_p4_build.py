"""p4/build/ is the compiled p4/, without traces of the machine that compiled it."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from finsy.proto import p4i
from google.protobuf import text_format

from tests.support.world import ROOT

SUMS = ROOT / "p4/build/sources.sha256"
RUN_MAKE_P4 = "p4/build has drifted from p4/: run `make p4` and commit what it writes"

#: The directory of tna.p4 and t2na.p4 (docs/explanation/tofino.md).
TNA_INCLUDE = os.environ.get("NARROWS_TNA_INCLUDE")
TOFINOS = ("tofino", "tofino2")
V1MODEL_ONLY = re.compile(r"after_queue|classify_scalable|random_duplicate|ipv6")
"""The AQM stages, duplication and the tables of IPv6."""
NOT_V1MODEL = "package Switch: main package  match the expected model"


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


def check(p4c: Path) -> tuple[int, str]:
    """`make p4-check` with that compiler."""
    ran = subprocess.run(
        [sys.executable, ROOT / "p4/compile.py", "--check"],
        env=os.environ | {"P4C": str(p4c)},
        capture_output=True,
        text=True,
        check=False,
    )
    return ran.returncode, ran.stdout


def test_the_check_says_so_too(tmp_path: Path) -> None:
    status, printed = check(tmp_path / "none")
    assert (status, "in step" in printed) == (0, True)


def test_the_check_names_what_a_compiler_would_make_otherwise(tmp_path: Path) -> None:
    build = ROOT / "p4/build"
    p4c = tmp_path / "p4c"
    p4c.write_text(
        "#!/bin/sh\n"  # p4c --std p4-16 -o JSON --p4runtime-files P4INFO PROGRAM
        f'cp "{build}/v1model.json" "$4"\n'
        'echo "pkg_info {}" > "$6"\n'
    )
    p4c.chmod(0o755)
    status, printed = check(p4c)
    assert status == 1
    assert f"p4/build/v1model.p4info.txtpb: not what {p4c} makes" in printed
    assert "v1model.json: not" not in printed


def for_tofino(out: Path, p4c: Path) -> subprocess.CompletedProcess[str]:
    """`make p4-tofino` with that compiler."""
    return subprocess.run(
        [sys.executable, ROOT / "p4/tofino.py", out],
        env=os.environ | {"P4C_TOFINO": str(p4c)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_compiler_with_the_back_end_gets_both_targets(tmp_path: Path) -> None:
    p4c = tmp_path / "p4c"
    p4c.write_text(
        "#!/bin/sh\n"  # p4c --target T --arch A -g --verbose 1 -o OUT PROGRAM
        'if [ "$1" = --target-help ]; then echo "tofino-tna tofino2-t2na"; exit; fi\n'
        'mkdir -p "$9/pipe/logs"; echo "$2 $4 ${10}" > "$9/pipe/logs/table_summary.log"\n'
    )
    p4c.chmod(0o755)
    ran = for_tofino(tmp_path / "out", p4c)
    assert ran.returncode == 0, ran.stderr
    reports = [tmp_path / f"out/{name}/pipe/logs/table_summary.log" for name in TOFINOS]
    assert [path.read_text().strip() for path in reports] == [
        "tofino tna p4/tna.p4",
        "tofino2 t2na p4/tna.p4",
    ]
    assert all(f"  {path}" in ran.stdout for path in reports)


def test_a_compiler_that_loses_the_parsers_matches_is_refused(tmp_path: Path) -> None:
    p4c = tmp_path / "p4c"
    p4c.write_text(
        "#!/bin/sh\n"
        'if [ "$1" = --target-help ]; then echo "tofino-tna"; exit; fi\n'
        'echo "tna.bfa:7: warning: Can\'t match parser state due to previous match" >&2\n'
    )
    p4c.chmod(0o755)
    ran = for_tofino(tmp_path / "out", p4c)
    assert ran.returncode == 1
    assert "tofino2: " in ran.stderr
    assert "p4c/pull/5753" in ran.stderr


def test_what_is_committed_for_tofino_is_in_step() -> None:
    ran = subprocess.run(
        [sys.executable, ROOT / "p4/tofino.py", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stdout) == (0, "")


def test_the_report_of_tofinos_resources_is_in_step() -> None:
    made = subprocess.run(
        [sys.executable, ROOT / "p4/tofino_report.py", "--print"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert made.stdout == (ROOT / "docs/reports/tofino-resources.md").read_text(encoding="utf-8")


def test_a_compiler_without_the_back_end_is_none(tmp_path: Path) -> None:
    p4c = tmp_path / "p4c"
    p4c.write_text("#!/bin/sh\necho bmv2-v1model\n")
    p4c.chmod(0o755)
    ran = for_tofino(tmp_path, p4c)
    assert (ran.returncode, "ENABLE_TOFINO" in ran.stderr) == (2, True)


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


def tna_errors(program: Path, tofino: int, *options: str) -> list[str]:
    """The errors of bmv2's compiler on the program for Tofino 1 or 2."""
    assert TNA_INCLUDE
    command = ["p4c-bm2-ss", "--std", "p4-16", f"-D__TARGET_TOFINO__={tofino}", "-I", TNA_INCLUDE]
    ran = subprocess.run([*command, *options, program], capture_output=True, text=True, check=False)
    return [line for line in ran.stderr.splitlines() if "error:" in line]


@pytest.fixture(params=[1, 2])
def tofino(request: pytest.FixtureRequest) -> int:
    """Both Tofinos, if the program can be checked here."""
    if not TNA_INCLUDE:
        pytest.skip("NARROWS_TNA_INCLUDE does not name TNA's headers")
    if not shutil.which("p4c-bm2-ss"):
        pytest.skip("p4c-bm2-ss is not installed")
    generation: int = request.param
    return generation


def tables_of_p4info() -> dict[str, tuple[Any, ...]]:
    """v1model's tables by name: size, matches and actions; not V1MODEL_ONLY's, no constants."""
    info = text_format.Parse((ROOT / "p4/build/v1model.p4info.txtpb").read_text(), p4i.P4Info())
    actions = {
        one.preamble.id: (one.preamble.name, *((p.id, p.name, p.bitwidth) for p in one.params))
        for one in info.actions
    }
    kind = p4i.MatchField.MatchType.Name
    return {
        "pipe." + one.preamble.name: (
            one.size,
            [(match.name, match.bitwidth, kind(match.match_type)) for match in one.match_fields],
            {actions[ref.id] for ref in one.action_refs},
        )
        for one in info.tables
        if not one.is_const_table and not V1MODEL_ONLY.search(one.preamble.name)
    }


def tables_of_bfrt(target: str) -> dict[str, tuple[Any, ...]]:
    """The same of the tables that a Tofino offers."""

    def fields(content: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
        return [(one["id"], one["name"], one["type"]["width"]) for one in content]

    content = json.loads((ROOT / f"p4/build/{target}/bfrt.json").read_text())
    return {
        one["name"]: (
            one["size"],
            [
                (key["name"], key["type"]["width"], key["match_type"].upper())
                for key in one["key"]
                if key["name"] != "$MATCH_PRIORITY"
            ],
            {(action["name"], *fields(action["data"])) for action in one["action_specs"]},
        )
        for one in content["tables"]
        if one["table_type"].startswith("MatchAction") and "ConstTable" not in one["attributes"]
    }


@pytest.mark.parametrize("target", TOFINOS)
def test_a_controller_finds_the_same_tables_on_tofino(target: str) -> None:
    assert tables_of_bfrt(target) == tables_of_p4info()


def test_the_front_end_takes_the_program_for_tofino(tofino: int, tmp_path: Path) -> None:
    [only] = tna_errors(ROOT / "p4/tna.p4", tofino)
    assert NOT_V1MODEL in only
    # An error that it would have reported: a field that TNA does not have.
    shutil.copytree(ROOT / "p4", tmp_path / "p4")
    wrong = tmp_path / "p4/tna.p4"
    wrong.write_text(wrong.read_text().replace("intrinsic.deq_qdepth", "intrinsic.deq_depth"))
    assert "deq_depth is not a member" in tna_errors(wrong, tofino)[0]
