"""What every test may ask for, and what is said at the end of all."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Iterator

import pytest

from tests.support.real_time import Machine


def pytest_configure() -> None:
    """Takes up SIGINT again where whoever started the tests ignores it.

    A shell without job control starts its background jobs with SIGINT ignored, which every child
    process of a test would inherit.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def machine() -> Iterator[Machine]:
    """Whether the machine stands still during the test."""
    watching = Machine()
    yield watching
    watching.longest_us()


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Says what was skipped and why, a line for each reason; `make test` says it once more."""
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
