"""The JSON Schema of a scenario file, for editors that complete and check TOML.

The models give the tables and the engine's records the rest: names, and the keys of workloads,
disciplines and variants. A sweep, a choice or `--set` can give any key, so none is required here:
`x-required` marks those that a run must have. Other marks of ours are `x-type` and `x-unit` (of a
quantity), `x-of` (the record that has the key) and `x-absent` (what the key's absence means).
"""

from __future__ import annotations

import contextlib
import functools
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel, TypeAdapter

from narrows.testbed import catalogue
from narrows.testbed.scenario.explain import models_in
from narrows.testbed.scenario.keys.docstrings import of_field, one_line
from narrows.testbed.scenario.schema import Scenario, Sweep
from narrows.testbed.scenario.values import RECORD_UNITS, quantity

Schema = dict[str, Any]
"""A JSON Schema: JSON by its nature."""

DIALECT = "https://json-schema.org/draft/2020-12/schema"
RECORD_TYPES: dict[str, Schema] = {
    "rate": quantity("rate", "64kbps"),
    "size": quantity("size", "80B"),
    "duration": quantity("duration", "50ms"),
    "count": {"type": "integer", "minimum": 1, "examples": [10]},
    "number": {"type": "number", "examples": [0.5]},
    "flag": {"type": "boolean"},
    "word": {"type": "string", "examples": ["pareto"]},
    "trace": {"type": "string", "examples": ["trace.csv"]},
}
"""The type of a key by the unit that an engine's record names."""


@functools.cache
def scenario_schema() -> Schema:
    """The whole schema. Raises `EngineMissingError`."""
    schema = Scenario.model_json_schema()
    tables = schema["$defs"]
    models = dict.fromkeys(all_models(Scenario))
    for model in models:
        describe(schema if model is Scenario else tables[model.__name__], model)
    tables["App"] = workload_tables(tables["App"])
    tables["Discipline"] = discipline_tables(tables["Discipline"])
    for model in models:
        if short_form := getattr(model, "short_form", None):
            tables[model.__name__] = with_short_form(tables[model.__name__], short_form)
    tables["Flow"]["properties"]["params"]["properties"] = variant_parameters()
    schema["properties"] |= {"choice": choice_table(), "sweep": sweep_table()}
    with_names(schema)
    return {"$schema": DIALECT, **schema, "title": "A Narrows scenario"}


