"""Draws figures in several processes at a time."""

from __future__ import annotations

import functools
import multiprocessing
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from narrows.analysis import figures
from narrows.testbed.garbage import collect_seldom


def draw(results_dir: Path, names: Sequence[str], at_once: int) -> list[Path]:
    """`figures.draw`, with up to `at_once` processes. A script that calls it with more than one
    needs `if __name__ == "__main__"`.

    Raises `figures.UnknownFigureError` and `load.LoadError`; `MemoryError` if a process was killed.
    """
    processes = min(at_once, len(names))
    if processes < 2:
        return figures.draw(results_dir, names)
    figures.check(names)
    return figures.write(results_dir, names, _rendered(results_dir, names, processes))


def _rendered(
    results_dir: Path, names: Sequence[str], processes: int
) -> Iterator[dict[str, bytes]]:
    from narrows.testbed.runs.local import interrupts_ignored  # not in the processes that draw

    # Not forks: polars and numpy have threads.
    context = multiprocessing.get_context("spawn")
    render = functools.partial(_render, results_dir)
    with ProcessPoolExecutor(processes, context, collect_seldom) as pool:
        # They inherit this: the terminal's Ctrl-C is for this process, which ends them.
        with interrupts_ignored():
            rendered = [pool.submit(render, name) for name in names]
        try:
            for each in rendered:
                yield each.result()
        except BrokenProcessPool:
            raise MemoryError from None
        except BaseException:
            for process in multiprocessing.active_children():
                process.terminate()
            raise


def _render(results_dir: Path, name: str) -> dict[str, bytes]:
    [figure] = figures.select([name])
    return figures.render(figure, _results(results_dir), figures.FILES)


_results = functools.cache(figures.load_results)
