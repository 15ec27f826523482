"""The options that each target adds to a command, from the targets' own records."""

from __future__ import annotations

import argparse
from typing import Any

from narrows.testbed.problems import InputError, Problem
from narrows.testbed.targets import TARGETS
from narrows.testbed.targets.base import Target


def add_options(command: argparse.ArgumentParser, *, only_hardware: bool = False) -> None:
    """Every target's options, or those that name hardware."""
    for target in TARGETS.values():
        for option in target.options:
            if only_hardware and not option.names_hardware:
                continue
            if option.metavar is None:
                action = argparse.BooleanOptionalAction
                command.add_argument(option.flag, action=action, help=option.help)
            else:
                command.add_argument(option.flag, metavar=option.metavar, help=option.help)


def own_options(options: argparse.Namespace, target: Target | None) -> dict[str, Any]:
    """What was given for a target's own options. Raises `InputError` for another target's."""
    for other in TARGETS.values():
        for option in () if other is target else other.options:
            if value := getattr(options, option.key, None):
                key = "" if value is True else str(value)
                what = f"expected --target {other.name} with it"
                raise InputError(option.flag, [Problem(key, what)])
    own = target.options if target else ()
    return {option.key: getattr(options, option.key, None) for option in own}
