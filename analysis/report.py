"""A report: one HTML page with what was run, whether it counts, its figures and its numbers.

The page holds everything it needs (style, script, figures as SVG) and asks the network for
nothing, which its Content-Security-Policy enforces. It depends on the runs alone, no clock.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, Final

from analysis import metrics, page
from analysis.figures import FIGURES, render, select, style
from analysis.figures.base import SEED, Figure, Results, key_label
from analysis.load import Run, load

DEFINITIONS: Final = (
    "Queueing delay: from a packet's enqueue at the bottleneck to the start of its transmission; "
    "its own transmission time is not part of it. Measured at the switch, packet by packet.",
    "Queue: packets and bytes waiting, without the packet in transmission; means over time are "
    "weighted by time, from the start of the run to its end.",
    "Goodput: bytes delivered in sequence, over time; in the table of all flows over the whole "
    "run. Throughput: every byte that counts against the link's rate, headers and "
    "retransmissions included.",
    "Completion: from the first flow's start to the acknowledgement of the last flow's last byte.",
    "Jain's index: (sum of goodputs)² / (number of flows times the sum of their squares).",
    "Loss: packets dropped at the bottleneck over packets that arrived there.",
    "Percentiles in the table are those of the run's summary, from a histogram of fine buckets; "
    "those of queueing delay in figures are exact, from every packet.",
    "1 kB is 1,000 bytes, 1 Mb/s is 1,000,000 bit/s.",
)
"""How the page's numbers are defined."""


@dataclass(frozen=True)
class Column:
    """A column of the table of points."""

    title: str
    unit: str
    value: Callable[[Run], float | None]
    digits: int


def _of_bottleneck(*keys: str) -> Callable[[Run], float | None]:
    def value(run: Run) -> float | None:
        found: Any = run.summary["bottleneck"]
        for key in keys:
            found = found.get(key) if isinstance(found, dict) else None
        return None if found is None else float(found)

    return value


def _sum_of_flows(key: str) -> Callable[[Run], float | None]:
    return lambda run: float(sum(flow[key] for flow in run.flows))


def _percent(part: float | None, whole: float | None) -> float | None:
    return None if part is None or not whole else 100 * part / whole


def _loss_percent(bottleneck: dict[str, Any]) -> float | None:
    enqueued, dropped = bottleneck.get("enqueued"), bottleneck.get("dropped")
    if enqueued is None or dropped is None:
        return None
    return _percent(dropped, enqueued + dropped)


COLUMNS: Final = (
    Column("Flows", "", lambda run: float(len(run.flows)), 0),
    Column("Completion", "s", metrics.completion_s, 2),
    Column("Goodput", "Mb/s", lambda run: metrics.mean_goodput_bps(run) / 1e6, 3),
    Column("Link use", "%", lambda run: _percent(_of_bottleneck("utilization")(run), 1), 2),
    Column("Jain", "", lambda run: float(run.summary["jain"]), 4),
    Column("Queue, mean", "packets", _of_bottleneck("queue_packets_mean"), 1),
    Column("Queue, most", "packets", _of_bottleneck("queue_packets_max"), 0),
    Column("Delay, mean", "ms", _of_bottleneck("queue_delay_ms", "mean"), 1),
    Column("Delay, p95", "ms", _of_bottleneck("queue_delay_ms", "p95"), 1),
    Column("Delay, most", "ms", _of_bottleneck("queue_delay_ms", "max"), 1),
    Column("Loss", "%", lambda run: _loss_percent(run.summary["bottleneck"]), 3),
    Column("Resent", "segments", _sum_of_flows("retransmits"), 0),
    Column("Time-outs", "", _sum_of_flows("timeouts"), 0),
)
"""The table of points: what stands in it after a run's point."""


