"""p4/tofino_limits.py: what counts as a size that does not fit, and the search for the largest."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.support.world import ROOT


@pytest.fixture(scope="module")
def limits() -> ModuleType:
    """The script as a module."""
    sys.path.insert(0, str(ROOT / "p4"))
    try:
        spec = importlib.util.spec_from_file_location("tofino_limits", ROOT / "p4/tofino_limits.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules["tofino_limits"] = module
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(ROOT / "p4"))
    return module


STAGES = """\
warning: table allocation (alt-phv-alloc enabled) failed to allocate tables for pipe 'pipe' within \
12 stages. Allocation state: ALT_FINALIZE_TABLE, stage used: 13
tna.bfa:2613: error: tofino supports up to 12 stages, using 13
<unknown location>: error: Due to errors, no binary will be generated
"""
PLACEMENT = """\
error: Could not place table NarrowsIngress.identify_flow.flow: ran out of TCAM
error: table allocation (alt-phv-alloc enabled) failed to allocate tables for pipe 'pipe', table \
placement warnings and errors seen: 1
"""


@pytest.mark.parametrize(
    ("text", "first"),
    [
        (STAGES, "tofino supports up to 12 stages, using 13"),
        (PLACEMENT, "Could not place table NarrowsIngress.identify_flow.flow: ran out of TCAM"),
    ],
)
def test_a_program_that_needs_more_of_the_pipe_does_not_fit(
    limits: ModuleType, text: str, first: str
) -> None:
    assert limits.outcome(1, text) == first


def test_warnings_neither_refuse_a_size_nor_explain_a_failure(limits: ModuleType) -> None:
    warning = STAGES.splitlines()[0]
    assert limits.outcome(0, warning) == limits.FITS
    with pytest.raises(limits.CompilerError, match="exit code 1, not for want of resources"):
        limits.outcome(1, warning)
    with pytest.raises(limits.CompilerError, match="syntax error"):
        limits.outcome(1, f"{warning}\nmetadata.p4(9): [--Werror=x] error: syntax error\n")


def test_an_error_beside_those_of_placement_ends_the_search(limits: ModuleType) -> None:
    with pytest.raises(limits.CompilerError, match="Compiler Bug"):
        limits.outcome(1, STAGES + "error: Compiler Bug: unexpected\n")


def test_an_end_without_an_error_is_not_a_refusal(limits: ModuleType) -> None:
    with pytest.raises(limits.CompilerError, match="exit code 137"):
        limits.outcome(137, "Killed\n")


def test_the_digest_is_of_the_program_without_comments(limits: ModuleType, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "p4", tmp_path / "p4")
    metadata = tmp_path / "p4/metadata.p4"
    text = metadata.read_text()
    for added, same in (("// A comment.\n\n", True), ("const bit<8> ONE_MORE = 1;\n", False)):
        metadata.write_text(text + added)
        assert (limits.digest(tmp_path) == limits.digest()) is same
    metadata.unlink()
    with pytest.raises(limits.CompilerError, match=r"cc cannot preprocess .*\n.*metadata\.p4"):
        limits.digest(tmp_path)


def fake(p4c: Path, *, most: dict[str, int], otherwise: str) -> None:
    """A compiler that takes sizes up to `most`, by constant, and fails with a text above."""
    conditions = " && ".join(
        f"[ $(sed -n 's/^const bit<32> {name} = \\([0-9]*\\);/\\1/p' p4/metadata.p4) -le {size} ]"
        for name, size in most.items()
    )
    p4c.write_text(
        "#!/bin/sh\n"  # p4c --target T --arch A -g --verbose 1 -o OUT PROGRAM
        'if [ "$1" = --target-help ]; then echo "tofino-tna tofino2-t2na"; exit; fi\n'
        f"if {conditions}; then\n"
        '  mkdir -p "$9/pipe"\n'
        '  echo \'{"compiler_version": "7.1"}\' > "$9/pipe/context.json"\n'
        "  exit\n"
        f"fi\ncat >&2 <<'END'\n{otherwise}\nEND\nexit 1\n"
    )
    p4c.chmod(0o755)


def search(p4c: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """The script, with that compiler."""
    return subprocess.run(
        [sys.executable, ROOT / "p4/tofino_limits.py", *arguments],
        env=os.environ | {"P4C_TOFINO": str(p4c)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_search_finds_the_largest_sizes(tmp_path: Path) -> None:
    p4c = tmp_path / "p4c"
    fake(p4c, most={"ROUTES": 80_000, "FLOWS": 17_000, "PORTS": 512}, otherwise=STAGES)
    ran = search(p4c, "--out", tmp_path, "tofino")
    assert ran.returncode == 0, ran.stderr
    content = json.loads((tmp_path / "tofino/limits.json").read_text())
    found = content["limits"]
    # In steps of 16,384 from 65,536, and of 4,096 from 4,096.
    assert (found["routes"]["fits"], found["routes"]["refused"]) == (65_536, 81_920)
    assert (found["flows"]["fits"], found["flows"]["refused"]) == (16_384, 20_480)
    assert found["routes"]["because"] == "tofino supports up to 12 stages, using 13"
    assert (found["ports"]["fits"], found["ports"]["refused"]) == (512, None)
    assert content["compiler"] == "7.1"
    # Nothing is compiled twice.
    p4c.write_text(p4c.read_text().replace("mkdir", "exit 9; mkdir"))
    assert search(p4c, "--out", tmp_path, "tofino").stdout == ran.stdout


def test_a_ceiling_may_be_less_than_a_step_away(tmp_path: Path) -> None:
    p4c = tmp_path / "p4c"
    fake(p4c, most={"ROUTES": 1_000_000, "FLOWS": 1_000_000}, otherwise=STAGES)
    assert search(p4c, "--out", tmp_path, "tofino").returncode == 0
    found = json.loads((tmp_path / "tofino/limits.json").read_text())["limits"]
    routes = found["routes"]
    assert routes["fits"] % 16_384 == 0
    assert routes["fits"] < routes["ceiling"] < routes["fits"] + 16_384
    assert routes["refused"] is None


def test_the_search_ends_with_the_text_of_another_failure(tmp_path: Path) -> None:
    p4c = tmp_path / "p4c"
    most = {"ROUTES": 80_000, "FLOWS": 17_000, "PORTS": 512}
    fake(p4c, most=most, otherwise="error: No space left on device")
    ran = search(p4c, "--out", tmp_path, "tofino")
    assert (ran.returncode, "No space left on device" in ran.stderr) == (1, True)
    assert not (tmp_path / "tofino/limits.json").exists()


def test_the_size_of_today_must_fit(tmp_path: Path) -> None:
    p4c = tmp_path / "p4c"
    fake(p4c, most={"ROUTES": 1}, otherwise=STAGES)
    ran = search(p4c, "--out", tmp_path, "tofino")
    assert (ran.returncode, "does not fit today" in ran.stderr) == (1, True)


def test_an_unknown_target_is_named(tmp_path: Path) -> None:
    ran = search(tmp_path / "none", "tofino3")
    assert (ran.returncode, "no target tofino3" in ran.stderr) == (1, True)
