"""`narrows list`: what there is to choose from."""

from __future__ import annotations

import argparse
import os
from typing import Any

from narrows.testbed import catalogue
from narrows.testbed.problems import InputError, Problem
from narrows.testbed.targets import TARGETS

LISTS = (
    "scenarios", "variants", "recoveries", "agents", "sinks", "profiles", "workloads",
    "disciplines", "keys", "figures", "formats", "papers", "targets",
)  # fmt: skip


def add_command(commands: Any) -> None:
    """The sub-command and its options."""
    command = commands.add_parser("list", help="what there is to choose from")
    command.add_argument("what", choices=LISTS, help="which list")
    command.add_argument(
        "prefix", nargs="?", default="", metavar="PREFIX",
        help="with keys: those of this table only, e.g. bottleneck or flow.app",
    )  # fmt: skip
    command.set_defaults(command=run)


def run(options: argparse.Namespace) -> int:
    """`narrows list`."""
    from narrows.testbed.cli.tables import list_table
    from narrows.testbed.terminal import console

    if options.prefix and options.what != "keys":
        raise InputError("list", [Problem(options.prefix, "is expected with `list keys` only")])
    console().print(list_table(*listed(options.what, options.prefix)))
    return 0


def listed(what: str, prefix: str = "") -> tuple[list[str], list[list[str]]]:
    """The columns and rows of a list; of the keys those below `prefix`. Raises `InputError`."""
    from narrows.testbed.paths import ROOT
    from narrows.testbed.scenario import sweep

    match what:
        case "scenarios":
            files = sorted(ROOT.glob("scenarios/**/*.toml"))
            shown = [os.path.relpath(path) for path in files]
            titles = [str(sweep.read_toml(path).get("title", "")) for path in files]
            return ["scenario", "title"], [list(row) for row in zip(shown, titles, strict=True)]
        case "keys":
            return list_of_keys(prefix)
        case "targets":
            return ["target", "what it is"], [[each.name, each.title] for each in TARGETS.values()]
        case "papers":
            from narrows.testbed.papers import PAPERS

            return ["paper", "reference"], [[paper.name, paper.reference] for paper in PAPERS]
        case "figures":
            from narrows.analysis.figures import FIGURES

            columns = ["figure", "title", "needs"]
            return columns, [[figure.name, figure.title, figure.needed] for figure in FIGURES]
        case "formats":
            from narrows.analysis.export import FORMATS

            return ["format", "title"], [[each.name, each.title] for each in FORMATS]
        case "variants":
            columns = ["variant", "class", "title", "needs", "parameters", "reference", "checked"]
            checked = catalogue.checks("variant")
            return columns, [
                [
                    record["name"],
                    record["class"],
                    record["title"],
                    ", ".join(record["needs"]),
                    ", ".join(f"{p['name']}={p['default']:.5g}" for p in record["parameters"]),
                    record["reference"],
                    "; ".join(checked.get(record["name"], [])),
                ]
                for record in (*catalogue.records(what), *catalogue.records("senders"))
            ]
        case "disciplines":
            columns = ["discipline", "title", "parameters", "drops as", "reference"]
            return columns, [
                [
                    record["name"],
                    record["title"],
                    ", ".join(map(parameter, record["parameters"])),
                    ", ".join(["queue-full", *(reason["name"] for reason in record["drops"])]),
                    record["reference"],
                ]
                for record in catalogue.records(what)
            ]
        case "agents" | "sinks":
            return ["name", "also", "title"], [
                [record["name"], ", ".join(record["aliases"]), record["title"]]
                for record in catalogue.records(what)
            ]
        case _:
            records = catalogue.records(what)
            return ["name", "title"], [[record["name"], record["title"]] for record in records]


def list_of_keys(prefix: str) -> tuple[list[str], list[list[str]]]:
    """The keys of a scenario below `prefix`. Raises `InputError` where there is none."""
    from narrows.testbed.scenario.keys.key import keys

    rows = []
    for key in keys(prefix):
        default = "required" if key.is_required else key.default or key.absent
        rows.append([key.path, key.of, key.type, key.unit, default, key.example, key.meaning])
    return ["key", "of", "type", "unit", "default", "example", "meaning"], rows


def parameter(record: dict[str, Any]) -> str:
    """A discipline's parameter with its default, in the unit of a scenario."""
    from narrows.testbed.scenario.values import RECORD_UNITS

    unit, default = record["unit"], record["default"]
    write = RECORD_UNITS[unit][1]
    return f"{record['name']}={write(default if unit == 'number' else int(default))}"
