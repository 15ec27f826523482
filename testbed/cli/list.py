"""`narrows list`: lists the available variants, figures, keys and other choices."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from narrows.testbed import catalogue
from narrows.testbed.problems import InputError, Problem
from narrows.testbed.targets import TARGETS

if TYPE_CHECKING:
    from narrows.schema.records import DisciplineParameter, SenderRecord, VariantRecord

LISTS = (
    "scenarios", "variants", "recoveries", "agents", "sinks", "profiles", "workloads",
    "disciplines", "keys", "figures", "formats", "papers", "targets",
)  # fmt: skip


def add_command(commands: Any) -> None:
    """The sub-command and its options."""
    command = commands.add_parser(
        "list", help="list variants, disciplines, figures, keys and other choices"
    )
    command.add_argument("what", choices=LISTS, help="the list to print")
    command.add_argument(
        "prefix", nargs="?", default="", metavar="PREFIX",
        help="keys: only those of this table, e.g. bottleneck or flow.app; "
        "variants: the whole record of this one",
    )  # fmt: skip
    command.add_argument("--json", action="store_true", help="print the list as JSON")
    command.set_defaults(command=run)


def run(options: argparse.Namespace) -> int:
    """`narrows list`. Raises `InputError`."""
    from narrows.testbed.cli.tables import list_table
    from narrows.testbed.terminal import console

    if options.what == "variants" and options.prefix:
        print(variant_page(options.prefix))
        return 0
    if options.prefix and options.what != "keys":
        what = "is expected with `list keys` or `list variants` only"
        raise InputError("list", [Problem(options.prefix, what)])
    columns, rows = listed(options.what, options.prefix)
    if options.json:
        names = [dict(zip(columns, row, strict=True)) for row in rows]
        print(json.dumps(names, indent=1, ensure_ascii=False))
        return 0
    console().print(list_table(columns, rows))
    return 0


def listed(what: str, prefix: str = "") -> tuple[list[str], list[list[str]]]:
    """The columns and rows of a list; for keys, those below `prefix`. Raises `InputError`."""
    from narrows.testbed import shipped
    from narrows.testbed.scenario import sweep

    match what:
        case "scenarios":
            files = {name: shipped.scenario_path(name) for name in shipped.names()}
            return ["scenario", "title", "file"], [
                [name, str(sweep.read_toml(path).get("title", "")), str(path)]
                for name, path in files.items()
            ]
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
            return ["variant", "class", "title"], [
                [record["name"], record["class"], record["title"]] for record in variants()
            ]
        case "disciplines":
            columns = ["discipline", "title", "parameters", "drops as", "marks as", "reference"]
            return columns, [
                [
                    record["name"],
                    record["title"],
                    ", ".join(map(parameter, record["parameters"])),
                    ", ".join(["queue-full", *(reason["name"] for reason in record["drops"])]),
                    ", ".join(reason["name"] for reason in record["marks"]),
                    record["reference"],
                ]
                for record in catalogue.records(what)
            ]
        case "agents" | "sinks":
            agents, sinks = catalogue.records("agents"), catalogue.records("sinks")
            return ["name", "also", "title"], [
                [record["name"], ", ".join(record["aliases"]), record["title"]]
                for record in (agents if what == "agents" else sinks)
            ]
        case _:
            records = catalogue.records(what)
            return ["name", "title"], [[record["name"], record["title"]] for record in records]


def variants() -> list[VariantRecord | SenderRecord]:
    """The records of the TCP variants and of the datagram senders."""
    return [*catalogue.records("variants"), *catalogue.records("senders")]


def variant_page(name: str) -> str:
    """All contents of a variant's record. Raises `InputError` for an unknown variant."""
    found = next((record for record in variants() if record["name"] == name), None)
    if found is None:
        what = catalogue.unknown("variant", name, [record["name"] for record in variants()])
        raise InputError("list", [Problem("variants", what, name)])
    checked = catalogue.checks("variant").get(name, [])
    lines = [f"{name}: {found['title']}", "", f"class       {found['class']}"]
    lines.append(f"needs       {', '.join(found['needs']) or 'nothing'}")
    lines.append(f"reference   {found['reference']}")
    lines.append(f"checked by  {'; '.join(checked) or 'nothing'}")
    if parameters := found["parameters"]:
        lines += ["", "parameters (params = { name = value }):"]
    wide = max((len(one["name"]) for one in parameters), default=0)
    for one in parameters:
        span = f"{one['min']:g} to {one['max']:g}"
        lines.append(f"  {one['name']:{wide}}   {one['default']:.5g} ({span})   {one['meaning']}")
    return "\n".join(lines)


def list_of_keys(prefix: str) -> tuple[list[str], list[list[str]]]:
    """The keys of a scenario below `prefix`. Raises `InputError` if there are none."""
    from narrows.testbed.scenario.keys.key import keys

    rows = []
    for key in keys(prefix):
        default = "required" if key.is_required else key.default or key.absent
        rows.append([key.path, key.of, key.type, key.unit, default, key.example, key.meaning])
    return ["key", "of", "type", "unit", "default", "example", "meaning"], rows


def parameter(record: DisciplineParameter) -> str:
    """A discipline's parameter with its default, in a scenario's unit."""
    from narrows.testbed.scenario.values import RECORD_UNITS

    unit, default = record["unit"], record["default"]
    write = RECORD_UNITS[unit][1]
    return f"{record['name']}={write(default if unit == 'number' else int(default))}"
