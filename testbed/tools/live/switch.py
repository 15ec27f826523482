"""The live view of a running switch: its ports, read in place; changes go through a controller."""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from narrows.testbed.tools.live.feed import Change, Control, ControlError, PortState, Snapshot
from narrows.testbed.tools.live.page import served

if TYPE_CHECKING:
    from narrows._engine import Switch


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
def view(port: int | None, switch: Switch, address: str, log: logging.Logger) -> Iterator[None]:
    """The view at a TCP port, 0 for any that is free, until the end of the block; none if the port
    is None. `address` is where the switch's controllers connect. Raises `InputError`.
    """
    if port is None:
        yield
        return
    began = time.monotonic()

    def look() -> Snapshot:
        ports = [port_state(switch, number) for number in switch.ports()]
        return Snapshot(time.monotonic() - began, ports)

    with served(look, controlled_by(address), port, lambda page: log.info("live view at %s", page)):
        yield
