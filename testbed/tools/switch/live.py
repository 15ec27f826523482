"""`narrows switch` on DPDK ports: real packets in real time, with controllers on other threads."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from narrows.schema import budgets, units
from narrows.testbed.problems import InputError, Problem
from narrows.testbed.targets.dpdk import setup as dpdk
from narrows.testbed.tools.switch.options import SwitchOptions
from narrows.testbed.tools.switch.stop import Stop

if TYPE_CHECKING:
    from narrows._engine import Switch
    from narrows.schema.summary import Instrument
    from narrows.switch.server.p4runtime.service import P4RuntimeService

POLL_S = 0.02
"""Interval at which controllers are served; packets do not wait for it."""

MOST_QUEUES = 64
"""Maximum queues per port; cards may have fewer."""

Port = tuple[int, str, int]
"""Number, device string, and the cable's delay in picoseconds."""


def ports(devices: dict[int, str], delays: dict[int, str]) -> list[Port]:
    """Every live port. Raises `InputError`."""
    for port in set(delays) - set(devices):
        raise InputError("--delay", [Problem(str(port), "there is no such --port")])
    found = []
    for number, device in sorted(devices.items()):
        try:
            delay_ps = units.parse_duration(delays.get(number, "0s"))
        except ValueError as error:
            raise InputError("--delay", [Problem(delays[number], str(error))]) from None
        found.append((number, device, delay_ps))
    if len(found) > budgets.LIVE_PORTS:
        what = f"{len(found)} live ports: expected at most {budgets.LIVE_PORTS}, DPDK has no more"
        raise InputError("--port", [Problem("", what)])
    return found


def pipelines(live_ports: list[Port], workers: int) -> dict[int, int]:
    """The pipeline of each live port, one per worker. Raises `InputError`."""
    most = max(1, len(live_ports))
    if not 1 <= workers <= most:
        raise InputError("--workers", [Problem(str(workers), f"expected 1 to {most}, a port each")])
    return {number: index % workers for index, (number, _, _) in enumerate(live_ports)}


class Live:
    """Runs a switch on its ports until `stop`. Raises `InputError`."""

    def __init__(
        self, switch: Switch, live_ports: list[Port], options: SwitchOptions, log: logging.Logger
    ) -> None:
        from narrows.testbed import engine

        self._log = log
        if not 1 <= options.queues <= MOST_QUEUES:
            what = f"expected 1 to {MOST_QUEUES}"
            raise InputError("--queues", [Problem(str(options.queues), what)])
        setup = dpdk.setup_by(options.ports, [device for _, device, _ in live_ports])
        try:
            self._live = engine.Live(switch, live_ports, setup.as_text(), options.queues)
        except engine.DeviceError as error:
            raise InputError("--port", [Problem("", str(error))]) from None
        # The data paths answer once they run, with the priority that only root may give them.
        switch.statistics()
        if not setup.hugepages and not options.ports.no_huge:
            log.info("no hugepages; they make it faster: %s", dpdk.more_hugepages(setup.memory_mib))
        for (number, device, _), is_stamped in zip(live_ports, self._live.stamps(), strict=True):
            clock = "the device" if is_stamped else "software"
            log.info("port %d: %s, arrivals stamped by %s", number, device, clock)

    def serve(self, service: P4RuntimeService, stop: Stop) -> None:
        """Waits until `stop` is set. Raises `RuntimeError` if the data path ends unexpectedly."""
        while not stop.wait(POLL_S):
            if not self._live.is_running():
                raise RuntimeError("the data path ended unexpectedly")
            service.poll(time.monotonic_ns())

    def stop(self) -> Instrument | None:
        """Closes the ports, and logs the instrument's errors; returns them the first time."""
        instrument = self._live.stop()
        if instrument is not None:
            self._log_errors(instrument)
        return instrument

    def _log_errors(self, instrument: Instrument) -> None:
        for wire in instrument["wires"]:
            late, rate = wire["departure_error_us"], wire["rate_error"]
            self._log.info(
                "%s: received %d, sent %d, late by %.1f us (median), %.1f (99 %%), %.1f us (max)",
                wire["name"], wire["received"], wire["sent"], late["p50"], late["p99"], late["max"],
            )  # fmt: skip
            if rate is not None:
                self._log.info(
                    "%s: rate off by %+.4f %% at most over %d busy seconds",
                    wire["name"], 100 * rate["worst"], rate["windows"],
                )  # fmt: skip
            for key in ("not_sent", "without_memory", "missed", "copied", "link_downs"):
                if wire[key]:
                    self._log.info("%s: %s %d", wire["name"], key.replace("_", " "), wire[key])
        polls = instrument["polls"]
        self._log.info(
            "polled %d times, longest gap %.1f us; clock off by %.2f parts per million",
            polls["count"], polls["gap_max_us"], instrument["clock_error_ppm"],
        )  # fmt: skip
