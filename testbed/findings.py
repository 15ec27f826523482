"""The findings of `narrows doctor`: what is installed, and the remedy for what is missing."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """One finding: what was found, or the remedy."""

    name: str
    found: str | None
    mend: str = ""
    required: bool = True
    """True if the list's subject does not work without it."""

    def __str__(self) -> str:
        if self.found is not None:
            return f"ok       {self.name}: {self.found}"
        word = "MISSING " if self.required else "absent  "
        return f"{word} {self.name}\n           {self.mend}"
