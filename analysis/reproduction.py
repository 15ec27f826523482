"""Shows `reproduce.json`, a paper's reproduction, as a page and as figures in print.

The file contains the verdicts and differences (`testbed/papers/judge.py`); nothing is judged here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from narrows.analysis.chart import paper
from narrows.analysis.load import Run
from narrows.analysis.page import (
    Alert,
    Badge,
    Block,
    Code,
    Column,
    Details,
    Lines,
    Page,
    Plot,
    Section,
    Table,
    Text,
    Value,
    Verdict,
)
from narrows.analysis.reproduction_charts import curve_plots, run_plots, table_plots

if TYPE_CHECKING:
    from narrows.schema.reproduction import ClaimRecord, Effect, Reproduction, TableRecord

POINTS: Final = "percentage points"
"""The unit of a difference of percentages."""
MINUS: Final = "\u2212"
SIGNS: Final = {"holds": Verdict.HOLDS, "does not hold": Verdict.FAILS}
"""The sign of each verdict; other words have the sign of an open question."""


def write(content: Reproduction, runs: Mapping[str, Sequence[Run]], directory: Path) -> Path:
    """Writes `report.html` and `figures/*.pdf` into the directory; returns the page's path.

    `content` is `reproduce.json`, `runs` are those of each experiment with the assumptions as
    taken. Raises `OSError`.
    """
    plots = [*table_plots(content), *curve_plots(content), *run_plots(content, runs)]
    folder = directory / "figures"
    folder.mkdir(parents=True, exist_ok=True)
    for plot in plots:
        (folder / f"{plot.name}.pdf").write_bytes(paper.files(plot.chart, ("pdf",))["pdf"])
    report = directory / "report.html"
    page(content, plots).write(report)
    return report


def page(content: Reproduction, plots: Sequence[Plot]) -> Page:
    """The page of a reproduction."""
    total = sum(each["runs"] for each in content["experiments"])
    count = len(content["experiments"])
    lead = f"{content['reference']}. {count} experiment{'s' * (count > 1)}, {total} runs."
    sections = [
        Section("Claims", list(claims(content))),
        *picks(content),
        Section("Published and ours", list(published(content))),
        Section("Where it differs, and why", list(findings(content))),
        Section("What the paper leaves open", list(assumptions(content))),
        Section("Figures", plots),
        Section("What was run", list(experiments(content))),
    ]
    return Page(content["title"], lead, sections)


def claims(content: Reproduction) -> Iterator[Block]:
    """A row per claim with its verdict and the assumptions that change it; below it the figures."""
    if content["quick"]:
        yield Alert("Quick.", "Fewer points, seeds and seconds than the full reproduction has.")
    rows: list[list[Value]] = [
        [
            claim["claim"],
            claim["tolerance"] or None,
            badge(claim),
            claim["source"],
            why(claim),
        ]
        for claim in content["claims"]
    ]
    columns = ("Claim", "Tolerance", "Verdict", "Where", "Why")
    yield Table([Column(title) for title in columns], rows)
    for claim in content["claims"]:
        title = f"Judged by: {claim['claim']}"
        yield Details(title, [parts_of(claim["evidence"])])
    yield Text(
        "A claim is judged with the assumptions as taken and again under each alternative that "
        "changes its experiments. Values of several runs are means with the half-width of their "
        "95 % interval; where intervals overlap, the order is open. A claim that needs more "
        "length, seeds or points than these runs have is not judged.",
        "small",
    )


def why(claim: ClaimRecord) -> str | None:
    """Why a claim is not judged, or the alternatives with another answer."""
    others = "; ".join(claim["depends_on"])
    return claim["reason"] or (f"another answer with {others}" if others else None)


def badge(claim: ClaimRecord) -> Badge:
    """The verdict with its grade, such as "holds: within 3 %"."""
    words = ": ".join(filter(None, (claim["verdict"], claim["grade"])))
    return Badge(SIGNS.get(claim["verdict"], Verdict.DEPENDS), words)


def published(content: Reproduction) -> Iterator[Block]:
    """The paper's tables in their own form with our values, then every number."""
    printed = [table for table in content["tables"] if is_printed(table)]
    for table in printed:
        unit = f" ({table['unit']})" if table["unit"] else ""
        title = f"{table['source']}: {table['quantity']}{unit}"
        yield Section(title, [printed_table(table)])
    every = numbers(content)
    yield Details("Every number, with intervals", [every]) if printed else every


def is_printed(table: TableRecord) -> bool:
    """Whether the paper prints this as a table of rows and columns."""
    return bool(table["source"].startswith("Table") and table["published"] and table["columns"])


