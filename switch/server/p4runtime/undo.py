"""What makes a batch all or nothing: each write returns what undoes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")
Undo = Callable[[], None]


def nothing() -> None:
    """Undoes what changed nothing."""


def put(where: dict[K, V], key: K, value: V | None) -> None:
    """Sets or, with None, removes."""
    if value is None:
        where.pop(key, None)
    else:
        where[key] = value