def all_models(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """A model and those of its tables, in the file's order."""
    yield model
    for each in model.model_fields.values():
        for inner in models_in(each.annotation):
            yield from all_models(inner)


def describe(table: Schema, model: type[BaseModel]) -> None:
    """Adds each key's meaning and default, as a scenario has it, to a model's table."""
    table["description"] = one_line(model.__doc__ or "")
    table.pop("title", None)
    required = table.pop("required", [])
    for name, field in model.model_fields.items():
        key = field.alias or name
        found = without_null(table["properties"][key])
        inner = next(models_in(field.annotation), None)
        about = of_field(model, name) or one_line((inner and inner.__doc__) or "")
        default = field.get_default(call_default_factory=True)
        found.pop("default", None)
        if key in required:
            found["x-required"] = True
        elif (written := as_written(default, field)) not in (None, {}, []):
            found["default"] = written
        table["properties"][key] = found | {"description": about}


def without_null(found: Schema) -> Schema:
    """A key's schema without null, which TOML does not have, and without pydantic's title."""
    found = {name: value for name, value in found.items() if name != "title"}
    if "anyOf" in found:
        others = [each for each in found.pop("anyOf") if each != {"type": "null"}]
        found |= others[0] if len(others) == 1 else {"anyOf": others}
    return found


def as_written(default: Any, field: Any) -> Any:
    """A default as TOML has it; of a table what differs from the defaults of its own keys."""
    if isinstance(default, BaseModel):
        return default.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    if default is None:
        return None
    adapter: TypeAdapter[Any] = TypeAdapter(field.rebuild_annotation())
    return adapter.dump_python(default, mode="json")


def record_key(record: Mapping[str, Any], of: str) -> Schema:
    """The schema of a key that an engine's record declares; `of` is that record's name."""
    unit = record["unit"]
    about = record.get("meaning") or record["origin"]
    found = {**RECORD_TYPES[unit], "description": about, "x-of": of}
    if record.get("is_required"):
        return found | {"x-required": True}
    default = record["default"]
    if isinstance(default, str):
        return found | default_of(default, unit)
    return found | {"default": RECORD_UNITS[unit][1](default if unit == "number" else int(default))}


def default_of(text: str, unit: str) -> Schema:
    """A default that a workload's record has as text: a value, or in words what absence means."""
    with contextlib.suppress(ValueError):
        value = tomllib.loads(f"value = {text}")["value"]
        return {"default": value}
    try:
        RECORD_UNITS[unit][0](text)
    except ValueError:
        return {"x-absent": text}
    return {"default": text}


def workload_tables(table: Schema) -> Schema:
    """`app`: a table for each workload, with its keys."""
    own = table["properties"]
    tables = []
    for record in catalogue.records("workloads"):
        keys = {key["name"]: record_key(key, record["name"]) for key in record["keys"]}
        if "bytes" in keys:
            keys["bytes"] = own["bytes"] | {"x-of": record["name"]}
        kind = own["kind"] | {"const": record["name"], "x-kind": "workload"}
        tables.append(record_table(record, {"kind": kind, **keys}))
    return {"description": table["description"], "anyOf": tables}


def discipline_tables(table: Schema) -> Schema:
    """`discipline`: a table for each discipline, with its parameters."""
    own, tables = table["properties"]["name"], []
    for record in catalogue.records("disciplines"):
        keys = {each["name"]: record_key(each, record["name"]) for each in record["parameters"]}
        name = own | {"const": record["name"], "x-kind": "discipline"}
        tables.append(record_table(record, {"name": name, **keys}))
    return {"description": table["description"], "anyOf": tables}


def with_short_form(table: Schema, short_form: Schema) -> Schema:
    """A table that may also be written as one value."""
    either = table.get("anyOf", [table])
    return {"description": table["description"], "anyOf": [dict(short_form), *either]}


def record_table(record: Mapping[str, Any], keys: Schema) -> Schema:
    """The table of one record: its keys and no others."""
    about = f"{record['title']} ({record['reference']})."
    return {
        "type": "object", "title": record["name"], "description": about, "properties": keys,
        "additionalProperties": False,
    }  # fmt: skip


def variant_parameters() -> Schema:
    """`params`: every variant's parameters; those of one name share an entry."""
    found: dict[str, Schema] = {}
    for record in (*catalogue.records("variants"), *catalogue.records("senders")):
        for each in record["parameters"]:
            known = found.setdefault(each["name"], {"type": ["number", "boolean"], "x-of": []})
            known["x-of"].append(record["name"])
            about = f"{record['name']} ({each['unit']}, {each['default']:g}): {each['meaning']}"
            known["description"] = "; ".join(filter(None, [known.get("description"), about]))
    return found


def choice_table() -> Schema:
    """`[choice]`, which `scenario/sweep.py` reads before the models see the file."""
    setting = {"description": "A dotted path in quotes, and what takes the place of its value."}
    value = {"type": "object", "additionalProperties": setting}
    family = {"type": "object", "additionalProperties": value}
    about = (
        "Settings under a name, which a sweep goes over as one value: `[choice.tcp]` with "
        '`tahoe = { "flow.recovery" = "tahoe" }` gives a sweep the key `choice.tcp`.'
    )
    return {"type": "object", "description": about, "additionalProperties": family}


def sweep_table() -> Schema:
    """`[sweep]`: lists of values by their keys' paths."""
    table = Sweep.model_json_schema()
    describe(table, Sweep)
    path = {"anyOf": [{"type": "array", "minItems": 1}, {"type": "object"}]}
    return table | {"additionalProperties": path}


def with_names(schema: Any) -> None:
    """Puts the names of the records that `x-names` means in its place."""
    match schema:
        case {"x-names": kinds} if "const" not in schema:
            # A kernel's own variants are known on its machine only.
            kind = {"enum": names_of(kinds)}
            schema |= {"anyOf": [kind, {"type": "string"}]} if "senders" in kinds else kind
    for inner in schema.values() if isinstance(schema, dict) else schema:
        if isinstance(inner, dict | list):
            with_names(inner)


def names_of(kinds: list[str]) -> list[str]:
    """The names of all records of these kinds, ns-2's other names included."""
    if kinds == ["figures"]:
        from narrows.analysis.figures import NAMES

        return list(NAMES)
    return [name for kind in kinds for name in catalogue.names(kind)]
