"""Errors in inputs: the file, the key, the value, and the expected value."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Problem:
    """One problem. `key` is a dotted path, empty for the whole file."""

    key: str
    what: str
    value: Any = None

    def __str__(self) -> str:
        shown = ""
        if isinstance(self.value, str | int | float | bool):
            shown = f" = {json.dumps(self.value, ensure_ascii=False)}"
        return f"{self.key}{shown}: {self.what}" if self.key else self.what


class InputError(Exception):
    """An invalid input; the command exits with code 2."""

    def __init__(self, source: str, problems: Iterable[Problem]) -> None:
        self.source = source
        self.problems = list(dict.fromkeys(map(str, problems)))
        super().__init__("\n".join(f"{source}: {problem}" for problem in self.problems))
