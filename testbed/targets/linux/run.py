"""A run whose hosts are the Linux kernel's, on whatever switch side there is."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from narrows.testbed.problems import Problem
from narrows.testbed.targets.linux import checks, hosts, iperf3
from narrows.testbed.targets.linux.iperf3 import Iperf3
from narrows.testbed.targets.linux.sockets import Driver

Json = dict[str, Any]
Progress = Callable[[Json], bool]


DRIVERS = {"linux": Driver, "iperf3": Iperf3}
"""Who has the kernel's sockets, by the word of `--hosts`."""


def problems(plan: Json, word: str) -> list[Problem]:
    """Why a plan's hosts can't be these here; empty when they can."""
    more = iperf3.problems(plan) if word == "iperf3" else ()
    return hosts.problems(plan) or list(more)


def run(
    engine: Any,
    plan: Json,
    word: str,
    switch_side: Callable[[Any, Progress], Json],
    progress: Progress,
) -> Json:
    """Makes a plan's hosts, runs, and returns the summary, void where a host was in the way.

    `word` is that of `--hosts`. `switch_side` is given the `narrows._engine.Sockets` of the hosts,
    which name their devices, and whom to tell its progress; it runs the plan to its end. Raises
    `PlumbingError`, `VariantError`, OSError, and what the switch side raises.
    """
    with hosts.made(plan) as made:
        sockets = engine.Sockets(json.dumps(plan), made.devices)
        with DRIVERS[word](plan, made, sockets) as driver:

            def watched(state: Json) -> bool:
                driver.check()
                return progress(state)

            summary = switch_side(sockets, watched)
            driver.check()
            found = checks.excesses(made.namespaces)
    return voided(summary, found)


def voided(summary: Json, reasons: list[str]) -> Json:
    """A summary that more reasons make void, if there are any."""
    if not reasons:
        return summary
    first = [summary["invalid_reason"]] if summary["invalid_reason"] else []
    return summary | {"valid": False, "invalid_reason": "; ".join(first + reasons)}
