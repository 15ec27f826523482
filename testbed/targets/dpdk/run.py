"""A run on DPDK ports, in one process or in two."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from narrows.testbed import engine
from narrows.testbed.targets.base import Tell
from narrows.testbed.targets.dpdk import processes
from narrows.testbed.targets.dpdk.setup import begin_at
from narrows.testbed.targets.switch_setup import set_up

if TYPE_CHECKING:
    from narrows._engine import Sockets, Watch
    from narrows.schema.run import Settings
    from narrows.schema.summary import Summary


def run(
    plan: str,
    out: Path,
    progress: Tell,
    settings: Settings,
    sockets: Sockets | None,
    watch: Watch | None = None,
) -> Summary:
    """Runs a plan; see `Target.run`. `settings` are `RunSettings` as JSON."""
    setup, devices = settings["setup"], settings["devices"]
    if settings["processes"] and watch is None:
        return processes.run(plan, setup, out, progress)
    # With given devices, the switches run elsewhere.
    switches = None if devices else set_up(json.loads(plan))
    meet = begin_at(settings["begin_s"])
    return engine.run_real_time(
        plan, str(out), setup, progress, switches, sockets,
        devices=devices, meet=meet, watch=watch,
    )  # fmt: skip
