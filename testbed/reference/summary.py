"""The page of `summary.json`, from its JSON Schema."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterator
from typing import Any

from narrows.testbed.paths import ROOT
from narrows.testbed.reference.markdown import code, page, sentence, table

SCHEMA = ROOT / "common/schema/summary.schema.json"
PREFIX = "#/$defs/"
Json = dict[str, Any]


def summary() -> str:
    """Every key of `summary.json`, by its object."""
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    parts = []
    for path, about, properties in found_objects(schema):
        parts.append(f"## {path or 'Top level'}")
        parts.append(words(about))
        rows = [
            [code(key), kind(value, schema["$defs"]), words(value.get("description", ""))]
            for key, value in properties.items()
        ]
        parts.append(table(["key", "type", "meaning"], rows))
    return page(
        "summary.json",
        "Every run has the file `summary.json` with its figures. Units end the names of the keys."
        " A key that does not apply to a run is null or absent. `narrows/schema/` has the JSON"
        " Schema of the file, and Python types.",
        *parts,
    )


def found_objects(schema: Json) -> Iterator[tuple[str, str, Json]]:
    """Path, description and properties of every kind of object, where it is met first."""
    waiting = deque([("", schema.get("description", ""), schema)])
    seen = set[str]()
    while waiting:
        path, about, found = waiting.popleft()
        yield path, about, found["properties"]
        for key, value in found["properties"].items():
            name, inner = reference(value)
            if name and name not in seen and "properties" in schema["$defs"][name]:
                seen.add(name)
                below = f"{path}.{key}{inner}".lstrip(".")
                described = schema["$defs"][name]
                waiting.append((below, described.get("description", ""), described))


def reference(value: Json) -> tuple[str, str]:
    """The name of the object that a value refers to, and how the path goes on to it."""
    if "$ref" in value:
        return value["$ref"].removeprefix(PREFIX), ""
    for each in value.get("anyOf", ()):
        if "$ref" in each:
            return each["$ref"].removeprefix(PREFIX), ""
    if "$ref" in value.get("items", {}):
        return value["items"]["$ref"].removeprefix(PREFIX), "[]"
    more = value.get("additionalProperties")
    if isinstance(more, dict) and "$ref" in more:
        return more["$ref"].removeprefix(PREFIX), ".NAME"
    return "", ""


def words(description: str) -> str:
    """A description of a Rust type as a sentence: without links, and null for `None`."""
    return sentence(re.sub(r"\[(`[^`]+`)\]", r"\1", description).replace("`None`", "null"))


def kind(value: Json, objects: Json) -> str:
    """The type of a value in words."""
    if choices := value.get("anyOf") or value.get("oneOf"):
        return " or ".join(dict.fromkeys(kind(each, objects) for each in choices))
    if "$ref" in value:
        return kind(objects[value["$ref"].removeprefix(PREFIX)], objects)
    if values := value.get("enum") or [value[key] for key in ("const",) if key in value]:
        return " or ".join(map(code, values))
    if "properties" in value:
        return "object"
    if value["type"] == "array":
        return f"list of {kind(value['items'], objects)}s"
    if value["type"] == "object":
        return f"{kind(value['additionalProperties'], objects)} by name"
    names: list[str] = value["type"] if isinstance(value["type"], list) else [value["type"]]
    return " or ".join("text" if name == "string" else name for name in names)
