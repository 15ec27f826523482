"""The table at the end of a run: its content at each width, with text printed literally."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from narrows.testbed.cli.results import results_json
from narrows.testbed.cli.results_table import results_table
from narrows.testbed.runs.jobs import Job, Outcome
from narrows.testbed.terminal import plain
from tests.support.world import TWO_FLOWS, narrows, write

FLOWS = [{"variant": "reno", "name": "mine", "count": 1}, {"variant": "cubic", "count": 2}]


def outcome(point: dict[str, Any], seed: int, mbps: Sequence[float], delay_ms: float) -> Outcome:
    """A run of one second with these goodputs of its flows."""
    record: Any = {"point": point | {"seed": seed}, "seed": seed, "scenario": {"flow": FLOWS}}
    flows = [
        {"id": number, "delivered_bytes": int(rate * 125_000), "completion_s": None}
        for number, rate in enumerate(mbps, 1)
    ]
    delays = {"mean": delay_ms, "p95": 2 * delay_ms}
    port = {"utilization": 0.5, "queue_packets_mean": 3.0, "dropped": 7, "queue_delay_ms": delays}
    summary: Any = {"duration_s": 1.0, "flows": flows, "bottleneck": port, "jain": 0.75}
    name = f"point,seed={seed}"
    return Outcome(Job(name, "{}", record, Path("results") / name, 1), "done", summary=summary)


RUNS = [
    outcome({"bottleneck.rate": rate}, seed, (1.0 + seed, 2.0, 3.0), 10.0 * seed)
    for rate in ("5Mbps", "10Mbps")
    for seed in (1, 2, 3)
]


def lines(runs: Sequence[Outcome], width: int, title: str = "Title") -> list[str]:
    """The table's lines as printed in so many columns."""
    out = io.StringIO()
    console = Console(file=out, width=width, markup=False, highlight=False)
    console.print(results_table(title, runs, console))
    return [line.rstrip() for line in out.getvalue().splitlines()]


def row(runs: Sequence[Outcome], width: int, begins: str) -> list[str]:
    """The cells of one row; columns are three spaces apart."""
    [found] = [line for line in lines(runs, width) if line.startswith(begins)]
    return [cell.strip() for cell in found.split("   ") if cell.strip()]


def test_a_point_has_one_row_with_mean_and_range_of_its_seeds() -> None:
    assert row(RUNS, 80, "5Mbps") == [
        "5Mbps", "8.00 (7.00-9.00)", "3.00 (2.00-4.00)", "5.00", "50.0", "20.0 (10.0-30.0)",
    ]  # fmt: skip
    assert "mean (least-most) of 3 seeds" in lines(RUNS, 80)


def test_each_name_or_variant_has_its_goodput() -> None:
    header = " ".join(" ".join(lines(RUNS, 80)[3:6]).split())
    assert "mine" in header and "cubic" in header


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    assert max(map(len, lines(RUNS, width))) <= width


def test_a_wider_terminal_has_more_columns() -> None:
    widths = [len(row(RUNS, width, "5Mbps")) for width in (60, 80, 120, 200)]
    assert widths == sorted(set(widths))
    assert any("Jain" in line for line in lines(RUNS, 200)[3:6])
    assert any(line.startswith("a wider terminal also shows: ") for line in lines(RUNS, 80))
    assert not any("wider terminal" in line for line in lines(RUNS, 200))


def test_a_key_with_one_value_is_no_column() -> None:
    assert "with bottleneck.rate = 5Mbps" in lines(RUNS[:3], 80)


def test_a_failed_run_is_counted() -> None:
    failed = Outcome(RUNS[0].job, "failed", "why")
    assert row([failed, *RUNS[1:3]], 80, "2 of 3")[0] == "2 of 3"


def test_markup_and_escapes_in_a_title_are_printed_as_text() -> None:
    title = "[bold]x[/bold] [/] :smile: \x1b[31m\x9b5m\u202eend"
    assert lines(RUNS, 120, title)[0] == r"[bold]x[/bold] [/] :smile: \x1b[31m\x9b5m\u202eend"


def test_control_characters_are_written_out_but_line_feeds() -> None:
    assert plain("a\x1b]0;x\x07\tb\nc\x7f") == "a\\x1b]0;x\\x07\tb\nc\\x7f"


def test_the_json_has_the_same_figures() -> None:
    first = results_json("Title", RUNS)["points"][0]
    assert first["point"] == {"bottleneck.rate": "5Mbps"}
    assert first["figures"]["goodput_mbps:mine"] == {"mean": 3.0, "min": 2.0, "max": 4.0}
    assert [run["seed"] for run in first["runs"]] == [1, 2, 3]
    assert json.loads(json.dumps(first)) == first


def test_a_hostile_title_reaches_no_terminal(tmp_path: Path) -> None:
    title = json.dumps("\x1b[31m[red]Two[/red]")
    text = TWO_FLOWS.replace('"Two flows through 5 Mb/s"', title).replace('"5s"', '"1s"', 1)
    ran = narrows("run", write(tmp_path, text), "--out", tmp_path, "--no-figures")
    assert ran.returncode == 0
    assert "\x1b" not in ran.stdout + ran.stderr
    assert r"\x1b[31m[red]Two[/red]" in ran.stdout and r"\x1b[31m[red]Two" in ran.stderr
