"""Relates a board's clock to this machine's, by reading its time.

A read of the board's time that is sent at s and answered at r has the board's time between the two.
The read with the shortest round trip gives the offset, within half of that. Readings before and
after a run give the drift. Times of a ledger are the board's own since the run began, so they stay
exact among each other; a drift makes them longer or shorter than the hosts'.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from narrows.controller.drivers.fpga import FpgaDriver
from narrows.controller.drivers.fpga_protocol import Board
from narrows.schema.units import PS_PER_NS

READS = 16


def now_ns() -> int:
    """The run's clock, `CLOCK_MONOTONIC_RAW`."""
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)


@dataclass(frozen=True)
class Reading:
    """A reading of a board's clock: at `at_ns` of ours it was `board_ps`, within `error_ns`."""

    at_ns: int
    board_ps: int
    error_ns: int

    def at(self, instant_ns: int) -> int:
        """The board's time in ps at a time of ours."""
        return self.board_ps + (instant_ns - self.at_ns) * PS_PER_NS

    def drift_ppm(self, earlier: Reading) -> float:
        """How much faster the board's clock ran since an earlier reading, in parts per million."""
        ours_ns = self.at_ns - earlier.at_ns
        theirs_ns = (self.board_ps - earlier.board_ps) / PS_PER_NS
        return 1e6 * (theirs_ns / ours_ns - 1)


async def read_clock(driver: FpgaDriver) -> Reading:
    """Reads a board's clock."""
    found = list[tuple[int, int, int]]()
    for _ in range(READS):
        sent_ns = now_ns()
        board_ps = await driver.read(Board.NOW)
        found.append((now_ns() - sent_ns, sent_ns, board_ps))
    took_ns, sent_ns, board_ps = min(found)
    return Reading(sent_ns + took_ns // 2, board_ps, took_ns // 2)
