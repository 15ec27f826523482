"""`make check` chooses the fast tests of the rooms that changed."""

from __future__ import annotations

import pytest

from narrows.testbed.paths import ROOT
from tests import check


@pytest.mark.parametrize("room", check.TESTS)
def test_rooms_and_their_fast_tests_exist(room: str) -> None:
    assert (ROOT / room).is_dir()
    assert [test for test in check.TESTS[room] if not (ROOT / test).exists()] == []


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
    commands = list(check.python(["scenarios/cve.toml"]))
    assert [words[3:] for words in commands if "run" in words] == [
        ["run", "scenarios/cve.toml", "--dry-run", "--quiet"]
    ]
    assert "tests/scenario/test_json_schema.py" in commands[-1]


def test_commands_that_failed_are_named(capfd: pytest.CaptureFixture[str]) -> None:
    failed = check.failures([["sh", "-c", "echo said; exit 3"], ["true"]])
    assert failed == ["sh -c echo said; exit 3"]
    assert capfd.readouterr().out == "said\n"
