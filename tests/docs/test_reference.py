"""The reference in docs/ agrees with the code's records, and its examples are valid."""

from __future__ import annotations

import argparse
import json
import re
import tomllib
from typing import Any

import pytest
from pydantic import ValidationError

from narrows.controller import __main__ as controller
from narrows.switch.server.gnmi.leaves import LEAVES
from narrows.switch.server.gnmi.meanings import MEANINGS
from narrows.switch.server.gnmi.queue_leaves import counter_leaves, scheduler_leaves
from narrows.switch.server.gnmi.wred import wred_leaves
from narrows.testbed import catalogue, engine
from narrows.testbed.cli import main as cli
from narrows.testbed.cli.list import listed
from narrows.testbed.reference import gnmi
from narrows.testbed.reference.commands import subcommands
from narrows.testbed.reference.markdown import table, wrapped
from narrows.testbed.reference.pages import FILES
from narrows.testbed.scenario import sweep
from narrows.testbed.scenario.flows import App
from narrows.testbed.scenario.keys.key import Key, keys
from narrows.testbed.scenario.schema import Scenario
from tests.support.world import ROOT, TWO_FLOWS

KEYS = keys()
IN_FILE = [key for key in KEYS if key.example and not key.path.startswith("sweep.")]
FIXED = [key for key in IN_FILE if not key.of and not key.path.endswith("discipline.name")]
OWN_TOPOLOGY = """
title = "Two switches"
duration = "5s"
switch = [{ name = "s1" }, { name = "s2" }]
link = [{ from = "s1", to = "s2", rate = "5Mbps", delay = "5ms" }]
host = [{ name = "h1", switch = "s1" }, { name = "h2", switch = "s2" }]
flow = [{ variant = "reno", from = "h1", to = "h2" }]
event = [{ at = "1s", set = {} }]
"""
DUMBBELL = f"{TWO_FLOWS}\n[[event]]\nat = '1s'\nset = {{}}\n"


@pytest.mark.parametrize("name", FILES)
def test_a_page_is_what_the_records_say(name: str) -> None:
    text = (ROOT / "docs/reference" / name).read_text(encoding="utf-8")
    assert text == FILES[name](), f"docs/reference/{name} is out of step: make reference"


def test_every_file_of_the_reference_is_generated() -> None:
    assert {path.name for path in (ROOT / "docs/reference").iterdir()} == set(FILES)


@pytest.mark.parametrize("parser", [cli.parser(), controller.parser()], ids=lambda each: each.prog)
def test_every_option_of_a_command_has_a_help_text(parser: argparse.ArgumentParser) -> None:
    for name, about, inner in subcommands(parser):
        assert about, name
        assert [each.dest for each in inner._actions if len((each.help or "").split()) < 2] == []


def test_the_page_of_the_summary_has_every_key_of_its_schema() -> None:
    schema = json.loads((ROOT / "common/schema/summary.schema.json").read_text(encoding="utf-8"))
    text = (ROOT / "docs/reference/summary.md").read_text(encoding="utf-8")
    elsewhere = {"Generated", "Progress"}
    inner = [part for name, part in schema["$defs"].items() if name not in elsewhere]
    for part in (schema, *inner):
        for key, value in part.get("properties", {}).items():
            assert value.get("description"), key
            assert f"| `{key}` |" in text


def test_every_key_has_a_meaning() -> None:
    assert [key.path for key in KEYS if not key.meaning] == []


def test_every_key_but_a_table_has_an_example() -> None:
    tables = ("table", "tables")
    without = {key.path for key in KEYS if not key.example and key.type not in tables}
    assert {path for path in without if not path.startswith("flow.params.")} == set()


