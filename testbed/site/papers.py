"""A page per paper: what its reproduction, with quick runs, comes to."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from narrows.analysis import reproduction, reproduction_charts
from narrows.analysis.chart import paper as on_paper
from narrows.testbed.papers import PAPERS
from narrows.testbed.papers.paper import Paper
from narrows.testbed.reference.markdown import code, page, sentence, table
from narrows.testbed.site.runs import RUNS, narrows

if TYPE_CHECKING:
    from narrows.schema.reproduction import NumberRow, Reproduction

QUICK = (
    "These are quick runs: fewer points, seeds and seconds than the full reproduction, which"
    " `narrows reproduce {name}` runs. What the full runs found is in"
    " [the report](../docs/reports/2026-11-reproductions.md)."
)


def write(directory: Path) -> None:
    """Writes a page per paper with its pictures. Raises `SiteError`."""
    rows = []
    for paper in PAPERS:
        narrows("reproduce", paper.name, "--quick", "--out", str(RUNS / "papers"))
        found = RUNS / "papers" / paper.name
        content = json.loads((found / "reproduce.json").read_text(encoding="utf-8"))
        shutil.copy(found / "report.html", directory / f"{paper.name}-report.html")
        text = page(paper.title, *parts(paper, content, directory))
        (directory / f"{paper.name}.md").write_text(text, encoding="utf-8")
        rows.append([f"[{paper.title}]({paper.name}.md)", paper.reference, verdicts(content)])
    index = page(
        "Papers",
        "Each paper is one declaration in `testbed/papers/`: its experiments, the numbers that it"
        " prints, and its claims with a way to judge them.",
        table(["paper", "reference", "claims in these runs"], rows),
    )
    (directory / "index.md").write_text(index, encoding="utf-8")


def verdicts(content: Reproduction) -> str:
    """How many claims have which verdict."""
    found = [claim["verdict"] for claim in content["claims"]]
    return ", ".join(f"{found.count(each)} {each}" for each in dict.fromkeys(found))


def parts(paper: Paper, content: Reproduction, directory: Path) -> Iterator[str]:
    """The parts of a paper's page, whose pictures are drawn on the way."""
    yield sentence(paper.reference)
    yield f"```sh\nnarrows reproduce {paper.name} --quick\n```"
    yield QUICK.format(name=paper.name)
    yield (
        f"[The whole report]({paper.name}-report.html) has every figure on the screen, and every"
        " value under the alternatives to each assumption."
    )
    yield "## Claims"
    yield table(
        ["claim", "tolerance", "verdict", "where", "judged by"],
        [
            [
                each["claim"],
                each["tolerance"],
                ": ".join(
                    filter(None, [f"**{each['verdict']}**", each["grade"] or each["reason"]])
                ),
                each["source"],
                each["evidence"],
            ]
            for each in content["claims"]
        ],
    )
    yield "## Published and ours"
    yield table(
        ["source", "what", "unit", "published", "ours", "difference"],
        map(number, content["numbers"]),
    )
    if content["findings"]:
        yield "## Where it differs, and why"
        for each in content["findings"]:
            yield f"### {each['title']}"
            yield f"{sentence(each['text'])}"
    yield "## Figures"
    for plot in (
        *reproduction_charts.table_plots(content),
        *reproduction_charts.curve_plots(content),
    ):
        picture = f"{paper.name}-{plot.name}.png"
        (directory / picture).write_bytes(on_paper.files(plot.chart, ("png",))["png"])
        yield f"![{plot.title}]({picture}){{ loading=lazy }}\n"
        yield f"{plot.title}"
    yield "## What the paper leaves open"
    yield table(
        ["open", "taken", "why"],
        [[each["name"], each["taken"], each["why"]] for each in content["assumptions"]],
    )
    yield "## Experiments"
    yield table(
        ["experiment", "run by", "runs"],
        [
            [each["title"], code(f"narrows run {each['scenario']}"), str(each["runs"])]
            for each in content["experiments"]
        ],
    )


def number(row: NumberRow) -> list[str]:
    """A published number beside ours."""
    digits, percent = row["digits"], row["difference_percent"]
    values = (row["published"], row["ours"])
    shown = ["" if value is None else f"{value:.{digits}f}" for value in values]
    difference = reproduction.relative(percent, row["difference"], row["difference_unit"]) or ""
    return [row["source"], row["what"], row["unit"], *shown, difference]
