"""`make check`: format, types, lints, and the fast tests of the folders that changed.

Changes are relative to BASE (`python -m tests.check BASE`), else to the last commit that is also in
`origin/main`, else to HEAD. Tests that measure this machine are excluded. The tests use the engine
that is built: a change of Rust meets its own crates' tests here, and Python's in `make test`. The
fast tests of a folder take under 150 seconds of processor time.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from narrows.testbed.paths import ROOT
from narrows.testbed.tools.bootstrap import RUST_ROOMS, environment
from tests.conftest import ALONE

CRATES = {
    **{room: f"narrows-{room}" for room in RUST_ROOMS if "/" not in room},
    "fpga/driver": "narrows-fpga",
}
"""The crate in each folder."""
FIGURES = "analysis/figures"
OF_SWEEPS = ("tests/analysis/test_sweep_figures.py", "tests/analysis/test_queue_figures.py")
OF_EACH_FIGURE = (
    "tests/analysis/test_analysis_figures.py::test_a_figures_files_fit_a_page",
    "tests/analysis/test_analysis_figures.py::test_a_chart_depends_on_the_runs_alone",
    "tests/analysis/test_layout.py::test_no_text_is_clipped_or_overlaps",
)
"""Tests with a case for each figure, by its name."""
TESTS = {
    # Without test_layout.py, which looks at charts alone.
    "analysis": (
        "tests/analysis/test_analysis_engine.py",
        "tests/analysis/test_analysis_figures.py",
        "tests/analysis/test_analysis_load.py",
        "tests/analysis/test_analysis_metrics.py",
        "tests/analysis/test_page.py",
        "tests/analysis/test_report.py",
        "tests/analysis/test_report_parts.py",
        "tests/analysis/test_throughput_bound.py",
        *OF_SWEEPS,
    ),
    "analysis/chart": (
        "tests/analysis/test_chart.py",
        "tests/analysis/test_analysis_figures.py",
        "tests/analysis/test_layout.py",
    ),
    "analysis/export": ("tests/export",),
    FIGURES: (
        "tests/analysis/test_analysis_figures.py",
        "tests/analysis/test_layout.py",
        *OF_SWEEPS,
    ),
    "analysis/page": (
        "tests/analysis/test_page.py",
        "tests/analysis/test_report.py",
        "tests/analysis/test_report_parts.py",
    ),
    "bench": ("tests/test_bench.py",),
    "common/schema": ("tests/test_schema.py", "tests/scenario/test_units.py"),
    "common/tests": ("tests/scenario/test_units.py",),
    "controller": ("tests/controller/test_controller.py", "tests/controller/test_bfrt.py"),
    "narrows": ("tests/scenario",),
    "p4": ("tests/test_p4_build.py",),
    "switch/server": ("tests/p4runtime", "tests/switch/gnmi"),
    "scenarios": ("tests/scenario/test_json_schema.py",),
    "docs": ("tests/docs/test_reference.py", "tests/docs/test_site.py"),
    "testbed/cli": ("tests/cli/test_commands.py", "tests/cli/test_results_table.py"),
    "testbed/reference": ("tests/docs/test_reference.py",),
    "testbed/site": ("tests/docs/test_site.py",),
    "testbed/papers": ("tests/papers",),
    "testbed/runs": ("tests/runs/test_runs.py",),
    "testbed/scenario": ("tests/scenario",),
    "testbed/targets": ("tests/targets/test_ledger_from_reports.py", "tests/targets/test_lab.py"),
    "traffic": ("tests/traffic/test_scapy.py",),
}
"""The fast tests of a folder. Those of a folder inside it replace them."""
TESTED = (".py", ".p4", ".toml", ".json", ".html", ".css", ".js")
"""The ends of the names of files that have tests."""
ALWAYS = ("tests/test_architecture.py", "tests/test_sizes.py")
FAST = ("tests/analysis/", "tests/p4runtime/", "tests/papers/", "tests/scenario/")
"""Folders whose tests are run when they change."""


def main() -> int:
    """Runs every check; returns exit code 1 and names the check if one failed."""
    changed = changed_files(sys.argv[1:])
    with ThreadPoolExecutor() as pool:
        parts = (rust(changed), lints(changed), tests(changed))
        failed = [command for part in pool.map(failures, parts) for command in part]
    for command in failed:
        print(f"make check: FAILED: {command}", file=sys.stderr)
    if not failed:
        print(f"make check: passed ({len(changed)} files changed)")
    return 1 if failed else 0


def failures(commands: Iterable[Sequence[str]]) -> list[str]:
    """Runs commands one after another and prints their output; returns those that failed."""
    failed = []
    for command in commands:
        ran = subprocess.run(
            command, cwd=ROOT, env=environment(), check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        print(ran.stdout, end="", flush=True)
        if ran.returncode != 0:
            failed.append(" ".join(command))
    return failed


def changed_files(base: Sequence[str]) -> list[str]:
    """Changed paths from the root: those that differ from the base, and those unknown to git."""
    common = git("merge-base", "HEAD", "origin/main")
    since = base[0] if base else common[0] if common else "HEAD"
    return [
        *git("diff", "--name-only", since),
        *git("ls-files", "--others", "--exclude-standard"),
    ]


def git(*words: str) -> list[str]:
    """The lines that git prints; none if it fails."""
    ran = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return ran.stdout.splitlines() if ran.returncode == 0 else []


def rust(changed: Sequence[str]) -> Iterator[list[str]]:
    """The format of everything; the lints and unit tests of the crates that changed."""
    yield ["cargo", "fmt", "--all", "--check"]
    # cargo fmt does not find modules that a macro declares.
    disciplines = (ROOT / "queueing/src/disciplines").glob("*.rs")
    yield ["rustfmt", "--check", "--edition", "2024", *map(str, sorted(disciplines))]
    crates = {
        crate
        for folder, crate in CRATES.items()
        for path in changed
        if path.startswith(f"{folder}/") and path.endswith((".rs", "Cargo.toml"))
    }
    if crates:
        packages = [word for crate in sorted(crates) for word in ("-p", crate)]
        # The code for Python is behind a feature, without which it is not compiled.
        python = ["--features", "narrows-engine/python"] * ("narrows-engine" in crates)
        lint = ["cargo", "clippy", "--quiet", "--all-targets", *packages, *python]
        yield [*lint, "--", "-D", "warnings"]
        yield ["cargo", "test", "--quiet", "--lib", *packages]


def lints(changed: Sequence[str]) -> Iterator[list[str]]:
    """The format, lints and types of all Python; the scenarios that changed, without a run."""
    module = [sys.executable, "-m"]
    yield [*module, "ruff", "check", "--quiet"]
    yield [*module, "ruff", "format", "--check", "--quiet"]
    yield [*module, "mypy"]
    for path in changed:
        if path.startswith("scenarios/") and path.endswith(".toml") and (ROOT / path).exists():
            yield [*module, "narrows", "run", path, "--dry-run", "--quiet"]


def tests(changed: Sequence[str]) -> Iterator[list[str]]:
    """The fast tests of what changed, on all cores; then those that run alone."""
    own = {path for path in changed if path.startswith(FAST) and "/test_" in path}
    chosen = {path for path in own if (ROOT / path).exists()}
    chosen |= {test for path in changed for test in fast_tests(path)}
    alone = {test for test in chosen if test.removeprefix("tests/").startswith(ALONE)}
    pytest = [sys.executable, "-m", "pytest", "-q"]
    cores = ["--numprocesses", "auto", "--dist", "loadfile"]
    yield [*pytest, *cores, "-m", "not alone", *ALWAYS, *sorted(chosen - alone)]
    if alone:
        yield [*pytest, "-m", "alone", *sorted(alone)]


def fast_tests(path: str) -> Sequence[str]:
    """The fast tests of one file that changed."""
    folders = [folder for folder in TESTS if path.startswith(f"{folder}/")]
    if not folders or not path.endswith(TESTED):
        return ()
    folder = max(folders, key=len)
    if folder == FIGURES and is_figure(ROOT / path):
        return [*(f"{test}[{Path(path).stem}]" for test in OF_EACH_FIGURE), *OF_SWEEPS]
    return TESTS[folder]


def is_figure(file: Path) -> bool:
    """Whether the file ends in a figure's record; others in its folder serve several figures."""
    return file.exists() and bool(re.search(r"^FIGURE\b", file.read_text("utf-8"), re.MULTILINE))


if __name__ == "__main__":
    sys.exit(main())