@pytest.mark.parametrize("key", FIXED, ids=[key.path for key in FIXED])
def test_the_example_of_a_key_is_accepted(key: Key) -> None:
    is_dumbbell = key.path.startswith(("bottleneck.", "event.set.bottleneck."))
    tree = tomllib.loads(DUMBBELL if is_dumbbell or key.path == "rtt" else OWN_TOPOLOGY)
    if key.path == "rtt":
        del tree["bottleneck"]["delay"]
    path, value = key.path, tomllib.loads(f"value = {key.example}")["value"]
    if ".queues." in path:
        before, _, last = path.partition(".queues.")
        number = {"queue": 0} if path.startswith("event.") else {}
        path, value = f"{before}.queues", [number | {last: value}]
    if ".discipline" in path or '"' in path:
        path, value = inline(path, value)
    sweep.override("test", tree, path, value)
    wrong = [place for place in refused(tree) if value_is_at(place, key.path)]
    # A table without its rate is not a queue without one.
    assert [place for place in wrong if ".queues." not in key.path or "queues" in place] == []


def inline(path: str, value: Any) -> tuple[str, Any]:
    """A path whose last parts `override` cannot reach, with a table as its value."""
    head, _, tail = path.partition('"s1->s2".')
    return (path, value) if not tail else (head.rstrip("."), {"s1->s2": {tail: value}})


def refused(tree: dict[str, Any]) -> list[tuple[Any, ...]]:
    """The locations of the models' errors."""
    try:
        Scenario.model_validate(tree)
    except ValidationError as error:
        return [item["loc"] for item in error.errors()]
    return []


def value_is_at(place: tuple[Any, ...], path: str) -> bool:
    """True if an error is at the key or at its table."""
    names = [str(part) for part in place if not isinstance(part, int)]
    return path.rpartition(".")[2] in names or names == path.split(".")[:-1]


OF_WORKLOADS = [key for key in KEYS if key.path.startswith("flow.app.") and key.of]


@pytest.mark.parametrize("key", OF_WORKLOADS, ids=[f"{k.of}-{k.path}" for k in OF_WORKLOADS])
def test_the_example_of_a_workloads_key_is_accepted(key: Key) -> None:
    others = [each for each in OF_WORKLOADS if each.of == key.of and each.is_required]
    given = {each.path.rpartition(".")[2]: each.example for each in [*others, key]}
    values = {name: tomllib.loads(f"value = {text}")["value"] for name, text in given.items()}
    App.model_validate({"kind": key.of, **values})


def test_the_default_of_a_key_is_the_models() -> None:
    defaults = {key.path: key.default for key in KEYS}
    assert defaults["access.queue"] == '"1000packets"'
    assert defaults["flow.app"] == '{ kind = "bulk" }'
    assert defaults["instrument.departure_error"] == '"200us"'


def test_a_list_of_keys_is_those_below_a_prefix() -> None:
    _, rows = listed("keys", "bottleneck.discipline")
    names = [each["name"] for each in catalogue.discipline("codel")["parameters"]]
    below = [f"bottleneck.discipline.{name}" for name in ("name", *names)]
    shown = [row[0] for row in rows]
    assert shown[0] == "bottleneck.discipline"
    assert set(below) <= set(shown)


def test_every_leaf_of_gnmi_has_a_meaning() -> None:
    of_a_queue = (*counter_leaves(0, [], []), *scheduler_leaves(0), *wred_leaves())
    found = {leaf.path[-1][0] for leaf in (*LEAVES, *of_a_queue)}
    assert found | {"discipline"} == set(MEANINGS)


def test_a_parameters_leaf_names_its_discipline() -> None:
    """`codel-mark-above` is `mark-above` of `codel`."""
    there = {record["name"]: record for record in engine.disciplines()}
    found = re.findall(r"The parameter `([\w-]+)` of `([\w-]+)`", gnmi.paths())
    assert len(found) > 50
    for parameter, discipline in found:
        assert parameter in [each["name"] for each in there[discipline]["parameters"]]


def test_a_table_of_markdown_leaves_out_empty_columns() -> None:
    assert table(["a", "b"], [["1", ""], ["x|y", ""]]) == "| a |\n| --- |\n| 1 |\n| x\\|y |"


def test_a_paragraph_is_wrapped_and_a_table_is_not() -> None:
    assert max(map(len, wrapped("word " * 50).splitlines())) <= 100
    assert wrapped("| a |\n| --- |") == "| a |\n| --- |"
