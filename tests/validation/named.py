"""Checks that are tests elsewhere: a row shows the tests that bear its name.

A test belongs to the first name of the registry in its own, dashes as underscores, as whole words:
`yeah_halves_against_reno` is `yeah`'s, `aimd_fc_plus_settles` no `aimd-fc`'s. A packetdrill script
counts for what its options choose.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.validation.cases import ROOT
from tests.validation.table import Cell


@functools.cache
def matching_tests(pattern: str) -> tuple[tuple[str, str], ...]:
    """Tests in the files that match a pattern: the file and the test's name, dashes underscores."""
    found = []
    for path in sorted(ROOT.glob(pattern)):
        name = path.relative_to(ROOT).as_posix()
        match path.suffix:
            case ".rs":
                tests = re.findall(r"#\[test\]\s+fn (\w+)", path.read_text())
            case _:
                tests = re.findall(r"^def test_(\w+)", path.read_text(), re.M)
        found += [(name, test) for test in tests]
    return tuple(found)


def owner(test: str, names: Sequence[str]) -> str | None:
    """The name that a test bears: the first, and of two that begin there the longer."""
    at = {name: f"_{test}_".find(f"_{name.replace('-', '_')}_") for name in names}
    borne = [name for name in names if at[name] >= 0]
    return min(borne, key=lambda name: (at[name], -len(name)), default=None)


def by_option(option: str, pattern: str) -> Callable[[str], Cell | None]:
    """The cell that lists the packetdrill scripts which set an option to a row's name."""

    def cell(row: str) -> Cell | None:
        line = re.compile(rf"^--{option}={re.escape(row)}$", re.M)
        scripts = [path for path in sorted(ROOT.glob(pattern)) if line.search(path.read_text())]
        return Cell(", ".join(f"`{path.stem}`" for path in scripts)) if scripts else None

    return cell


def by_name(names: Sequence[str], *patterns: str) -> Callable[[str], Cell | None]:
    """The cell that lists a row's tests in the files of these patterns."""
    return _listing(names, patterns, lambda _, test: test)


def by_file_or_name(names: Sequence[str], *patterns: str) -> Callable[[str], Cell | None]:
    """As `by_name`; the tests of a file that bears a name are that name's."""
    return _listing(names, patterns, lambda file, test: f"{Path(file).stem}_{test}")


def _listing(
    names: Sequence[str], patterns: Sequence[str], bears: Callable[[str, str], str]
) -> Callable[[str], Cell | None]:
    def cell(row: str) -> Cell | None:
        all_tests = [found for pattern in patterns for found in matching_tests(pattern)]
        own = [test for file, test in all_tests if owner(bears(file, test), names) == row]
        return Cell(", ".join(f"`{test}`" for test in own)) if own else None

    return cell
