"""What `narrows doctor` says: what is there, and what mends what is missing."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """One item of a list of what is there: what was found, or what mends it."""

    name: str
    found: str | None
    mend: str = ""
    required: bool = True
    """True where the list's subject does not work without it."""

    def __str__(self) -> str:
        if self.found is not None:
            return f"ok       {self.name}: {self.found}"
        word = "MISSING " if self.required else "absent  "
        return f"{word} {self.name}\n           {self.mend}"
