"""What the engine can run, from its own records: variants, recoveries, profiles, applications.

Help, scenario checks, docs and tests iterate these lists; nothing here repeats a name.
"""

from __future__ import annotations

import difflib
import functools
import importlib
from collections.abc import Iterable
from typing import Any

KINDS = ("variants", "recoveries", "profiles", "applications")


class EngineMissingError(Exception):
    """The extension module is not there; the message has the command that builds it."""


def engine() -> Any:
    """The engine's module, `testbed._engine`. Raises `EngineMissingError` when not built."""
    try:
        return importlib.import_module("testbed._engine")
    except ImportError as error:
        raise EngineMissingError(
            f"the engine is not built ({error}); `make setup` builds it"
        ) from error


@functools.cache
def records(kind: str) -> tuple[dict[str, Any], ...]:
    """The engine's records of a kind (one of `KINDS`); each has at least `name` and `title`."""
    return tuple(getattr(engine(), kind)())


def record(kind: str, name: str) -> dict[str, Any]:
    """One record by its name. Raises `ValueError` that names the nearest one."""
    for found in records(kind):
        if found["name"] == name:
            return found
    singular = {"recoveries": "recovery"}.get(kind, kind.removesuffix("s"))
    raise ValueError(unknown(singular, name, (str(found["name"]) for found in records(kind))))


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """`is an unknown <what>; did you mean …`, with the nearest known name or all of them."""
    names = list(known)
    near = difflib.get_close_matches(name, names, 1, 0.6)
    if near:
        return f'is an unknown {what}; did you mean "{near[0]}"?'
    return f"is an unknown {what}; expected one of {', '.join(names)}"
