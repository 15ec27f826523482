"""Makes a batch atomic: each write returns a function that undoes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")
Undo = Callable[[], None]


def nothing() -> None:
    """The undo function of a write that changed nothing."""


def put(where: dict[K, V], key: K, value: V | None) -> None:
    """Sets the value; None removes it."""
    if value is None:
        where.pop(key, None)
    else:
        where[key] = value
