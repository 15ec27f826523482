"""Draws figures in several processes at a time."""

from __future__ import annotations

import atexit
import functools
import gc
import multiprocessing
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from narrows.analysis import figures
from narrows.analysis.figures.base import Figure, Results
from narrows.analysis.load import load


def draw(results_dir: Path, names: Sequence[str], at_once: int) -> list[Path]:
    """`figures.draw`, with up to `at_once` processes. A script that calls it with more than one
    needs `if __name__ == "__main__"`.

    Raises `figures.UnknownFigureError` and `load.LoadError`; `MemoryError` if a process was killed.
    """
    processes = min(at_once, len(names))
    if processes < 2:
        return figures.draw(results_dir, names)
    chosen = figures.select(names)
    return figures.write(results_dir, chosen, _rendered(results_dir, chosen, processes))


def _rendered(
    results_dir: Path, chosen: Sequence[Figure], processes: int
) -> Iterator[dict[str, bytes]]:
    # Not forks: polars and numpy have threads.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, context, _begin) as pool:
        try:
            render = functools.partial(_render, results_dir)
            yield from pool.map(render, [figure.name for figure in chosen])
        except BrokenProcessPool:
            raise MemoryError from None


def _begin() -> None:
    """Leaves Ctrl-C to the first process, and an exit without a search for garbage."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    atexit.register(gc.freeze)


def _render(results_dir: Path, name: str) -> dict[str, bytes]:
    [figure] = figures.select([name])
    return figures.render(figure, _results(results_dir), figures.FILES)


@functools.cache
def _results(results_dir: Path) -> Results:
    return Results(tuple(load(results_dir)))
