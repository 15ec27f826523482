"""Fixtures for every test, and the summary of skipped tests."""

from __future__ import annotations

import gc
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.support.real_time import Machine

TESTS = Path(__file__).parent
ALONE: Final = (
    "fpga/lab/test_run.py", "fpga/test_board_model.py", "interop", "ipv6/test_bmv2.py",
    "p4runtime/test_load.py", "packets", "switch/test_live_switch.py", "switch/test_record.py",
    "targets", "tools/test_calibrate.py", "tools/test_lab.py", "tools/test_shell.py",
    "traffic/test_generate.py",
)  # fmt: skip
"""Tests that measure time, or that open ports and network namespaces; other tests at the same time
would disturb them. `make test` shares out the rest among all cores.
"""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leaves out the files of the other part, whose imports take seconds in each process."""
    if not collection_path.match("test_*.py") or TESTS not in collection_path.parents:
        return None
    return {"alone": not alone(collection_path), "not alone": alone(collection_path)}.get(
        config.getoption("markexpr")
    ) or None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks the tests that run alone. A mark in a file would leave it out of both parts."""
    for item in items:
        if item.get_closest_marker("alone"):
            raise pytest.UsageError(f"{item.path}: marked alone; add the file to ALONE instead")
        if alone(item.path):
            item.add_marker(pytest.mark.alone)


def alone(file: Path) -> bool:
    """Whether the tests of a file run alone."""
    return file.relative_to(TESTS).as_posix().startswith(ALONE)


def pytest_configure() -> None:
    """Restores SIGINT if the process that started the tests ignores it.

    A shell without job control starts its background jobs with SIGINT ignored, which every child
    process of a test would inherit.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def machine() -> Iterator[Machine]:
    """Whether the machine stalls during the test.

    Python's garbage collector stops all threads of this process while it visits what earlier tests
    left in memory, for up to 0.2 s. It waits until the test ends.
    """
    watching = Machine()
    gc.disable()
    try:
        yield watching
    finally:
        gc.enable()
    watching.longest_us()


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Prints a line for each reason to skip tests; `make test` adds up those of its parts."""
    reasons = Counter(
        report.longrepr[2].removeprefix("Skipped: ")
        for report in terminalreporter.getreports("skipped")
        if isinstance(report.longrepr, tuple)
    )
    if reasons:
        terminalreporter.section("skipped")
    for line in lines_of(reasons):
        terminalreporter.write_line(line)
    cache: pytest.Cache | None = getattr(config, "cache", None)
    if cache:
        part = "alone" if config.getoption("markexpr") == "alone" else "together"
        file = cache.mkdir("narrows") / f"skipped-{part}.txt"
        file.write_text("".join(f"{line}\n" for line in lines_of(reasons)))


def lines_of(reasons: Counter[str]) -> list[str]:
    """A line for each reason, the most frequent first."""
    return [f"{count} skipped: {reason}" for reason, count in reasons.most_common()]