def printed_table(table: TableRecord) -> Block:
    """Published value, ours and the difference for each column of the paper's table."""
    ours = {(cell["row"], cell["column"]): cell["value"] for cell in table["cells"]}
    given = {(cell["row"], cell["column"]): cell["value"] for cell in table["published"]}
    names = list(dict.fromkeys(column for _, column in given))
    points = POINTS if table["unit"] == "%" else ""
    rows = list[list[Value]]()
    for row in dict.fromkeys(row for row, _ in given):
        cells: list[Value] = [str(row)]
        for cell in ((row, name) for name in names):
            paper, own = given.get(cell), ours.get(cell)
            change = own - paper if paper is not None and own is not None else None
            percent = 100 * change / paper if change is not None and paper and not points else None
            cells += [rounded(paper, table), rounded(own, table), relative(percent, change, points)]
        rows.append(cells)
    columns = [Column(table["rows"])]
    for name in names:
        columns += [Column(str(name), "published"), Column("", "ours"), Column("", "off by")]
    return Table(columns, rows)


def rounded(value: float | None, table: TableRecord) -> float | None:
    """A value with the table's decimals."""
    return None if value is None else round(value, table["digits"])


def numbers(content: Reproduction) -> Block:
    """Published value, our value, difference."""
    rows: list[list[Value]] = []
    for row in content["numbers"]:
        digits = row["digits"]
        rounded = (
            None if value is None else round(value, digits)
            for value in (row["published"], row["ours"], row["difference"])
        )
        rows.append(
            [
                row["source"],
                row["what"],
                row["unit"],
                *rounded,
                relative(row["difference_percent"], row["difference"], row["difference_unit"]),
                round(row["half_width"], digits) if row.get("half_width") else None,
                row.get("runs"),
            ]
        )
    columns = [
        Column("Source"),
        Column("What"),
        Column("Unit"),
        Column("Published"),
        Column("Ours"),
        Column("Difference", sign=True),
        Column("Off by"),
        Column("±", "95 %"),
        Column("Runs"),
    ]
    return Table(columns, rows)


def relative(percent: float | None, difference: float | None, unit: str) -> str | None:
    """A difference in percent of what it is measured against, or in percentage points."""
    if percent is not None:
        return f"{percent:+.1f} %".replace("-", MINUS)
    if difference is not None and unit == POINTS:
        return f"{difference:+.1f} {POINTS}".replace("-", MINUS)
    return None


def picks(content: Reproduction) -> Iterator[Section]:
    """The choices of the paper, and those by our runs."""
    rows: list[list[Value]] = [
        [each["source"], each["what"], each["published"], each["ours"]] for each in content["picks"]
    ]
    if rows:
        columns = [Column(title) for title in ("Source", "Best", "Published", "Ours")]
        yield Section("The best", [Table(columns, rows)])


def findings(content: Reproduction) -> Iterator[Block]:
    """A section per finding."""
    for each in content["findings"]:
        yield Section(each["title"], [Text(each["text"]), parts_of(each["evidence"])])


def parts_of(evidence: str) -> Block:
    """A sentence of evidence, with one line per part."""
    return Lines(evidence.split("; "))


def assumptions(content: Reproduction) -> Iterator[Block]:
    """Our choices, their reasons, and the effects of the alternatives."""
    rows: list[list[Value]] = []
    for each in content["assumptions"]:
        names = [alternative["name"] for alternative in each["alternatives"]]
        rows.append([each["name"], each["taken"], each["why"], "; ".join(names) or None])
    titles = ("Open", "Taken", "Why", "Also run with")
    yield Table([Column(title) for title in titles], rows)
    for each in content["assumptions"]:
        for alternative in each["alternatives"]:
            if alternative["effects"]:
                title = f"{each['name']}: {alternative['name']}"
                yield Details(title, [effects(alternative["effects"])])


def effects(found: Sequence[Effect]) -> Block:
    """Each value under an alternative, beside the value as taken."""
    rows: list[list[Value]] = []
    for each in found:
        taken, value = (round(value, each["digits"]) for value in (each["as_taken"], each["value"]))
        share = each["as_taken"] and each["unit"] != "%"
        percent = 100 * (each["value"] / each["as_taken"] - 1) if share else None
        unit = POINTS if each["unit"] == "%" else each["unit"]
        changed = relative(percent, each["value"] - each["as_taken"], unit)
        rows.append([each["table"], each["what"], each["unit"], taken, value, changed])
    columns = [
        Column("Table"),
        Column("Point"),
        Column("Unit"),
        Column("As taken"),
        Column("Here"),
        Column("Difference"),
    ]
    return Table(columns, rows)


def experiments(content: Reproduction) -> Iterator[Block]:
    """Each experiment with its scenario and its runs."""
    rows: list[list[Value]] = [
        [
            each["title"],
            Code(f"narrows run {each['scenario']}"),
            each["runs"],
            Badge(Verdict.HOLDS, "all valid")
            if each["valid"] == each["runs"]
            else Badge(Verdict.FAILS, f"{each['valid']} valid"),
        ]
        for each in content["experiments"]
    ]
    titles = ("Experiment", "Run by", "Runs", "Instrument")
    yield Table([Column(title) for title in titles], rows)
    missing = [
        f"{each['name']}: {gone['value']}: {gone['why']}"
        for each in content["experiments"]
        for gone in each["missing"]
    ]
    if missing:
        yield Section("Not in this build", [Lines(missing)])
