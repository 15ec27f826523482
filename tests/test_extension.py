"""Adds one of each kind to a copy of the tree, with only the documented files, and checks that it
works.

Each addition is a file that exists, under another name, and its line in a list. The table "To add"
of ARCHITECTURE.md names every file that is touched.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from narrows.testbed.paths import ROOT
from tests.support.needs import programs
from tests.support.world import compile_fast, rename_crates

LEFT_OUT = {"target", "results", ".venv", ".git"}


@dataclass(frozen=True)
class Addition:
    """One more of a kind."""

    what: str
    """The first cell of its row of ARCHITECTURE.md."""
    file: str
    """The new file."""
    text: str
    lines: Mapping[str, tuple[tuple[str, str], ...]] = field(hash=False)
    """For each other file: a line, and the line that is added after it."""

    def make(self, tree: Path) -> None:
        """Puts the addition into a copy of the tree."""
        new = tree / self.file
        assert not new.exists()
        new.parent.mkdir(exist_ok=True)
        new.write_text(self.text, encoding="utf-8")
        for name, lines in self.lines.items():
            path = tree / name
            content = path.read_text(encoding="utf-8")
            for before, line in lines:
                assert content.count(f"{before}\n") == 1, f"{name}: {before}"
                content = content.replace(f"{before}\n", f"{before}\n{line}\n")
            path.write_text(content, encoding="utf-8")


def like(file: str, *renames: tuple[str, str]) -> str:
    """The text of a file of the tree with other names."""
    text = (ROOT / file).read_text(encoding="utf-8")
    for old, new in renames:
        assert old in text, f"{file}: {old}"
        text = text.replace(old, new)
    return text


VARIANT = Addition(
    "a TCP variant",
    "hosts/src/cc/copied.rs",
    like("hosts/src/cc/scalable.rs", ('name: "scalable"', 'name: "copied"')),
    {
        "hosts/src/cc/mod.rs": (
            ("pub mod control;", "pub mod copied;"),
            ("    reno::VARIANT,", "    copied::VARIANT,"),
        )
    },
)
RECOVERY = Addition(
    "a recovery",
    "hosts/src/recovery/copied.rs",
    like("hosts/src/recovery/tahoe.rs", ('name: "tahoe"', 'name: "copied"')),
    {
        "hosts/src/recovery/mod.rs": (
            ("pub mod fack;", "pub mod copied;"),
            ("    newreno::RULE,", "    copied::RULE,"),
        )
    },
)
WORKLOAD = Addition(
    "a workload",
    "traffic/src/workloads/copied.rs",
    like("traffic/src/workloads/cve_server.rs", ('name: "cve-server"', 'name: "copied"')),
    {
        "traffic/src/workloads/mod.rs": (
            ("pub mod cbr;", "pub mod copied;"),
            ("    bulk::RECORD,", "    copied::RECORD,"),
        )
    },
)
DISCIPLINE = Addition(
    "a queue discipline",
    "queueing/src/disciplines/copied.rs",
    like(
        "queueing/src/disciplines/droptail.rs",
        ('name: "drop-tail"', 'name: "copied"'),
        ("DropTail", "Copied"),
    ),
    {"queueing/src/disciplines/mod.rs": (("    droptail::DropTail,", "    copied::Copied,"),)},
)
IN_RUST = (VARIANT, RECOVERY, WORKLOAD, DISCIPLINE)

LISTS = """\
//! The lists of the engines have what was added.
fn has<T>(list: &[T], name: impl Fn(&T) -> &'static str) -> bool {
    list.iter().any(|one| name(one) == "copied")
}

#[test]
fn every_list_has_the_addition() {
    assert!(has(narrows_hosts::VARIANTS, |one| one.name));
    assert!(has(narrows_hosts::RECOVERIES, |one| one.name));
    assert!(has(narrows_traffic::WORKLOADS, |one| one.name));
    assert!(has(narrows_queueing::DISCIPLINES, |one| one.name));
}
"""
"""A test of the copy's crate `hosts`, which sees all four lists."""

