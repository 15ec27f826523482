"""docs/reference/budgets.md has every budget of both modules, with its value."""

from __future__ import annotations

import re

from narrows.schema import budgets
from tests.support.world import ROOT

PAGE = (ROOT / "docs/reference/budgets.md").read_text(encoding="utf-8")
RUST = (ROOT / "common/src/budgets.rs").read_text(encoding="utf-8")
ROW = re.compile(r"^\| `(\w+)` \| ([^|]+) \|", re.M)
UNITS = {"": 1, "B": 1, "s": 1, "MiB": 1 << 20, "MB": 10**6}


def rust() -> dict[str, float]:
    """The constants of the engine's module."""
    found = re.findall(r"^pub const (\w+): \w+ = ([^;]+);", RUST, re.M)
    assert len(found) == RUST.count("pub const")
    return {name: shifted(text.replace("_", "")) for name, text in found}


def shifted(text: str) -> int:
    number, _, by = text.partition("<<")
    return int(number) << int(by or 0)


def page() -> dict[str, float]:
    """The values on the page."""
    found = {}
    for name, text in ROW.findall(PAGE):
        number, _, unit = text.strip().partition(" ")
        found[name] = float(number.replace(",", "")) * UNITS[unit]
    return found


def test_the_page_has_every_budget_with_its_value() -> None:
    python = {name: float(value) for name, value in vars(budgets).items() if name.isupper()}
    assert page() == rust() | python


def test_what_two_modules_say_agrees() -> None:
    assert rust()["COPIES_OF_A_PACKET"] == budgets.REPLICAS_OF_A_GROUP
