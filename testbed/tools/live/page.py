"""The live view's page, while a block runs."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Final

from narrows.testbed.problems import InputError, Problem
from narrows.testbed.tools.live.feed import Control, Feed, Snapshot

INTERVAL_S: Final = 0.1


@contextlib.contextmanager
def served(
    look: Callable[[], Snapshot | None],
    control: Control,
    port: int,
    tell: Callable[[str], None],
) -> Iterator[None]:
    """The page at a TCP port, 0 for any that is free, until the end of the block.

    `look` returns what the page shows, None before there is anything; `control` makes its changes;
    `tell` gets its address. Raises `InputError`.
    """
    try:
        from narrows.testbed.tools.live.server import LiveServer
    except ImportError as error:
        what = f"needs more packages ({error.name}): pip install 'narrows[live]'"
        raise InputError("--live", [Problem("", what)]) from None
    feed, is_over = Feed(), threading.Event()

    def publish() -> None:
        while not is_over.wait(INTERVAL_S):
            snapshot = look()
            if snapshot is not None:
                feed.publish(snapshot)

    thread = threading.Thread(target=publish, name="live view", daemon=True)
    with LiveServer(feed, control, port) as server:
        tell(server.address)
        thread.start()
        try:
            yield
        finally:
            is_over.set()
            thread.join()
