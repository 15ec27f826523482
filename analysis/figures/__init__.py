"""The figures, one per file, drawn from the run directories of one scenario.

A new figure is a file that ends in one `FIGURE` record, and its line in `FIGURES`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from narrows.analysis.chart.model import Chart
from narrows.analysis.figures import (
    both_directions,
    buffer_sweep,
    completion_time,
    convergence,
    cross_losses,
    cwnd,
    delay_cdf,
    drops_and_marks,
    fairness,
    fairness_over_time,
    flow_completion,
    gain_loss,
    goodput,
    goodput_ratio,
    loss_sweep,
    message_latency,
    queue_delay,
    queue_delay_box,
    queue_delay_by_rtt,
    queue_delay_cdf,
    queue_depths,
    queue_length,
    ramp_up,
    rtt,
    rtt_fairness,
    share,
    shares,
    smoothness,
    sweep,
    throughput,
    throughput_delay,
    utilization_delay,
    window_recovery,
)
from narrows.analysis.figures.base import Figure, Results
from narrows.analysis.load import load

FIGURES: Final[tuple[Figure, ...]] = (
    throughput.FIGURE,
    goodput.FIGURE,
    completion_time.FIGURE,
    flow_completion.FIGURE,
    queue_delay_by_rtt.FIGURE,
    queue_length.FIGURE,
    queue_depths.FIGURE,
    queue_delay.FIGURE,
    drops_and_marks.FIGURE,
    cwnd.FIGURE,
    rtt.FIGURE,
    delay_cdf.FIGURE,
    queue_delay_cdf.FIGURE,
    queue_delay_box.FIGURE,
    throughput_delay.FIGURE,
    utilization_delay.FIGURE,
    fairness.FIGURE,
    fairness_over_time.FIGURE,
    convergence.FIGURE,
    rtt_fairness.FIGURE,
    goodput_ratio.FIGURE,
    gain_loss.FIGURE,
    ramp_up.FIGURE,
    window_recovery.FIGURE,
    cross_losses.FIGURE,
    smoothness.FIGURE,
    share.FIGURE,
    shares.FIGURE,
    sweep.FIGURE,
    both_directions.FIGURE,
    buffer_sweep.FIGURE,
    loss_sweep.FIGURE,
    message_latency.FIGURE,
)
"""Every figure, in the order in which a report shows them."""


FILES: Final = ("png", "pdf")
"""What a figure is drawn as."""


class UnknownFigureError(Exception):
    """No figure in `FIGURES` has this name."""

    def __init__(self, name: str) -> None:
        known = ", ".join(figure.name for figure in FIGURES)
        super().__init__(f"figure {name!r} is unknown; expected one of {known}")
        self.name = name


def select(names: Sequence[str] | None) -> list[Figure]:
    """The figures of these names in their order, None means all. Raises `UnknownFigureError`."""
    by_name = {figure.name: figure for figure in FIGURES}
    for name in names or ():
        if name not in by_name:
            raise UnknownFigureError(name)
    return list(FIGURES) if names is None else [by_name[name] for name in names]


def draw(results_dir: Path, names: Sequence[str] | None = None) -> list[Path]:
    """Draws figures of a scenario's results to `<results_dir>/figures/<name>.png` and `.pdf`.

    `names` None means every figure. A figure is omitted if no run recorded its tables, or if the
    runs have nothing to show. Its files of an earlier run are then removed. The files depend only
    on the runs. Returns their paths. Raises `UnknownFigureError` and `load.LoadError`.
    """
    chosen = select(names)
    results = Results(tuple(load(results_dir)))
    return write(results_dir, chosen, (render(figure, results, FILES) for figure in chosen))


def write(
    results_dir: Path, chosen: Sequence[Figure], contents: Iterable[Mapping[str, bytes]]
) -> list[Path]:
    """Writes what `render` gave for each figure, as `draw` does; returns the paths."""
    directory = results_dir / "figures"
    paths = []
    for figure, content in zip(chosen, contents, strict=True):
        for suffix in FILES:
            path = directory / f"{figure.name}.{suffix}"
            if suffix in content:
                directory.mkdir(exist_ok=True)
                path.write_bytes(content[suffix])
                paths.append(path)
            else:
                path.unlink(missing_ok=True)
    return paths


def not_drawn(results_dir: Path, names: Sequence[str]) -> list[str]:
    """For each of these figures that cannot be drawn, a sentence that says what it needs.

    Raises `UnknownFigureError` and `load.LoadError`.
    """
    if not names:
        return []
    results = Results(tuple(load(results_dir)))
    told = ((figure.name, why_not(figure, results)) for figure in select(names))
    return [f"{name} not drawn: {why}" for name, why in told if why]


def why_not(figure: Figure, results: Results) -> str:
    """Why a figure cannot be drawn, in words; empty if it can."""
    missing = [table for table in figure.needs if not any(run.has(table) for run in results.runs)]
    if missing:
        return f"no run recorded {', '.join(missing)} (record.{missing[0]})"
    if chart(figure, results) is not None:
        return ""
    if not results.valid.runs:
        return "no run is valid"
    return f"it needs {figure.wants}" if figure.wants else "no run has data for it"


def chart(figure: Figure, results: Results) -> Chart | None:
    """The figure's chart of the runs that recorded its tables; None if there is nothing to show."""
    able = results.needing(figure.needs)
    return figure.chart(able) if able.runs else None


def render(figure: Figure, results: Results, formats: Sequence[str]) -> dict[str, bytes]:
    """One figure as files of these formats (png, pdf, svg); none if there is nothing to show."""
    from narrows.analysis.chart import paper  # matplotlib: a second

    shown = chart(figure, results)
    return {} if shown is None else paper.files(shown, formats)
