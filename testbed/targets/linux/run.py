"""A run with the Linux kernel's hosts, on any switch side."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from narrows.testbed import engine
from narrows.testbed.child_process import exit_at_sigterm
from narrows.testbed.files import write_summary
from narrows.testbed.targets.base import SwitchSide, Tell
from narrows.testbed.targets.linux import checks, hosts
from narrows.testbed.targets.linux.driver import Driver
from narrows.testbed.targets.linux.hosts import LinuxHosts
from narrows.testbed.targets.linux.namespaces import PlumbingError
from narrows.testbed.targets.linux.variants import VariantError
from narrows.testbed.worker_messages import SocketsError

if TYPE_CHECKING:
    from narrows._engine import Sockets
    from narrows.schema.plan import Plan
    from narrows.schema.summary import Progress, Summary

MakeDriver = Callable[["Plan", LinuxHosts, "Sockets"], Driver]
"""Creates the driver from a plan, its hosts, and the engine's `Sockets` of them."""


def run(
    plan_text: str,
    out: Path,
    make_driver: MakeDriver,
    switch_side: SwitchSide,
    progress: Tell,
) -> Summary:
    """Creates a plan's hosts and runs; see `Hosts.run`. The run is void if a host dropped or queued
    packets.

    The engine's `Sockets` name the hosts' devices.
    """
    plan = json.loads(plan_text)
    exit_at_sigterm()
    try:
        with hosts.made(plan) as made:
            sockets = engine.Sockets(plan_text, made.devices)
            with make_driver(plan, made, sockets) as driver:

                def watched(state: Progress) -> bool:
                    driver.check()
                    return progress(state)

                summary = switch_side(sockets, watched)
                driver.check()
                excesses = checks.excesses(made.namespaces)
    except (PlumbingError, VariantError) as error:
        raise SocketsError(str(error)) from None
    summary = voided(summary, excesses)
    write_summary(out, summary)
    return summary


def voided(summary: Summary, reasons: list[str]) -> Summary:
    """Adds reasons to a summary; any reason makes the run void."""
    if not reasons:
        return summary
    first = [summary["invalid_reason"]] if summary["invalid_reason"] else []
    return summary | {"valid": False, "invalid_reason": "; ".join(first + reasons)}
