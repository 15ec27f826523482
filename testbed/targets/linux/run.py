"""A run whose hosts are the Linux kernel's, on whatever switch side there is."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from narrows.testbed import catalogue
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
    from narrows.schema.plan import Plan
    from narrows.schema.summary import Progress, Summary

MakeDriver = Callable[["Plan", LinuxHosts, Any], Driver]
"""Of a plan, its hosts, and the engine's `Sockets` of these."""


def run(
    plan_text: str,
    out: Path,
    make_driver: MakeDriver,
    switch_side: SwitchSide,
    progress: Tell,
) -> Summary:
    """Makes a plan's hosts and runs; see `Hosts.run`. The run is void where a host was in the way.

    The engine's `Sockets` name the hosts' devices.
    """
    engine, plan = catalogue.engine(), json.loads(plan_text)
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
    """A summary that more reasons make void, if there are any."""
    if not reasons:
        return summary
    first = [summary["invalid_reason"]] if summary["invalid_reason"] else []
    return summary | {"valid": False, "invalid_reason": "; ".join(first + reasons)}
