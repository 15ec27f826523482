"""The campaign's targets, each with some cases; `make fuzz` runs millions."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fuzz import campaign


def targets(directory: Path) -> Iterator[tuple[str, campaign.Case]]:
    yield from (*campaign.p4runtime(), *campaign.openconfig(), *campaign.files(directory))


def test_no_case_fails_unexpectedly(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    failures = {name: campaign.run(name, case, 0.0, 60) for name, case in targets(tmp_path)}
    assert len(failures) == 8
    assert not any(failures.values()), capsys.readouterr().err
    # Some are accepted, so that the cases reach what comes after the parsers.
    lines = capsys.readouterr().out.splitlines()
    assert not [line for line in lines if ", 0 accepted" in line]


def test_an_unexpected_error_is_a_failure(capsys: pytest.CaptureFixture[str]) -> None:
    def case(draw: random.Random) -> bool:
        raise KeyError(draw.randrange(9))

    assert campaign.run("wrong", case, 0.0, 3) == 3
    assert "wrong: case 0 failed" in capsys.readouterr().err
