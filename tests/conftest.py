"""What every test may ask for, and what is said at the end of all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from tests.support.real_time import Machine


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
