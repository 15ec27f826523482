"""The bottleneck's ledger: as a whole, and in parts. Other tables in parts.

In parts, a figure of a long run needs no more memory than one of a short run, apart from what it
shows. A part is in memory as the columns that were asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from narrows.analysis.load import Run
from narrows.analysis.metrics.base import by_flow

PART_ROWS: Final = 1 << 20
"""Rows of the table that are read at a time: sixteen of its row groups."""


def at_bottleneck(run: Run) -> pl.Expr:
    """Whether a row of `queue` is of the port that the summary calls the bottleneck."""
    bottleneck = run.summary["bottleneck"]
    return (pl.col("switch") == bottleneck["switch"]) & (pl.col("port") == bottleneck["port"])


def bottleneck_ledger(run: Run) -> pl.LazyFrame:
    """The rows of `queue` for the port that the summary calls the bottleneck."""
    return run.table("queue").filter(at_bottleneck(run))


def ledger_parts(run: Run, *columns: str) -> Iterator[pl.DataFrame]:
    """`bottleneck_ledger` in parts, in the order of time: `time_ps` and these columns.

    The rows of an instant are in one part. A part has at least one row.
    """
    held: list[pl.DataFrame] = []
    table = run.table("queue")
    starts = range(0, ledger_rows(run), PART_ROWS)
    for read in ahead(lambda first: part_at(run, table, first, columns), starts):
        part = pl.concat([*held, read])
        times = part["time_ps"]
        if not len(times):
            continue
        last = int(times.search_sorted(times[-1], side="left"))
        held = [part[last:]]
        if last:
            yield part[:last]
    yield from held


def ahead(read: Callable[[int], pl.DataFrame], starts: Iterable[int]) -> Iterator[pl.DataFrame]:
    """What `read` returns for each start. A thread reads the next part meanwhile."""
    with ThreadPoolExecutor(1) as reader:
        under_way: Future[pl.DataFrame] | None = None
        for start in starts:
            following = reader.submit(read, start)
            if under_way is not None:
                yield under_way.result()
            under_way = following
        if under_way is not None:
            yield under_way.result()


def part_at(
    run: Run, table: pl.LazyFrame, first: int, columns: tuple[str, ...] = ()
) -> pl.DataFrame:
    """The rows of the bottleneck among `PART_ROWS` rows of the run's ledger from this one on:
    `time_ps` and these columns.
    """
    wanted = list(dict.fromkeys(("time_ps", *columns)))
    read = table.slice(first, PART_ROWS).select(*wanted, "switch", "port")
    # Filtered after it is decoded: polars takes twice as long to decode what a filter has left.
    return read.collect().filter(at_bottleneck(run)).select(wanted)


class Arrivals:
    """The arrivals in a ledger that comes in parts. A packet's first row is its arrival: stored,
    marked or refused. Packets are numbered in the order of their arrival.
    """

    def __init__(self) -> None:
        self.latest = -1

    def among(self, part: pl.DataFrame) -> npt.NDArray[np.bool_]:
        """Which rows of the next part are arrivals; it has the column `packet`."""
        numbers = part["packet"].to_numpy()
        before = np.maximum.accumulate(np.append(self.latest, numbers))
        self.latest = int(before[-1])
        return np.asarray(numbers > before[:-1])


def table_rows(run: Run, table: str) -> int:
    """How many rows a table has."""
    return int(run.table(table).select(pl.len()).collect().item())


def ledger_rows(run: Run) -> int:
    """How many rows the table has, those of all ports."""
    return table_rows(run, "queue")


def table_parts(run: Run, table: str, *columns: str) -> Iterator[pl.DataFrame]:
    """These columns of a table in parts, in the order of its rows; one part, of a table without
    rows.
    """
    rows = run.table(table).select(*columns)
    for first in range(0, max(table_rows(run, table), 1), PART_ROWS):
        yield rows.slice(first, PART_ROWS).collect()


def flow_parts(run: Run, *columns: str) -> Iterator[tuple[int, pl.DataFrame]]:
    """These columns of the rows of `flows` for each flow that has any, in parts. The parts of a
    flow are in the order of time.
    """
    for part in table_parts(run, "flows", "flow", *columns):
        yield from by_flow(part)


def last_departure_ps(run: Run) -> int | None:
    """The time of the last dequeue at the bottleneck; None if no packet left it."""
    table = run.table("queue")
    for first in reversed(range(0, ledger_rows(run), PART_ROWS)):
        part = part_at(run, table, first, ("event",))
        if len(left := part.filter(pl.col("event") == "dequeue")):
            return int(left["time_ps"][-1])
    return None
