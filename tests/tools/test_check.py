"""`make check` chooses the fast tests of the rooms that changed."""

from __future__ import annotations

import pytest

from narrows.testbed.paths import ROOT
from tests import check


@pytest.mark.parametrize("room", check.TESTS)
def test_rooms_and_their_fast_tests_exist(room: str) -> None:
    assert (ROOT / room).is_dir()
    assert [test for test in check.TESTS[room] if not (ROOT / test).exists()] == []


def test_a_crates_change_is_linted_and_tested() -> None:
    commands = list(check.commands(["queueing/src/link.rs"]))
    assert [command[1] for command in commands if "narrows-queueing" in command] == [
        "clippy",
        "test",
    ]


def test_a_page_needs_no_compiler() -> None:
    assert not [command for command in check.commands(["docs/index.md"]) if "clippy" in command]
