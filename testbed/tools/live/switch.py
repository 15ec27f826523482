"""The live view of a running switch: its ports, read in place; changes go through a controller."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from narrows.testbed.problems import InputError, Problem
from narrows.testbed.tools.live.feed import Change, Control, ControlError, Feed, PortState, Snapshot

if TYPE_CHECKING:
    from narrows._engine import Switch

INTERVAL_S: Final = 0.1


def port_state(switch: Switch, number: int) -> PortState:
    """A port of a switch as it is now."""
    state = switch.port_state(number)
    return PortState(
        f"port {number}",
        number,
        state["rate_bps"],
        state["queue"],
        state["transmitted_bytes"],
        sum(state["drops"].values()),
        sum(state["marks"].values()),
        state["waiting_packets"],
        state["waiting_bytes"],
    )


def controlled_by(address: str) -> Control:
    """Changes by a gNMI client of the switch at `HOST:PORT`, as any controller makes them."""

    async def control(change: Change) -> None:
        from narrows.controller.client import SwitchClient
        from narrows.controller.drivers.gnmi import GnmiDriver
        from narrows.controller.errors import ControllerError, DriverError

        try:
            async with SwitchClient(address) as client:
                assert client.gnmi is not None
                driver = GnmiDriver(client.gnmi)
                if change.rate_bps is not None:
                    await driver.set_rate(change.port, change.rate_bps)
                if change.queue_limit is not None:
                    await driver.set_queue_limit(change.port, change.queue_limit)
        except (ControllerError, DriverError) as error:
            raise ControlError(str(error)) from None

    return control


@contextlib.contextmanager
def watched(switch: Switch, feed: Feed) -> Iterator[None]:
    """Publishes the switch's ports until the end of the block."""
    is_over = threading.Event()
    began = time.monotonic()

    def watch() -> None:
        while not is_over.wait(INTERVAL_S):
            ports = [port_state(switch, number) for number in switch.ports()]
            feed.publish(Snapshot(time.monotonic() - began, ports))

    thread = threading.Thread(target=watch, name="live view's ports")
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


@contextlib.contextmanager
def view(port: int | None, switch: Switch, address: str, log: logging.Logger) -> Iterator[None]:
    """The view at a TCP port, 0 for any that is free, until the end of the block; none if the port
    is None. `address` is where the switch's controllers connect. Raises `InputError`.
    """
    if port is None:
        yield
        return
    try:
        from narrows.testbed.tools.live.server import LiveServer
    except ImportError as error:
        what = f"needs more packages ({error.name}): pip install 'narrows[live]'"
        raise InputError("--live", [Problem("", what)]) from None
    feed = Feed()
    with LiveServer(feed, controlled_by(address), port) as server, watched(switch, feed):
        log.info("live view at %s", server.address)
        yield