FIGURE = Addition(
    "a figure",
    "analysis/figures/copied.py",
    like("analysis/figures/rtt.py", ('name="rtt"', 'name="copied"')),
    {"analysis/figures/__init__.py": (('    "rtt",', '    "copied",'),)},
)
EXPORT = Addition(
    "a format of `narrows export`",
    "analysis/export/copied.py",
    like("analysis/export/csv.py", ('name="csv"', 'name="copied"')),
    {
        "analysis/export/__init__.py": (
            (
                "from narrows.analysis.load import Run, load",
                "from narrows.analysis.export import copied",
            ),
            ("    flent.FORMAT,", "    copied.FORMAT,"),
        )
    },
)
TARGET = Addition(
    "a target",
    "testbed/targets/copied/__init__.py",
    like(
        "testbed/targets/sim/__init__.py",
        ('name = "sim"', 'name = "copied"'),
        ("SIM: Final = Sim()", "COPIED: Final = Sim()"),
        ("    def run(", "    def prepare(self) -> None:\n        pass\n\n    def run("),
    ),
    {
        "testbed/targets/__init__.py": (
            (
                "from narrows.testbed.targets.bmv2 import BMV2",
                "from narrows.testbed.targets.copied import COPIED",
            ),
            ("    SIM,", "    COPIED,"),
        )
    },
)
PAPER = Addition(
    "a paper",
    "testbed/papers/copied.py",
    "import dataclasses\n\nfrom narrows.testbed.papers import jasem_2010\n\n"
    'PAPER = dataclasses.replace(jasem_2010.PAPER, name="copied")\n',
    {
        "testbed/papers/__init__.py": (
            (
                "from narrows.testbed.papers.paper import Paper",
                "from narrows.testbed.papers import copied",
            ),
            ("    jasem_2010.PAPER,", "    copied.PAPER,"),
        )
    },
)
STAGE = Addition(
    "a P4 stage with a parameter",
    "p4/stages/dscp.p4",
    """\
// DSCP: sets the code point of packets per output port (RFC 2474). Off where the port has no entry.

control SetDscp(inout headers_t hdr, inout metadata_t meta) {
    action set_dscp(bit<6> dscp) {
        hdr.ipv4.dscp = dscp;
    }

    table marking {
        key = { meta.egress_port : exact; }
        actions = { set_dscp; NoAction; }
        default_action = NoAction();
        size = PORTS;
    }

    apply {
        if (hdr.ipv4.isValid()) {
            marking.apply();
        }
    }
}
""",
    {
        "p4/v1model.p4": (
            ('#include "stages/ecn.p4"', '#include "stages/dscp.p4"'),
            ("    MarkEcn() mark_ecn;", "    SetDscp() set_dscp;"),
            (
                "            mark_ecn.apply(hdr, meta);",
                "            set_dscp.apply(hdr, meta);",
            ),
        ),
        "testbed/scenario/network.py": (
            (
                '    """Probability that the P4 program drops a packet towards this port."""',
                "    dscp: Annotated[int | None, "
                'PortStage("NarrowsEgress.set_dscp.marking", "set_dscp", "dscp")] = None',
            ),
        ),
    },
)
IN_PYTHON = {
    FIGURE: "from narrows.analysis.figures import FIGURES as found",
    EXPORT: "from narrows.analysis.export import FORMATS as found",
    PAPER: "from narrows.testbed.papers import PAPERS as found",
}
"""Where each is listed."""

DUMBBELL = """\
title = "One flow"
duration = "1s"
[bottleneck]
rate = "5Mbps"
delay = "5ms"
dscp = 46
[[flow]]
variant = "reno"
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sources and the built extension with every addition."""
    copied = tmp_path_factory.mktemp("extension") / "narrows"

    def ignored(_: str, names: list[str]) -> set[str]:
        return {name for name in names if name in LEFT_OUT or name.endswith("_cache")}

    shutil.copytree(ROOT, copied, ignore=ignored, symlinks=True)
    rename_crates(copied, "extension")
    compile_fast(copied)
    for addition in (*IN_RUST, *IN_PYTHON, TARGET, STAGE):
        addition.make(copied)
    return copied


