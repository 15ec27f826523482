"""The files of docs/reference/ that are written from the code."""

from __future__ import annotations

from collections.abc import Callable

from narrows.testbed.reference import (
    budgets,
    commands,
    gnmi,
    network,
    python,
    results,
    scenario,
    senders,
    summary,
)

FILES: dict[str, Callable[[], str]] = {
    "scenario.md": scenario.scenario,
    "scenario.schema.json": scenario.schema,
    "variants.md": senders.variants,
    "recoveries.md": senders.recoveries,
    "profiles.md": senders.profiles,
    "ns2-names.md": senders.ns2_names,
    "disciplines.md": network.disciplines,
    "workloads.md": network.workloads,
    "figures.md": results.figures,
    "tables.md": results.tables,
    "summary.md": summary.summary,
    "formats.md": results.formats,
    "commands.md": commands.commands,
    "python.md": python.python,
    "targets.md": commands.targets,
    "gnmi-paths.md": gnmi.paths,
    "budgets.md": budgets.budgets,
}
"""By name, in the order of a reader."""


def files() -> dict[str, str]:
    """The text of every file."""
    return {name: write() for name, write in FILES.items()}
