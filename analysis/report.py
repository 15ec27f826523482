"""A report: one HTML page with the settings of the runs, their validity, figures and numbers.

The page (`analysis.page`) contains everything it needs and makes no network requests. Its content
depends only on the runs, not on a clock.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Literal

from narrows.analysis import compare, figures, flow_rows, metrics, queue_rows, words
from narrows.analysis.figures.base import SEED, Figure, Results, key_label
from narrows.analysis.load import Run, load
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
    Values,
    Verdict,
)

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
"""The definitions of the page's numbers."""


def _of_bottleneck(*keys: str) -> Callable[[Run], float | None]:
    def value(run: Run) -> float | None:
        found: Any = run.summary["bottleneck"]
        for key in keys:
            found = found.get(key) if isinstance(found, dict) else None
        return None if found is None else float(found)

    return value


def _sum_of_flows(key: Literal["retransmits", "timeouts"]) -> Callable[[Run], float | None]:
    return lambda run: float(sum(flow[key] for flow in run.flows))


def _back(measure: Callable[[Run, str], float | None]) -> Callable[[Run], float | None]:
    return lambda run: measure(run, metrics.REVERSE)


MEASURES: Final[tuple[tuple[Column, Callable[[Run], float | None]], ...]] = (
    (Column("Flows", "", 0), lambda run: float(len(run.flows))),
    (Column("Completion", "s", 2), metrics.completion_s),
    (Column("Goodput", "Mb/s", 3), lambda run: metrics.mean_goodput_bps(run) / 1e6),
    (Column("Link use", "%", 2), metrics.link_use_percent),
    (Column("Jain", "", 4), lambda run: float(run.summary["jain"])),
    (Column("Queue, mean", "packets", 1), _of_bottleneck("queue_packets_mean")),
    (Column("Queue, most", "packets", 0), _of_bottleneck("queue_packets_max")),
    (Column("Delay, mean", "ms", 1), metrics.mean_queue_delay_ms),
    (Column("Delay, p95", "ms", 1), _of_bottleneck("queue_delay_ms", "p95")),
    (Column("Delay, most", "ms", 1), _of_bottleneck("queue_delay_ms", "max")),
    (Column("Loss", "%", 3), metrics.loss_percent),
    (Column("Back: link use", "%", 2), _back(metrics.link_use_percent)),
    (Column("Back: delay, mean", "ms", 1), _back(metrics.mean_queue_delay_ms)),
    (Column("Back: loss", "%", 3), _back(metrics.loss_percent)),
    (Column("Resent", "segments", 0), _sum_of_flows("retransmits")),
    (Column("Time-outs", "", 0), _sum_of_flows("timeouts")),
)
"""The columns of the table of points after the point, and the value of a run in each."""


def write(dirs: list[Path], out: Path) -> None:
    """Writes the report of scenarios' results, or of single runs, to the file `out`.

    Draws the figures that a scenario's `report.figures` names, or all if it names none. Raises
    `load.LoadError`, and `OSError` for `out`.
    """
    page([Results(tuple(load(directory))) for directory in dirs]).write(out)


def page(scenarios: list[Results]) -> Page:
    """The report of these scenarios: the sections of one, or for several the differences, then
    each.
    """
    definitions = Section("Definitions", [Lines(DEFINITIONS)])
    if len(scenarios) == 1:
        parts = [*_parts(scenarios[0]), definitions]
        return Page(scenarios[0].runs[0].title, _shape(scenarios[0]), parts)
    sections = [
        Section(results.runs[0].title, [Text(_shape(results), "lead"), *_parts(results)])
        for results in scenarios
    ]
    compared = compare.section(scenarios, flatten)
    lead = f"{len(scenarios)} scenarios, {sum(len(results.runs) for results in scenarios)} runs."
    return Page("Results", lead, [compared, *sections, definitions])


