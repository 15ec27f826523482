"""The pages of queue disciplines and workloads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from narrows.testbed import catalogue, engine
from narrows.testbed.reference.markdown import bullets, code, page, sentence, table
from narrows.testbed.scenario.keys.key import toml
from narrows.testbed.scenario.values import RECORD_UNITS

if TYPE_CHECKING:
    from narrows.schema.records import DisciplineParameter

RANGED = ("parameter", "type", "default", "from", "to", "meaning")


def disciplines() -> str:
    """Every queue discipline, and every reason to drop or to mark."""
    parts = []
    for record in catalogue.records("disciplines"):
        parts.append(f"## {record['name']}")
        order = "Packets leave in the order of arrival." if record["is_fifo"] else ""
        parts.append(f"{sentence(record['title'])} Source: {sentence(record['reference'])} {order}")
        rows = [
            [
                code(each["name"]),
                each["unit"],
                *(code(scenario_value(each, each[what])) for what in ("default", "min", "max")),
                sentence(each["origin"]),
            ]
            for each in record["parameters"]
        ]
        parts.append(table(RANGED, rows))
        if record["not_implemented"]:
            parts.append(f"Not implemented:\n\n{bullets(record['not_implemented'])}")
    drops, marks = (
        [[code(reason["name"]), sentence(reason["meaning"])] for reason in reasons]
        for reasons in (engine.drop_reasons(), engine.mark_reasons())
    )
    return page(
        "Queue disciplines",
        "A port's discipline decides which packets its queue sends, drops and marks. A scenario"
        " names it in `bottleneck.discipline`, with parameters as"
        ' `{ name = "codel", target = "5ms" }`.'
        " The queue's limit is `bottleneck.queue`.",
        *parts,
        "## Reasons to drop",
        "The ledger's column `reason`, the summary and gNMI's counters have these names.",
        table(["reason", "meaning"], drops),
        "## Reasons to mark",
        "A mark sets the codepoint for congestion experienced.",
        table(["reason", "meaning"], marks),
    )


def scenario_value(parameter: DisciplineParameter, value: float) -> str:
    """A value of a discipline's parameter, as a scenario has it."""
    unit = parameter["unit"]
    return toml(RECORD_UNITS[unit][1](value if unit == "number" else int(value)))


def workloads() -> str:
    """Every workload with its keys."""
    parts = []
    for record in catalogue.records("workloads"):
        parts.append(f"## {record['name']}")
        notes = [
            "It writes messages." if record["has_messages"] else "It writes one stream.",
            "Both ends write." if record["answers"] else "",
        ]
        parts.append(
            f"{sentence(record['title'])} Source: {sentence(record['reference'])}"
            f" {' '.join(filter(None, notes))}"
        )
        rows = [
            [
                code(key["name"]),
                key["unit"],
                "required" if key["is_required"] else key["default"] or "",
                sentence(key["meaning"]),
            ]
            for key in record["keys"]
        ]
        parts.append(table(["key", "type", "default", "meaning"], rows))
    return page(
        "Workloads",
        "A workload decides when an application writes, and how much. A scenario names it in"
        ' `flow.app`, with its keys: `app = { kind = "cbr", rate = "64kbps", size = "80B" }`.',
        *parts,
    )
