"""Streamed reads: what a read collects is bounded, and a slow client keeps no write waiting.

A read of up to `READ_BYTES` sees one instant, as P4Runtime's clients expect of a switch that
serializes reads and writes. A longer one goes on part by part, and writes may come between.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from finsy.proto import p4r

from narrows.schema import budgets
from narrows.switch.server.p4runtime.pipeline import Pipeline
from narrows.switch.server.p4runtime.roles import Scope
from narrows.switch.server.target import TargetError

ENTITIES_A_RESPONSE = 1000


class Reading:
    """Limits how many reads run at a time."""

    def __init__(self) -> None:
        self._free = threading.BoundedSemaphore(budgets.READS)

    @contextmanager
    def one(self) -> Iterator[None]:
        """Runs one read. Raises `TargetError` if too many run."""
        if not self._free.acquire(blocking=False):
            message = f"Read: expected at most {budgets.READS} reads at a time"
            raise TargetError("resource-exhausted", message)
        try:
            yield
        finally:
            self._free.release()


def check_read(request: p4r.ReadRequest) -> None:
    """Raises for a request of too many entities."""
    if len(request.entities) > budgets.READ_ENTITIES:
        what = f"{len(request.entities)} entities: expected at most {budgets.READ_ENTITIES}"
        raise TargetError("resource-exhausted", f"Read: {what}")


def stream(
    lock: AbstractContextManager[object],
    responses: Iterator[bytes],
    check: Callable[[], None],
) -> Iterator[bytes]:
    """Yields the responses. It takes them under the lock: as many as the budgets allow at one
    instant, then one after another. `check` raises when the rest can't be read any more.
    """
    with lock:
        check()
        begun = taken(responses)
    while begun:
        yield begun.popleft()
    while True:
        with lock:
            check()
            response = next(responses, None)
        if response is None:
            return
        if response:
            yield response


def taken(responses: Iterator[bytes]) -> deque[bytes]:
    """The first responses, within the budgets of one instant."""
    found, size, end_s = deque[bytes](), 0, time.monotonic() + budgets.READ_S
    for response in responses:
        if response:
            found.append(response)
            size += len(response)
        if size >= budgets.READ_BYTES or time.monotonic() >= end_s:
            break
    return found


def serialized(pipeline: Pipeline, scope: Scope, request: p4r.ReadRequest) -> Iterator[bytes]:
    """The responses to a request. An empty one stands for a part that completes no response."""
    waiting: list[p4r.Entity] = []
    for entity in request.entities:
        for part in pipeline.read(entity):
            waiting += scope.seen(part)
            if len(waiting) < ENTITIES_A_RESPONSE:
                yield b""
                continue
            yield p4r.ReadResponse(entities=waiting).SerializeToString()
            waiting.clear()
    if waiting:
        yield p4r.ReadResponse(entities=waiting).SerializeToString()