def write(dirs: list[Path], out: Path) -> None:
    """Writes the report of scenarios' results, or of single runs, to the file `out`.

    Draws the figures that a scenario's `report.figures` names, or all where it names none.
    Raises `load.LoadError`, and `OSError` for `out`.
    """
    scenarios = [Results(tuple(load(directory))) for directory in dirs]
    sections = [_section(index, results) for index, results in enumerate(scenarios)]
    titles = [results.runs[0].title for results in scenarios]
    links = [f'<a href="#s{i}">{escape(title)}</a>' for i, title in enumerate(titles)]
    policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
    out.write_text(
        f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{escape("; ".join(titles))}</title>
<style>{page.STYLE}</style>
<main>
{f"<nav>{''.join(links)}</nav>" if len(links) > 1 else ""}
{"".join(sections)}
<h2>Definitions</h2>
<ul class="definitions">{"".join(f"<li>{escape(line)}</li>" for line in DEFINITIONS)}</ul>
</main>
<script>{page.SCRIPT}</script>
</html>
""",
        encoding="utf-8",
    )


def _section(index: int, results: Results) -> str:
    run = results.runs[0]
    points = len({_point_text(run) for run in results.runs})
    seeds = len({run.seed for run in results.runs})
    shape = [_count(points, "point"), _count(seeds, "seed"), _count(len(results.runs), "run")]
    targets = sorted({str(run.record["target"]) for run in results.runs})
    return f"""<section id="s{index}">
<h1>{escape(run.title)}</h1>
<p class="lead">{", ".join(shape)} on target {escape(", ".join(targets))}. {_verdict(results)}</p>
{_invalid_runs(results)}
<h2>What was run</h2>
{_parameters(results)}
<h2>Results</h2>
{_points(results)}
<h2>Figures</h2>
{"".join(_figure(figure, results, index) for figure in _wanted(results))}
<h2>Runs</h2>
{_runs(results)}
</section>
"""


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _verdict(results: Results) -> str:
    invalid = sum(not run.valid for run in results.runs)
    if not invalid:
        return '<span class="valid">All runs are valid.</span>'
    return f'<span class="invalid">{_count(invalid, "run")} of {len(results.runs)} invalid.</span>'


def _invalid_runs(results: Results) -> str:
    lines = [
        f"<li><code>{escape(run.name)}</code>: {escape(run.invalid_reason or '')}</li>"
        for run in results.runs
        if not run.valid
    ]
    if not lines:
        return ""
    return f"""<div class="alert"><strong>Invalid runs.</strong> They do not count: figures over
several runs leave them out, figures of single runs say so.<ul>{"".join(lines)}</ul></div>"""


def _wanted(results: Results) -> list[Figure]:
    """The figures that the scenario names and this version has; all where it names none."""
    names = results.runs[0].scenario.get("report", {}).get("figures")
    known = {figure.name for figure in FIGURES}
    return select([name for name in names if name in known] if names else None)


# Parameters


def flatten(value: Any, prefix: str = "") -> dict[str, Any]:
    """A nested scenario as dotted keys; a list of one has no index, empty parts no key."""
    if isinstance(value, dict):
        parts = [(str(key), part) for key, part in value.items()]
    elif isinstance(value, list) and any(isinstance(part, (dict, list)) for part in value):
        parts = [("" if len(value) == 1 else str(i), part) for i, part in enumerate(value)]
    else:
        return {} if value in (None, [], {}) else {prefix: value}
    flat: dict[str, Any] = {}
    for key, part in parts:
        flat |= flatten(part, ".".join(filter(None, [prefix, key])))
    return flat


def _parameters(results: Results) -> str:
    every = [flatten(run.scenario) for run in results.runs]
    swept = set(results.keys) | {"title", SEED} | {key for key in every[0] if "report." in key}
    common = {
        key: value
        for key, value in every[0].items()
        if key not in swept and all(other.get(key) == value for other in every)
    }
    main = ("bottleneck.", "access.", "flow.", "duration", "profile", "link.", "host.")
    shown = {key: value for key, value in common.items() if key.startswith(main)}
    rest = {key: value for key, value in common.items() if key not in shown}
    varied = {
        key_label(key): ", ".join(str(value) for value in results.values(key))
        for key in results.keys
    }
    host = flatten({key: results.runs[0].record[key] for key in _provenance(results)})
    return (
        f'<div class="card">{_list({**varied, **shown})}</div>'
        + (_details("All other parameters", rest) if rest else "")
        + (_details("Where and with what", host) if host else "")
    )


def _provenance(results: Results) -> list[str]:
    """Keys of `run.json` about the instrument that all runs share."""
    told = ("scenario", "point", "seed", "schema", "target", "valid", "invalid_reason")
    first = results.runs[0].record
    return [
        key
        for key, value in first.items()
        if key not in told and all(run.record.get(key) == value for run in results.runs)
    ]


def _list(values: dict[str, Any]) -> str:
    rows = (
        f"<div><dt>{escape(key)}</dt><dd>{escape(_text(value))}</dd></div>"
        for key, value in values.items()
    )
    return f"<dl>{''.join(rows)}</dl>"


def _details(title: str, values: dict[str, Any]) -> str:
    return f"""<details><summary>{escape(title)}</summary>
<div class="card">{_list(values)}</div></details>"""


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(_text, value)) if isinstance(value, list) else str(value)


# Tables


def _points(results: Results) -> str:
    keys = [key for key in results.keys if key_label(key) != "Number of flows"]
    seeds = len({run.seed for run in results.runs}) > 1
    heads = [_head(key_label(key), "", "name") for key in keys] + [_head("Seed", "")] * seeds
    heads += [_head(column.title, column.unit) for column in COLUMNS] + [_head("Valid", "", "name")]
    rows = []
    for run in results.runs:
        cells = [f'<td class="name">{escape(_text(run.point.get(key, "")))}</td>' for key in keys]
        cells += [f"<td>{run.seed}</td>"] * seeds
        cells += [_number(column.value(run), column.digits) for column in COLUMNS]
        word = "valid" if run.valid else "invalid"
        cells.append(f'<td class="name {word}">{"yes" if run.valid else "no"}</td>')
        rows.append(f"<tr>{''.join(cells)}</tr>")
    return f"""<div class="card scroll"><table class="sortable">
<thead><tr>{"".join(heads)}</tr></thead>
<tbody>{"".join(rows)}</tbody></table></div>
<p class="small">Click a head to sort by it.</p>"""


def _head(title: str, unit: str, kind: str = "number") -> str:
    below = f"<small>{escape(unit)}</small>" if unit else ""
    return f'<th class="{kind}" scope="col"><button>{escape(title)}</button>{below}</th>'


def _number(value: float | None, digits: int) -> str:
    if value is None:
        return '<td data-value="">-</td>'
    return f'<td data-value="{value!r}">{value:,.{digits}f}</td>'


def _runs(results: Results) -> str:
    rows = (
        f'<tr><td class="name"><code>{escape(run.name)}</code></td>'
        f'<td class="name"><code>{run_id(run)}</code></td></tr>'
        for run in results.runs
    )
    return f"""<details><summary>{
        _count(len(results.runs), "run directory").replace("directorys", "directories")
    } and their fingerprints</summary>
<div class="card scroll"><table><thead><tr><th class="name">Directory</th>
<th class="name">SHA-256 of run.json and summary.json, its beginning</th></tr></thead>
<tbody>{"".join(rows)}</tbody></table></div></details>"""


def run_id(run: Run) -> str:
    """The first 16 hexadecimal digits of SHA-256 over a run's `run.json` and `summary.json`."""
    content = b"".join((run.path / name).read_bytes() for name in ("run.json", "summary.json"))
    return hashlib.sha256(content).hexdigest()[:16]


def _point_text(run: Run) -> str:
    return repr({key: value for key, value in run.point.items() if key != SEED})


# Figures


def _figure(figure: Figure, results: Results, section: int) -> str:
    files = render(figure, results, ("svg",))
    if not files:
        return ""
    svg = inline_svg(files["svg"].decode(), f"s{section}-{figure.name}", figure.title)
    wide = float(_VIEW_BOX.findall(svg)[0]) > (style.COLUMN_IN + 0.1) * 72
    return f"""<figure class="card {"page" if wide else "column"}">
<h3>{escape(figure.title)}</h3><div class="scroll">{svg}</div>
<figcaption>{escape(figure.caption)}</figcaption></figure>
"""


_VIEW_BOX: Final = re.compile(r'viewBox="0 0 ([\d.]+)')
_THEME: Final = {
    "#ffffff": "paper",
    style.INK: "ink",
    style.MUTED: "figure-muted",
    style.GRID: "grid",
} | {colour: f"s{index}" for index, colour in enumerate(style.COLOURS)}


def inline_svg(svg: str, name: str, title: str) -> str:
    """A figure as an element of the page: ids its own, colours the page's, two decimals.

    `name` goes before every id, so that two figures on a page do not share one.
    """
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r'^<svg[^>]*?(viewBox="[^"]*")[^>]*>', rf"<svg \1 {_ROLE}>", svg, count=1)
    svg = svg.replace(_ROLE, f'role="img" aria-label="{escape(title)}"', 1)
    svg = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{name}-", svg)
    svg = re.sub(r'\bd="[^"]*"', lambda path: _LONG.sub(_two_decimals, path[0]), svg)
    return re.sub(
        r"#[0-9a-f]{6}",
        lambda match: f"var(--{_THEME[match[0]]})" if match[0] in _THEME else match[0],
        svg,
    )


_ROLE: Final = "role-and-label"
_LONG: Final = re.compile(r"-?\d+\.\d{3,}")


def _two_decimals(number: re.Match[str]) -> str:
    return f"{float(number[0]):.2f}"
