"""`make check` chooses the fast tests of the rooms that changed."""

from __future__ import annotations

import pytest

from narrows.analysis.figures import FIGURES
from narrows.testbed.paths import ROOT
from tests import check


@pytest.mark.parametrize("folder", check.TESTS)
def test_folders_and_their_fast_tests_exist(folder: str) -> None:
    assert (ROOT / folder).is_dir()
    assert [test for test in check.TESTS[folder] if not (ROOT / test).exists()] == []


@pytest.mark.parametrize("path", [*check.ALWAYS, *check.FAST, *check.CRATES])
def test_what_is_named_exists(path: str) -> None:
    assert (ROOT / path).exists()


@pytest.mark.parametrize("test", check.OF_EACH_FIGURE)
def test_a_test_of_each_figure_has_its_name(test: str) -> None:
    file, _, name = test.partition("::")
    by_name = 'figure", FIGURES, ids=lambda figure: figure.name)'
    _, begin, after = (ROOT / file).read_text(encoding="utf-8").partition(f'"{by_name}')
    assert begin and f"\ndef {name}(" in begin + after


def test_the_analysis_has_all_its_tests() -> None:
    named = {test for folder in check.TESTS if folder.startswith("analysis")
             for test in check.TESTS[folder]}  # fmt: skip
    files = {f"tests/analysis/{path.name}" for path in (ROOT / "tests/analysis").glob("test_*.py")}
    assert files <= named


def test_one_figure_is_drawn_if_one_changed() -> None:
    names = {path.stem for path in (ROOT / check.FIGURES).glob("*.py") if check.is_figure(path)}
    assert names == {figure.name for figure in FIGURES}
    cwnd = check.fast_tests("analysis/figures/cwnd.py")
    assert cwnd[-3].endswith("test_layout.py::test_no_text_is_clipped_or_overlaps[cwnd]")
    assert check.fast_tests("analysis/figures/base.py") == check.TESTS[check.FIGURES]


@pytest.mark.parametrize(
    ("path", "tests"),
    [
        ("analysis/export/csv.py", ["tests/export"]),
        ("testbed/papers/wang_2013.py", ["tests/papers"]),
        ("analysis/README.md", []),
    ],
)
def test_the_deepest_folder_has_the_tests(path: str, tests: list[str]) -> None:
    assert list(check.fast_tests(path)) == tests


def test_tests_that_run_alone_do_so() -> None:
    together, alone = check.tests(["testbed/targets/lab.py", "testbed/runs/jobs.py"])
    assert "tests/runs/test_runs.py" in together and "tests/targets/test_lab.py" not in together
    assert alone[-3:] == [
        "alone", "tests/targets/test_lab.py", "tests/targets/test_ledger_from_reports.py",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("path", "crate"),
    [
        ("queueing/src/link.rs", "narrows-queueing"),
        ("fpga/driver/src/model.rs", "narrows-fpga"),
    ],
)
def test_a_crates_change_is_linted_and_tested(path: str, crate: str) -> None:
    assert [command[1] for command in check.rust([path]) if crate in command] == ["clippy", "test"]


def test_a_page_needs_no_compiler() -> None:
    assert [command[0] for command in check.rust(["docs/index.md"])] == ["cargo", "rustfmt"]


def test_the_engines_code_for_python_is_linted() -> None:
    [lint] = [
        command for command in check.rust(["engine/src/python/run.rs"]) if "clippy" in command
    ]
    assert "narrows-engine/python" in lint


def test_a_changed_scenario_is_read_and_compared_with_its_schema() -> None:
    commands = list(check.lints(["scenarios/cve.toml"]))
    assert [words[3:] for words in commands if "run" in words] == [
        ["run", "scenarios/cve.toml", "--dry-run", "--quiet"]
    ]
    [together] = check.tests(["scenarios/cve.toml"])
    assert "tests/scenario/test_json_schema.py" in together


def test_commands_that_failed_are_named(capfd: pytest.CaptureFixture[str]) -> None:
    failed = check.failures([["sh", "-c", "echo said; exit 3"], ["true"]])
    assert failed == ["sh -c echo said; exit 3"]
    assert capfd.readouterr().out == "said\n"
