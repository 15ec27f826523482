"""A function of many values, in forks of this process."""

from __future__ import annotations

import itertools
import signal
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Generic, TypeVar

from narrows.testbed.needs import cores

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

Value = TypeVar("Value")
Result = TypeVar("Result")

SHARE = 50
"""The fewest values that are worth a fork."""


def map_in_forks(
    function: Callable[[Value], Result], values: Sequence[Value], most: int
) -> list[Result]:
    """`function` of each value, in the values' order, in up to `most` processes: this one and forks
    of it, one per core. `function` must not change anything, and its results must pickle.

    A process with several Python threads is not forked, since their locks would stay locked. An
    error is that of the first value that has one.
    """
    shares = min(most, cores(), len(values) // SHARE)
    if shares < 2 or threading.active_count() > 1:
        return [function(value) for value in values]
    bounds = [len(values) * share // shares for share in range(shares + 1)]
    own, *others = (values[begin:end] for begin, end in itertools.pairwise(bounds))
    forks = [Fork(function, share) for share in others]
    try:
        results = [function(value) for value in own]
        for fork in forks:
            results += fork.results()
    finally:
        for fork in forks:
            fork.end()
    return results


class Fork(Generic[Value, Result]):
    """A fork that works on its share of the values."""

    def __init__(self, function: Callable[[Value], Result], share: Sequence[Value]) -> None:
        self.function, self.share = function, share
        # Loaded only here: most runs have few points.
        import multiprocessing

        context = multiprocessing.get_context("fork")
        self.receiver, sender = context.Pipe(duplex=False)
        self.process = context.Process(target=work, args=(function, share, sender), daemon=True)
        self.process.start()
        sender.close()

    def results(self) -> list[Result]:
        """Its results. Without them, this process finds out why."""
        try:
            found: list[Result] | None = self.receiver.recv()
        except (EOFError, OSError):
            found = None
        return [self.function(value) for value in self.share] if found is None else found

    def end(self) -> None:
        """Ends it, whatever it does."""
        self.process.kill()
        self.process.join()
        self.receiver.close()


def work(function: Callable[[Value], Result], share: Sequence[Value], sender: Connection) -> None:
    """Sends the results for a share, or `None` after an error."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        results = [function(value) for value in share]
    except Exception:
        sender.send(None)
    else:
        sender.send(results)