def python(tree: Path, *arguments: str) -> str:
    """The output of Python that imports the copy. Fails if Python fails."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=tree, env=os.environ | {"PYTHONPATH": str(tree)}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


ADDITIONS = (*IN_RUST, *IN_PYTHON, TARGET, STAGE)


@pytest.mark.parametrize("addition", ADDITIONS, ids=lambda addition: addition.what)
def test_the_table_names_every_file_touched(addition: Addition) -> None:
    table = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    row = re.search(rf"^\| {re.escape(addition.what)} \|(.*)\|$", table, re.M)
    assert row, f"ARCHITECTURE.md has no row for {addition.what}"
    named = re.findall(r"`([\w./-]+/[\w./-]*)`", row[1])
    for file in (addition.file, *addition.lines):
        assert any(file == name or file.startswith(name) for name in named), file


@pytest.mark.parametrize("addition", ADDITIONS, ids=lambda addition: addition.what)
def test_one_new_file_and_one_list_are_enough(addition: Addition) -> None:
    """Each architecture's program applies a stage, and the schema has a line for it."""
    assert len(addition.lines) <= (2 if addition is STAGE else 1)


def test_the_engines_lists_have_the_additions(tree: Path) -> None:
    # In place of the crate's other tests, which need not be compiled, nor the crates they need.
    (tree / "hosts/tests/main.rs").write_text(LISTS, encoding="utf-8")
    manifest = tree / "hosts/Cargo.toml"
    before, _, after = manifest.read_text(encoding="utf-8").partition("[dev-dependencies]\n")
    manifest.write_text(before + after.partition("\n\n")[2], encoding="utf-8")
    done = subprocess.run(
        ["cargo", "test", "--quiet", "--package", "narrows-hosts", "--test", "integration"],
        cwd=tree, env=os.environ | {"CARGO_TARGET_DIR": str(ROOT / "target")},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "1 passed" in done.stdout


@pytest.mark.parametrize("addition", IN_PYTHON, ids=lambda addition: addition.what)
def test_a_list_in_python_has_the_addition(tree: Path, addition: Addition) -> None:
    script = f"{IN_PYTHON[addition]}; print([one.name for one in found])"
    assert "'copied'" in python(tree, "-c", script)


def test_a_target_is_listed_and_runs(tree: Path, tmp_path: Path) -> None:
    assert "copied" in python(tree, "-m", "narrows", "list", "targets")
    scenario = tmp_path / "short.toml"
    scenario.write_text(DUMBBELL.replace("dscp = 46\n", ""), encoding="utf-8")
    options = ("--target", "copied", "--out", str(tmp_path), "--no-figures")
    python(tree, "-m", "narrows", "run", str(scenario), *options)
    assert list(tmp_path.glob("short/*/summary.json"))


def test_a_stages_parameter_comes_to_the_switch(tree: Path, tmp_path: Path) -> None:
    """The scenario's key is the parameter of an entry of the plan."""
    scenario = tmp_path / "short.toml"
    scenario.write_text(DUMBBELL, encoding="utf-8")
    script = f"""
from pathlib import Path
from narrows.testbed.scenario import sweep
from narrows.testbed.scenario.plan import make_plan
[point] = sweep.read(Path({str(scenario)!r}), [])
for entry in make_plan(point.scenario, "short")["switches"][0]["entries"]:
    print(entry["action"], entry["params"])
"""
    assert "NarrowsEgress.set_dscp.set_dscp {'dscp': '0x2e'}" in python(tree, "-c", script)


@programs("p4c-bm2-ss")
def test_a_program_with_the_stage_runs(tree: Path, tmp_path: Path) -> None:
    python(tree, "p4/compile.py")
    scenario = tmp_path / "short.toml"
    scenario.write_text(DUMBBELL + "[record]\ncapture = true\n", encoding="utf-8")
    python(tree, "-m", "narrows", "run", str(scenario), "--out", str(tmp_path), "--no-figures")
    script = f"""
import polars as pl
frames = pl.read_parquet({str(tmp_path / "short/*/capture.parquet")!r})["bytes"]
print(sum(frame[15] >> 2 == 46 for frame in frames))
"""
    assert int(python(tree, "-c", script)) > 0
