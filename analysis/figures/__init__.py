"""The figures, one per file, drawn from the run directories of one scenario.

A new figure is a file that ends in one `FIGURE` record, and its name in `NAMES`, which is also the
file's.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from narrows.analysis.load import load

if TYPE_CHECKING:
    from narrows.analysis.chart.model import Chart
    from narrows.analysis.figures.base import Figure, Results

    FIGURES: tuple[Figure, ...]

NAMES: Final = (
    "throughput",
    "goodput",
    "completion_time",
    "flow_completion",
    "queue_delay_by_rtt",
    "queue_length",
    "queue_depths",
    "queue_delay",
    "drops_and_marks",
    "cwnd",
    "rtt",
    "delay_cdf",
    "queue_delay_cdf",
    "queue_delay_box",
    "throughput_delay",
    "utilization_delay",
    "fairness",
    "fairness_over_time",
    "convergence",
    "rtt_fairness",
    "goodput_ratio",
    "gain_loss",
    "ramp_up",
    "window_recovery",
    "cross_losses",
    "smoothness",
    "share",
    "shares",
    "sweep",
    "both_directions",
    "buffer_sweep",
    "loss_sweep",
    "message_latency",
)
"""Every figure, in the order in which a report shows them."""

FILES: Final = ("png", "pdf")
"""What a figure is drawn as."""


class UnknownFigureError(Exception):
    """No figure in `NAMES` has this name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"figure {name!r} is unknown; expected one of {', '.join(NAMES)}")
        self.name = name


if not TYPE_CHECKING:

    def __getattr__(name: str) -> tuple[Figure, ...]:
        """`FIGURES`, the figures of all names. They import polars, so they are imported late."""
        if name != "FIGURES":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = found = tuple(select())
        return found


def check(names: Sequence[str]) -> None:
    """Raises `UnknownFigureError` for a name that no figure has."""
    for name in names:
        if name not in NAMES:
            raise UnknownFigureError(name)


def select(names: Sequence[str] | None = None) -> list[Figure]:
    """The figures of these names in their order, None means all. Raises `UnknownFigureError`."""
    check(names or ())
    modules = (f"{__name__}.{name}" for name in (NAMES if names is None else names))
    return [importlib.import_module(module).FIGURE for module in modules]


def load_results(results_dir: Path) -> Results:
    """The runs in a directory of results. Raises `load.LoadError`."""
    from narrows.analysis.figures.base import Results  # numpy

    return Results(tuple(load(results_dir)))


def draw(results_dir: Path, names: Sequence[str] | None = None) -> list[Path]:
    """Draws figures of a scenario's results to `<results_dir>/figures/<name>.png` and `.pdf`.

    `names` None means every figure. A figure is omitted if no run recorded its tables, or if the
    runs have nothing to show. Its files of an earlier run are then removed. The files depend only
    on the runs. Returns their paths. Raises `UnknownFigureError` and `load.LoadError`.
    """
    chosen = select(names)
    results = load_results(results_dir)
    contents = (render(figure, results, FILES) for figure in chosen)
    return write(results_dir, [figure.name for figure in chosen], contents)


def write(
    results_dir: Path, names: Sequence[str], contents: Iterable[Mapping[str, bytes]]
) -> list[Path]:
    """Writes what `render` gave for each figure, as `draw` does; returns the paths."""
    directory = results_dir / "figures"
    paths = []
    for name, content in zip(names, contents, strict=True):
        for suffix in FILES:
            path = directory / f"{name}.{suffix}"
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
    results = load_results(results_dir)
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
    from narrows.analysis.chart import paper  # matplotlib

    shown = chart(figure, results)
    return {} if shown is None else paper.files(shown, formats)
