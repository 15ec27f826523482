"""Draws figures in several processes at a time."""

from __future__ import annotations

import atexit
import contextlib
import functools
import gc
import multiprocessing
import signal
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from narrows.analysis import figures


def draw(results_dir: Path, names: Sequence[str], at_once: int) -> list[Path]:
    """`figures.draw`, with up to `at_once` processes. A script that calls it with more than one
    needs `if __name__ == "__main__"`.

    Raises `figures.UnknownFigureError` and `load.LoadError`; `MemoryError` if a process was killed.
    """
    processes = min(at_once, len(names))
    if processes < 2:
        return figures.draw(results_dir, names)
    if unknown := [name for name in names if name not in figures.NAMES]:
        raise figures.UnknownFigureError(unknown[0])
    return figures.write(results_dir, names, _rendered(results_dir, names, processes))


def _rendered(
    results_dir: Path, names: Sequence[str], processes: int
) -> Iterator[dict[str, bytes]]:
    # Not forks: polars and numpy have threads.
    context = multiprocessing.get_context("spawn")
    render = functools.partial(_render, results_dir)
    with ProcessPoolExecutor(processes, context, _begin) as pool:
        # The terminal's Ctrl-C is for this process, which ends the others.
        with _interrupts_ignored():
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


def _begin() -> None:
    """Lets the exit look for no garbage."""
    atexit.register(gc.freeze)


@contextlib.contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """Ignores Ctrl-C, also in processes that start meanwhile. Only the main thread may set this."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _render(results_dir: Path, name: str) -> dict[str, bytes]:
    [figure] = figures.select([name])
    return figures.render(figure, _results(results_dir), figures.FILES)


_results = functools.cache(figures.load_results)
