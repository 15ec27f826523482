"""The keys of a scenario, one record each: `narrows list keys`, and the reference's page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from narrows.testbed.catalogue import unknown
from narrows.testbed.problems import InputError, Problem
from narrows.testbed.scenario.keys.json_schema import Schema, scenario_schema
from narrows.testbed.scenario.values import QUANTITIES

KINDS = {
    "variants": "variant",
    "recoveries": "recovery",
    "agents": "agent",
    "sinks": "sink",
    "profiles": "profile",
    "disciplines": "discipline",
    "workloads": "workload",
    "figures": "figure",
}
"""One of each list of `narrows list`."""
DIRECTION = '"s1->s2"'
"""Stands for a link's direction in a path."""


@dataclass(frozen=True)
class Key:
    """One key that a scenario file may have."""

    path: str
    """As `--set` and a sweep take it: `bottleneck.rate`."""
    type: str
    """What its values are, in words."""
    unit: str
    """The unit of its values; empty where they have none."""
    default: str
    """The value where a scenario has none, as TOML; empty where there is none."""
    example: str
    """A value as TOML; empty for a table."""
    meaning: str
    is_required: bool = False
    """A run needs it, from the file, a sweep, a choice or `--set`."""
    absent: str = ""
    """What its absence means, in words."""
    of: str = ""
    """The workload, discipline or variants that have the key; empty: it is always there."""
    table: str = ""
    """For a table: the name of its definition, which several tables may share."""


def keys(prefix: str = "") -> list[Key]:
    """Every key whose path begins with these parts, in the file's order. Raises `InputError`."""
    every = list(walk(scenario_schema(), ""))
    found = [key for key in every if f"{key.path}.".startswith(f"{prefix.rstrip('.')}.")]
    if prefix and not found:
        raise InputError("list keys", [Problem(prefix, unknown("key", prefix, paths(every)))])
    return found if prefix else every


def paths(found: list[Key]) -> list[str]:
    """The paths of these keys, each once."""
    return list(dict.fromkeys(key.path for key in found))


def walk(table: Schema, path: str) -> Iterator[Key]:
    """The keys of a table and of the tables in it."""
    for name, found in table.get("properties", {}).items():
        at = f"{path}.{name}" if path else name
        definition, inner = tables_of(found)
        yield Key(
            at,
            type_of(resolved(found)),
            unit_of(resolved(found)),
            toml(found.get("default")),
            toml(example_of(resolved(found))),
            found["description"],
            bool(found.get("x-required")),
            found.get("x-absent", ""),
            of_what(found),
            definition,
        )
        seen: set[str] = set()
        for each in inner:
            # The tables of several records share the key that names the record.
            own = {
                key: value
                for key, value in each.get("properties", {}).items()
                if key not in seen or "const" not in value
            }
            seen |= set(own)
            yield from walk({"properties": own}, at)
            more = each.get("additionalProperties")
            if isinstance(more, dict) and "$ref" in more:
                yield from walk(resolved(more), f"{at}.{DIRECTION}")


def resolved(found: Schema) -> Schema:
    """A schema, or the definition that it refers to."""
    if "$ref" not in found:
        return found
    definition: Schema = scenario_schema()["$defs"][found["$ref"].rpartition("/")[2]]
    return {**definition, **{key: value for key, value in found.items() if key != "$ref"}}


def tables_of(found: Schema) -> tuple[str, list[Schema]]:
    """The name of the definition of a key's table, and the tables that it may be."""
    if "items" in found:
        return tables_of(found["items"])
    name = found.get("$ref", "").rpartition("/")[2]
    schema = resolved(found)
    parts = schema.get("anyOf", [schema])
    return name, [part for part in parts if part.get("type") == "object"]


def of_what(found: Schema) -> str:
    """The records that have a key."""
    of = found.get("x-of", "")
    return ", ".join(of) if isinstance(of, list) else of


def type_of(found: Schema) -> str:
    """What a schema's values are, in words."""
    match found:
        case {"x-kind": kind}:
            return f"{kind} name"
        case {"x-names": kinds}:
            return f"{' or '.join(KINDS[kind] for kind in kinds if kind != 'senders')} name"
        case {"x-type": kind}:
            return str(kind)
        case {"anyOf": parts}:
            return " or ".join(dict.fromkeys(type_of(resolved(part)) for part in parts))
        case {"enum": values}:
            return ", ".join(map(toml, values))
        case {"const": value}:
            return toml(value)
        case {"type": "array", "items": items}:
            inner = type_of(resolved(items))
            return "tables" if inner == "table" else f"list of {inner}"
        case {"type": "integer"}:
            return f"integer{range_of(found)}"
        case {"type": "number"}:
            return f"number{range_of(found)}"
        case {"type": ["number", "boolean"]}:
            return "number or boolean"
        case {"type": "object"}:
            return "table"
        case {"type": "string"}:
            return "text"
    return str(found.get("type", "any value"))


def range_of(found: Schema) -> str:
    """The range of a number, in words; a bound that only keeps it in 32 bits or more is none."""
    least = found.get("minimum")
    most = found.get("maximum", found.get("exclusiveMaximum", 2**32) - 1)
    if least is None:
        return ""
    return f" from {least}" if most >= 2**32 - 1 else f" from {least} to {most}"


def unit_of(found: Schema) -> str:
    """The unit of a schema's values."""
    if "x-unit" in found:
        return str(found["x-unit"])
    if "x-type" in found:
        return QUANTITIES[found["x-type"]][0]
    return next(filter(None, map(unit_of, found.get("anyOf", ()))), "")


def example_of(found: Schema) -> Any:
    """A value that is not the default, where one can be told."""
    default = found.get("default")
    own = {} if default is None else {"default": default}
    match found:
        case {"x-type": _, "default": default} | {"type": "number", "default": default}:
            return default
        case {"examples": [first, *_]}:
            return first
        case {"enum": values}:
            return next(value for value in values if value != default)
        case {"const": value}:
            return value
        case {"type": "boolean"}:
            return not default
        case {"type": "array", "items": items}:
            inner = example_of(resolved(items))
            return None if inner is None else [inner]
        case {"anyOf": parts}:
            found_in = (example_of({**own, **resolved(part)}) for part in parts)
            return next((value for value in found_in if value is not None), None)
    return None


def toml(value: Any) -> str:
    """A value as TOML writes it in one line; empty for None."""
    match value:
        case None:
            return ""
        case dict():
            return "{ " + ", ".join(f"{key} = {toml(each)}" for key, each in value.items()) + " }"
        case list():
            return "[" + ", ".join(map(toml, value)) + "]"
        case float():
            return f"{value:g}" if "e" in f"{value:g}" else repr(value)
    return json.dumps(value, ensure_ascii=False)
