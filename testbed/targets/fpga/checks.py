"""What a board cannot do of a scenario, by its keys."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from narrows.schema import units
from narrows.testbed.problems import InputError, Problem
from narrows.testbed.scenario.schema import Scenario
from narrows.testbed.targets.rtl import STEP
from narrows.testbed.targets.rtl.board_model import LEAST_DELAY_PS, LINE_BPS

CHANGES: Final = ("rate", "queue", "discipline", "loss")
"""What an event can change at a board."""


def check(scenario: Scenario, source: str, target: str, disciplines: tuple[str, ...]) -> None:
    """Raises `InputError`, naming `source`, for a scenario that no board can run."""
    if scenario.bottleneck is None:
        what = "expected a dumbbell: a board is one switch with two ports"
        raise InputError(source, [Problem("bottleneck", what)])
    if problems := [*of_bottleneck(scenario, target), *of_events(scenario, target, disciplines)]:
        raise InputError(source, problems)


def of_bottleneck(scenario: Scenario, target: str) -> Iterator[Problem]:
    """The problems of the bottleneck and of the program."""
    port = scenario.bottleneck
    assert port is not None
    if scenario.program is not None:
        what = f"is not supported by --target {target}: a board runs no P4 program"
        yield Problem("program", what, scenario.program)
    if port.rate > LINE_BPS:
        shown = units.format_rate(port.rate)
        what = f"above {units.format_rate(LINE_BPS)}, a board's line"
        yield Problem("bottleneck.rate", what, shown)
    if port.delay < LEAST_DELAY_PS:
        what = "expected at least 4us, which a board takes to decide and send"
        yield Problem("bottleneck.delay", what, units.format_duration(port.delay))
    given = port.discipline.model_extra or {}
    for name, step in STEP.items():
        if given.get(name, step) != step:
            what = f"--target {target} marks in a step: {step:g}"
            yield Problem(f"bottleneck.discipline.{name}", what)


def of_events(scenario: Scenario, target: str, disciplines: tuple[str, ...]) -> Iterator[Problem]:
    """The problems of what events change."""
    for index, event in enumerate(scenario.event):
        for link, change in event.set.by_link():
            key = f"event.{index}.set.{link}"
            for name in sorted(change.model_fields_set - {*CHANGES, "delay"}):
                yield Problem(f"{key}.{name}", f"is not supported by --target {target}")
            if change.rate is not None and change.rate > LINE_BPS:
                what = f"above {units.format_rate(LINE_BPS)}, a board's line"
                yield Problem(f"{key}.rate", what, units.format_rate(change.rate))
            if change.discipline is not None and change.discipline.name not in disciplines:
                what = f"--target {target} supports only {', '.join(disciplines)}"
                yield Problem(f"{key}.discipline", what, change.discipline.name)
