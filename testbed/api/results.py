"""The results of a scenario, for Python and notebooks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from markupsafe import Markup

from narrows.analysis import figures, flow_rows, report
from narrows.analysis.figures.base import Results as Runs
from narrows.analysis.joined import joined
from narrows.analysis.load import Run
from narrows.analysis.load import load as load_runs
from narrows.analysis.page.blocks import Writing
from narrows.testbed.api.picture import Picture

if TYPE_CHECKING:
    import polars as pl


class Results:
    """The runs of a scenario. Their tables are polars lazy frames: nothing is read before
    `collect()`.

    Each frame has the columns `run`, the sweep's keys by their dotted paths and `seed`. Tables with
    flows have `flow_name` and `variant`. The table's own columns follow (docs/reference/tables.md).
    """

    def __init__(self, directory: Path, runs: Sequence[Run], failed: dict[str, str]) -> None:
        self.directory = directory
        """The scenario's results, or a single run's directory."""
        self.runs = tuple(runs)
        """The finished runs, in the sweep's order."""
        self.failed = failed
        """Why runs failed or are invalid, by the run's name."""

    @property
    def title(self) -> str:
        """The scenario's title."""
        return self.runs[0].title

    @property
    def keys(self) -> list[str]:
        """The sweep's keys, by their dotted paths; without the seed."""
        return flow_rows.swept_keys(self.runs)

    @property
    def queue(self) -> pl.LazyFrame:
        """The queue's ledger: a row for each enqueue, dequeue, drop and mark. Each port's rows are
        in time order; sort those of several. Raises `LoadError` if no run recorded it.
        """
        return self.table("queue")

    @property
    def flows(self) -> pl.LazyFrame:
        """The senders' state: a row for each ACK or interval. Raises `LoadError`."""
        return self.table("flows")

    @property
    def packets(self) -> pl.LazyFrame:
        """The P4 program's reports: a row each. Raises `LoadError`."""
        return self.table("packets")

    @property
    def messages(self) -> pl.LazyFrame:
        """The applications' messages: a row each. Raises `LoadError`."""
        return self.table("messages")

    def table(self, name: str) -> pl.LazyFrame:
        """A table by its name; also `capture`. Raises `LoadError` if no run recorded it."""
        return joined(self.runs, name)

    def rows(self) -> pl.DataFrame:
        """A row for each flow of each run, with the bottleneck's numbers, as in `runs.parquet`."""
        return flow_rows.frame(self.runs)

    def figure(self, name: str) -> Picture:
        """A figure by its name (`narrows list figures`), such as `"queue_delay"`.

        Raises `UnknownFigureError`, and `FigureError` if the runs have nothing to show in it.
        """
        [figure] = figures.select([name])
        return Picture.of(figure, Runs(self.runs))

    def figures(self) -> list[str]:
        """The names of the figures that can be drawn of these runs."""
        runs = Runs(self.runs)
        return [each.name for each in figures.FIGURES if not figures.why_not(each, runs)]

    def report(self, path: str | Path | None = None) -> Path:
        """Writes the HTML page of `narrows report`; returns its path, `report.html` in the results
        unless given. Raises `OSError`.
        """
        out = self.directory / "report.html" if path is None else Path(path)
        report.page([Runs(self.runs)]).write(out)
        return out

    def __len__(self) -> int:
        """The number of finished runs."""
        return len(self.runs)

    def __iter__(self) -> Iterator[Run]:
        """The runs, in the sweep's order."""
        return iter(self.runs)

    def __repr__(self) -> str:
        """Title, number of runs, directory."""
        return f"<Results {self.title}: {self._counted()}, {self.directory}>"

    def _repr_html_(self) -> str:
        """The title, the failures and the table of points, for a notebook."""
        head = Markup("<p><strong>{}</strong>: {}, <code>{}</code></p>")
        failures = [Markup("<li>{}: {}</li>").format(*failed) for failed in self.failed.items()]
        parts = [head.format(self.title, self._counted(), self.directory)]
        if failures:
            parts.append(Markup("<ul>{}</ul>").format(Markup().join(failures)))
        return Markup().join(
            [*parts, report.points_table(Runs(self.runs)).html(Writing(sorts=False))]
        )

    def _counted(self) -> str:
        """`3 runs`, and how many failed."""
        count = f"{len(self.runs)} run{'' if len(self.runs) == 1 else 's'}"
        return f"{count}, {len(self.failed)} failed" if self.failed else count


def load(path: str | Path) -> Results:
    """The results in a directory, `results/<scenario>` or a single run. Raises `LoadError`."""
    directory = Path(path)
    runs = load_runs(directory)
    failed = {run.name: f"invalid: {run.invalid_reason}" for run in runs if not run.valid}
    return Results(directory, runs, failed)