def _shape(results: Results) -> str:
    points = len({_point_text(run) for run in results.runs})
    seeds = len({run.seed for run in results.runs})
    shape = [_count(points, "point"), _count(seeds, "seed"), _count(len(results.runs), "run")]
    targets = sorted({str(run.record["target"]) for run in results.runs})
    return f"{', '.join(shape)} on target {', '.join(targets)}."


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _parts(results: Results) -> list[Section]:
    wanted = _shown_figures(results)
    plots = {figure.name: _plot(figure, results) for figure in wanted}
    drawn = [plot for plot in plots.values() if plot is not None]
    gone = [figure for figure in wanted if plots[figure.name] is None]
    missing = [f"{figure.name} not drawn: {figures.why_not(figure, results)}" for figure in gone]
    # A scenario that names no figures gets those that its runs allow.
    notes = [Lines(missing)] if missing and _named_figures(results) else []
    shown: list[Block] = [*drawn, *notes]
    return [
        Section("Summary", [Lines(words.sentences(results))]),
        Section("What was run", [*_validity(results), *_switch(results), *_parameters(results)]),
        Section("Results", [points_table(results), Text("A click on a head sorts by it.", "small"),
                            *_queues(results), *_flows(results)]),
        *([Section("Figures", shown)] if shown else []),
        Section("Runs", [_runs(results)]),
    ]  # fmt: skip


def _validity(results: Results) -> list[Block]:
    invalid = [run for run in results.runs if not run.valid]
    if not invalid:
        return [Badge(Verdict.HOLDS, "all runs are valid")]
    lines = [f"`{run.name}`: {run.invalid_reason}" for run in invalid]
    told = "They do not count: figures over several runs leave them out, others say so."
    verdict = f"{_count(len(invalid), 'run')} of {len(results.runs)} invalid"
    return [Badge(Verdict.FAILS, verdict), Alert("Invalid runs.", told, lines)]


def _notes(run: Run) -> list[str]:
    """What an external switch reports about its own error."""
    instrument: Any = run.record.get("instrument", {})
    return list(instrument.get("switch", {}).get("notes", ()))


def _switch(results: Results) -> list[Block]:
    """The errors that external switches report of themselves; folded for several runs."""
    told = {run.name: Lines(notes) for run in results.runs if (notes := _notes(run))}
    if len(told) == 1:
        return [Text("What this switch gets wrong:"), *told.values()]
    return [Details(f"What the switch gets wrong: {name}", [one]) for name, one in told.items()]


def _plot(figure: Figure, results: Results) -> Plot | None:
    chart = figures.chart(figure, results)
    return None if chart is None else Plot(figure.name, figure.title, figure.caption, chart)


def _named_figures(results: Results) -> list[str]:
    """The figures that the scenario names and that this version has."""
    names = results.runs[0].scenario.get("report", {}).get("figures") or []
    return [name for name in names if name in figures.NAMES]


def _shown_figures(results: Results) -> list[Figure]:
    """The figures that the scenario names, or all if it names none."""
    return figures.select(_named_figures(results) or None)


# Parameters


def flatten(value: Any, prefix: str = "") -> dict[str, Any]:
    """A nested scenario as dotted keys.

    A list with one entry has no index; empty parts have no key.
    """
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


def _parameters(results: Results) -> list[Block]:
    every = [flatten(run.scenario) for run in results.runs]
    swept = set(results.keys) | {"title", SEED} | {key for key in every[0] if "report." in key}
    common = {
        key: value
        for key, value in every[0].items()
        if key not in swept and all(other.get(key) == value for other in every)
    }
    main = ("bottleneck.", "access.", "flow.", "duration", "profile", "link.")
    shown = {key: value for key, value in common.items() if key.startswith(main)}
    rest = {key: value for key, value in common.items() if key not in shown}
    varied = {
        key_label(key): ", ".join(str(value) for value in results.values(key))
        for key in results.keys
    }
    keys = _provenance(results)
    host = flatten({key: told for key, told in results.runs[0].record.items() if key in keys})
    more = {"All other parameters": rest, "Where and with what": host}
    folded = [Details(title, [Values(values)]) for title, values in more.items() if values]
    return [Values({**varied, **shown}), *folded]


def _provenance(results: Results) -> list[str]:
    """Keys of `run.json` about the instrument, which all runs share."""
    told = ("scenario", "point", "seed", "schema", "target", "valid", "invalid_reason")
    first = results.runs[0].record
    return [
        key
        for key, value in first.items()
        if key not in told and all(run.record.get(key) == value for run in results.runs)
    ]


# Tables


