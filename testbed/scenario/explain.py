"""What is wrong with a scenario's file, in this project's words, and where it belongs instead."""

from __future__ import annotations

import re
import typing
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from narrows.testbed import catalogue
from narrows.testbed.problems import Problem
from narrows.testbed.scenario.schema import Scenario


def explain(
    error: ValidationError, model: type[BaseModel] = Scenario, prefix: str = ""
) -> list[Problem]:
    """Pydantic's errors in this project's words."""
    problems = []
    for item in error.errors(include_url=False):
        loc = [part for part in item["loc"] if not str(part).startswith(("function-", "lax-"))]
        key = ".".join([prefix] * bool(prefix) + [str(part) for part in loc])
        match item["type"]:
            case "extra_forbidden":
                known = keys_at(model, loc[:-1])
                if model is Scenario and len(loc) == 1:
                    known += ["sweep", "choice"]
                what = elsewhere(model, str(loc[-1])) or catalogue.unknown(
                    "key", str(loc[-1]), known
                )
                problems.append(Problem(key, what))
            case "missing":
                problems.append(Problem(key, f"is missing{INSTEAD.get(key, '')}"))
            case "value_error":
                problems.append(Problem(key, str(item["ctx"]["error"]), item["input"]))
            case _:
                what = item["msg"].replace("Input should be", "should be")
                problems.append(Problem(key, what, item["input"]))
    return problems


def keys_at(model: type[BaseModel], loc: Sequence[object]) -> list[str]:
    """The keys of the table at a location in the schema."""
    for part in loc:
        for key, field in model.model_fields.items():
            if part in (key, field.alias):
                model = next(models_in(field.annotation), model)
    return [field.alias or key for key, field in model.model_fields.items()]


def models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    """The models that an annotation names, in order."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in typing.get_args(annotation):
        yield from models_in(part)


INSTEAD = {"bottleneck.delay": '; expected it, or rtt = "40ms" above the first [table]'}
"""What may stand for a key that is missing."""


def elsewhere(model: type[BaseModel], key: str) -> str:
    """Where a key belongs that stands in the wrong table; empty where no table has it."""
    paths = [path for path in tables(model) if key in keys_at(model, path)]
    if not paths:
        return ""
    if () in paths:
        return f"belongs to the whole scenario; write {key} above the first [table]"
    names = " or ".join(f"[{'.'.join(path)}]" for path in paths[:3])
    return f"is an unknown key here; it belongs to {names}"


def tables(model: type[BaseModel], path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The paths of all tables of the schema."""
    yield path
    for key, field in model_fields(model, path):
        if next(models_in(field.annotation), None) is not None and len(path) < DEEPEST:
            yield from tables(model, (*path, field.alias or key))


DEEPEST = 2
"""Tables below one another that a misplaced key is looked for in."""


def model_fields(model: type[BaseModel], path: Sequence[str]) -> list[tuple[str, FieldInfo]]:
    """The fields of the table at a path."""
    for part in path:
        field = next(f for k, f in model.model_fields.items() if part in (k, f.alias))
        model = next(models_in(field.annotation))
    return list(model.model_fields.items())


UNQUOTED = re.compile(
    r"""\s*(?P<key>[\w."-]+)\s*=\s*(?P<value>[+-]?[\d.][\w.]*\s*[A-Za-z%/]+)\s*(#.*)?"""
)


def explain_toml(error: str, text: str) -> str:
    """What TOML's parser says, in this project's words; a quantity without quotes by name."""
    if found := re.search(r"at line (\d+)", error):
        lines = text.splitlines()
        line = lines[int(found[1]) - 1] if int(found[1]) <= len(lines) else ""
        if quantity := UNQUOTED.fullmatch(line):
            key, value = quantity["key"], quantity["value"].strip()
            return f'line {found[1]}: a quantity stands in quotes; expected {key} = "{value}"'
    return f"is not valid TOML: {error}"
