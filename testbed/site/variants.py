"""A page per variant: what it does, its window on a standard path, what it was checked against."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from narrows.analysis.figures.base import Results
from narrows.testbed import catalogue
from narrows.testbed.reference import senders
from narrows.testbed.reference.markdown import bullets, page, sentence, table
from narrows.testbed.site.runs import Shown, drawn

PATH = "scenarios/standard-path.toml"
WINDOWS = ("cwnd", "queue_length")
DATAGRAMS = ("throughput", "queue_length")
MARKING = "bottleneck.ecn_threshold=20"
"""What a variant that needs marks is given."""
PACED = 'flow.app={ kind = "cbr", rate = "25Mbps", size = "1000B" }'
"""The application of a sender of datagrams: more than the path carries."""
CAPTIONS = {
    "cwnd": "Congestion window over time. The rate halves from 20 to 30 s.",
    "queue_length": "Queue length over time, in the same run.",
    "throughput": "Throughput over time. The rate halves from 20 to 30 s.",
}


def write(directory: Path) -> None:
    """Writes a page per variant with its pictures. Raises `SiteError`."""
    tcp, datagrams = catalogue.records("variants"), catalogue.records("senders")
    checks = Validation(catalogue.VALIDATION.read_text(encoding="utf-8"))
    shown = runs(tcp, datagrams)
    rows = []
    for record in (*tcp, *datagrams):
        name = record["name"]
        wanted = WINDOWS if record in tcp else DATAGRAMS
        found, command = shown[name]
        pictures = drawn(wanted, found, directory, name)
        text = page(name, *parts(record, pictures, command, checks.of(name)))
        (directory / f"{name}.md").write_text(text, encoding="utf-8")
        rows.append([f"[`{name}`]({name}.md)", record["class"], sentence(record["title"])])
    index = page(
        "Variants",
        "Each variant alone on one path: 20 Mb/s, 42 ms round trip, a queue of one"
        " bandwidth-delay product, and half the rate from 20 to 30 s.",
        table(["variant", "class", "what it is"], rows),
    )
    (directory / "index.md").write_text(index, encoding="utf-8")


def runs(
    tcp: tuple[Mapping[str, Any], ...], datagrams: tuple[Mapping[str, Any], ...]
) -> dict[str, tuple[Results, str]]:
    """The run of each variant, and the command for it."""
    marked = [record["name"] for record in tcp if "ecn" in record["needs"]]
    plain = [record["name"] for record in tcp if record["name"] not in marked]
    over_udp = [record["name"] for record in datagrams]
    found: dict[str, tuple[Results, str]] = {}
    for names, more in ((plain, ()), (marked, (MARKING,)), (over_udp, (PACED,))):
        results = Shown(PATH, (f"sweep.flow.variant={json.dumps(names)}", *more)).run()
        for run in results.runs:
            name = run.point["flow.variant"]
            one = Shown(PATH, (f'sweep.flow.variant=["{name}"]', *more))
            found[name] = (Results((run,)), one.command)
    return found


def parts(
    record: Mapping[str, Any], pictures: list[str], command: str, checks: list[list[str]]
) -> Iterator[str]:
    """The parts of a variant's page."""
    yield f"{sentence(record['title'])} Source: {sentence(record['reference'])}"
    yield "## On the standard path"
    shown = (
        f"<div markdown>\n\n![{CAPTIONS[picture]}]({record['name']}-{picture}.png)\n\n"
        f"{CAPTIONS[picture]}\n\n</div>"
        for picture in pictures
    )
    yield '<div class="pair" markdown>'
    yield from shown
    yield "</div>"
    yield f"```sh\n{command}\n```"
    yield "## Parameters"
    yield senders.parameters(record) or "It has none."
    if record["needs"]:
        yield f"It needs of the connection: {', '.join(record['needs'])}."
    if record["not_implemented"]:
        yield "## Not implemented"
        yield bullets(record["not_implemented"])
    yield "## What it was checked against"
    yield table(["check", "result", "expected"], checks) or "No entry in the report of validation."
    yield "How each check is made is in [the report of validation](../docs/reports/validation.md)."


class Validation:
    """The tables of docs/reports/validation.md, whose rows are variants."""

    def __init__(self, text: str) -> None:
        self.found: dict[str, list[list[str]]] = {}
        for block in re.split(r"^#+ ", text, flags=re.M):
            notes = dict(re.findall(r"^- \[(\d+)\] ((?:.+\n?(?:  .+\n?)*))", block, re.M))
            rows = [
                [cell.strip() for cell in line.strip("|").split("|")]
                for line in block.splitlines()
                if line.startswith("|")
            ]
            self._read(rows, {number: " ".join(note.split()) for number, note in notes.items()})

    def _read(self, rows: list[list[str]], notes: Mapping[str, str]) -> None:
        columns: list[str] = []
        for cells in rows:
            if cells[0] == "variant":
                columns = cells
            elif columns and cells[0].startswith("`") and len(cells) == len(columns):
                checks = self.found.setdefault(cells[0].strip("`"), [])
                for column, cell in zip(columns[1:], cells[1:], strict=True):
                    if cell and not cell.startswith("("):
                        number = re.search(r" \[(\d+)\]$", cell)
                        expected = notes.get(number[1], "") if number else ""
                        result = cell[: number.start()] if number else cell
                        checks.append([column, result, expected])

    def of(self, name: str) -> list[list[str]]:
        """Check, result and what was expected, for each check of a variant."""
        return self.found.get(name, [])
