"""Fixtures for every test, and the summary of skipped tests."""

from __future__ import annotations

import gc
import signal
from collections import Counter
from collections.abc import Iterator

import pytest

from tests.support.real_time import Machine


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
    """Prints each reason for skipped tests in a line; `make test` prints them again."""
    reasons = Counter(
        report.longrepr[2].removeprefix("Skipped: ")
        for report in terminalreporter.getreports("skipped")
        if isinstance(report.longrepr, tuple)
    )
    lines = [f"{count} skipped: {reason}" for reason, count in reasons.most_common()]
    if lines:
        terminalreporter.section("skipped")
    for line in lines:
        terminalreporter.write_line(line)
    cache: pytest.Cache | None = getattr(config, "cache", None)
    if cache:
        text = "".join(f"{line}\n" for line in lines)
        (cache.mkdir("narrows") / "skipped.txt").write_text(text)