def points_table(results: Results) -> Table:
    """A row per run: its point, its measures (`MEASURES`), and whether it is valid."""
    keys = [key for key in results.keys if key_label(key) != "Number of flows"]
    seeds = len({run.seed for run in results.runs}) > 1
    columns = [Column(key_label(key)) for key in keys] + [Column("Seed")] * seeds
    measured = [
        (column, measure)
        for column, measure in MEASURES
        if any(measure(run) is not None for run in results.runs)
    ]
    columns += [column for column, _ in measured] + [Column("Valid")]
    rows: list[list[Value]] = []
    for run in results.runs:
        point: list[Value] = [str(run.point.get(key, "")) for key in keys]
        verdict = Badge(Verdict.HOLDS, "yes") if run.valid else Badge(Verdict.FAILS, "no")
        numbers = [measure(run) for _, measure in measured]
        rows.append([*point, *[run.seed] * seeds, *numbers, verdict])
    return Table(columns, rows)


FLOW_COLUMNS: Final = (
    (Column("Goodput", "Mb/s", 3), "goodput_bps", 1e-6),
    (Column("RTT, mean", "ms", 1), "rtt_mean_ms", 1.0),
    (Column("RTT, p95", "ms", 1), "rtt_p95_ms", 1.0),
    (Column("One way, p95", "ms", 1), "one_way_delay_p95_ms", 1.0),
    (Column("Resent", "segments", 0), "retransmits", 1.0),
    (Column("Time-outs", "", 0), "timeouts", 1.0),
    (Column("Lost", "datagrams", 0), "datagrams_lost", 1.0),
    (Column("Start", "s", 2), "start_s", 1.0),
    (Column("Completion", "s", 2), "completion_s", 1.0),
)
"""The columns of the table of flows, the keys of `flow_rows.rows`, and the factors of their units.
"""
MOST_FLOWS: Final = 300
"""Maximum number of rows in that table; `runs.csv` has all."""


def _flows(results: Results) -> list[Block]:
    """A row per flow and run, folded."""
    found = flow_rows.rows(results.runs)
    kept = found[:MOST_FLOWS]
    named = any(row["name"] for row in kept)
    columns = [each for each in FLOW_COLUMNS if any(row[each[1]] is not None for row in kept)]
    heads = [Column("Run"), Column("Flow"), *[Column("Name")] * named, Column("Variant"),
             *(column for column, _, _ in columns)]  # fmt: skip
    rows: list[list[Value]] = [
        [row["run"], row["flow"], *[row["name"]] * named, row["variant"],
         *(None if row[key] is None else row[key] * factor for _, key, factor in columns)]
        for row in kept
    ]  # fmt: skip
    more = f"; {len(found) - len(kept)} more are in `runs.csv`" if len(found) > len(kept) else ""
    return [Details(f"{_count(len(kept), 'flow')}{more}", [Table(heads, rows)])] if kept else []


QUEUE_COLUMNS: Final = (
    Column("Run"), Column("Queue", "", 0), Column("Stored", "packets", 0),
    Column("Throughput", "Mb/s", 3), Column("Queue, mean", "packets", 1),
    Column("Queue, most", "packets", 0), Column("Delay, mean", "ms", 1),
    Column("Delay, p95", "ms", 1), Column("Delay, most", "ms", 1), Column("Dropped", "packets", 0),
    Column("Marked", "packets", 0), Column("Reasons"),
)  # fmt: skip
"""The columns of the table of queues: `queue_rows.rows`."""


def _queues(results: Results) -> list[Block]:
    """A row per queue and run, for bottlenecks with several queues."""
    rows = queue_rows.rows(results.runs)
    text = "The bottleneck's queues; queue 0 is served first."
    return [Text(text), Table(QUEUE_COLUMNS, rows)] if rows else []


def _runs(results: Results) -> Details:
    columns = [Column("Directory"), Column("SHA-256 of run.json and summary.json, its beginning")]
    rows: list[list[Value]] = [[Code(run.name), Code(run_id(run))] for run in results.runs]
    count = len(results.runs)
    what = "1 run directory and its fingerprint"
    if count > 1:
        what = f"{count} run directories and their fingerprints"
    return Details(what, [Table(columns, rows)])


def run_id(run: Run) -> str:
    """The first 16 hexadecimal digits of SHA-256 over a run's `run.json` and `summary.json`."""
    content = b"".join((run.path / name).read_bytes() for name in ("run.json", "summary.json"))
    return hashlib.sha256(content).hexdigest()[:16]


def _point_text(run: Run) -> str:
    return repr({key: value for key, value in run.point.items() if key != SEED})
