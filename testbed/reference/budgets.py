"""The page of budgets, from the comments of both modules that hold them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from narrows.schema import budgets as python_side
from narrows.testbed.paths import ROOT
from narrows.testbed.reference.markdown import code, page, sentence, table

RUST = ROOT / "common/src/budgets.rs"
PYTHON = ROOT / "common/schema/budgets/__init__.py"
CONSTANT = re.compile(
    r"^// (?P<heading>.+)$"
    r"|(?P<about>(?:^/// .*\n)+)^pub const (?P<name>\w+): \w+ = (?P<value>[^;]+);",
    re.M,
)
AFTERWORDS = {
    "Packets": "Packets that wait at a port are limited by the port's queue: 64 packets unless"
    " `--queue` says otherwise. A port without a rate sends at once and holds none.",
    "Controllers": "A bucket of the CPU port holds a tenth of a second of its rate, at least 64"
    " packets and 64 KiB. At most 64 P4Runtime streams and 48 gNMI subscriptions are open at a"
    " time.",
}
"""What is said below the table of a heading."""


@dataclass(frozen=True)
class Budget:
    """A constant of one of the modules."""

    heading: str
    name: str
    value: float
    about: str
    """What it limits, then "Beyond it:" and what happens."""


def rust() -> Iterator[Budget]:
    """The budgets of the engine."""
    heading = ""
    for found in CONSTANT.finditer(RUST.read_text(encoding="utf-8")):
        if found["heading"]:
            heading = found["heading"]
        else:
            number, _, by = found["value"].replace("_", "").partition("<<")
            about = found["about"].replace("/// ", " ")
            yield Budget(heading, found["name"], int(number) << int(by or 0), about)


def python() -> Iterator[Budget]:
    """The budgets of the Python side."""
    text = PYTHON.read_text(encoding="utf-8")
    lines = enumerate(text.splitlines(), 1)
    headings = [(number, line[2:]) for number, line in lines if line.startswith("# ")]
    body = ast.parse(text).body
    for statement, after in pairwise(body):
        if isinstance(statement, ast.Assign) and isinstance(after, ast.Expr):
            name = ast.unparse(statement.targets[0])
            heading = [words for number, words in headings if number < statement.lineno][-1]
            about = str(ast.literal_eval(after.value))
            yield Budget(heading, name, getattr(python_side, name), about)


def budgets() -> str:
    """Every budget by what it guards against, with what happens beyond it."""
    found = [*rust(), *python()]
    parts = []
    for heading in dict.fromkeys(each.heading for each in found):
        rows = [row(each) for each in found if each.heading == heading]
        parts += [
            f"## {heading}",
            table(["constant", "value", "what it limits", "beyond it"], rows),
        ]
        parts.append(AFTERWORDS.get(heading, ""))
    return page(
        "Budgets",
        "What Narrows holds, does or takes at most, so that hostile packets, programs, controllers"
        " and files cannot exhaust a machine. The constants are in `common/src/budgets.rs` (engine)"
        " and `common/schema/budgets/__init__.py` (Python).",
        *parts,
    )


def row(budget: Budget) -> list[str]:
    """A budget as a row of its table."""
    about, _, beyond = " ".join(budget.about.split()).partition(" Beyond it: ")
    return [code(budget.name), value_with_unit(budget), sentence(about), sentence(beyond)]


def value_with_unit(budget: Budget) -> str:
    """The value with its unit, which the name tells."""
    name, value = budget.name, budget.value
    if name.endswith("_S") and "PER_S" not in name:
        return f"{value:g} s"
    if not ("BYTES" in name or name in ("MSS_MIN", "PACKET_IN_OVERHEAD")):
        return f"{value:,}"
    for unit, of in (("MiB", 1 << 20), ("MB", 10**6)):
        if value % of == 0:
            return f"{value / of:,g} {unit}"
    return f"{value:,} B"
