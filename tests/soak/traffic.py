"""The soak's traffic and flaps, on one thread: good frames, noise, frames for the controllers, and
bursts that are longer than a port's ring.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Mapping

from tests.soak.cables import Cable

TO_PORT = {2: 0x0200_0000_0002, 3: 0x0200_0000_0003, 4: 0x0200_0000_0004}
"""Addresses of the frames for each port."""
TO_CONTROLLER = 0x0200_0000_00FF
KINDS = (0x0800, 0x86DD, 0x0806, 0x8100, 0x88A8, 0x88CC, 0x0000, 0xFFFF)
"""Ethernet types, VLAN tags among them; the program drops 0x88cc."""
TICK_S = 0.05
FRAMES_A_TICK = 25
"""At each port."""
BURST_EVERY = 100
"""Ticks from one burst to the next."""
BURST_FRAMES = 3000
FLAP_EVERY = 20
"""Ticks from one flap to the next; the link is down for `DOWN` of them."""
DOWN = 4
FLAPPING = (3, 4)
"""At port 3 the far end goes down, at port 4 the switch's own."""
HEADER_BYTES, LEAST_BYTES, FRAME_BYTES = 14, 20, 1514
"""A VLAN tag needs 6 bytes: Linux drops shorter frames with one before any socket, uncounted."""


def frame(draw: random.Random) -> bytes:
    """A frame: for a port, for the controllers, or of noise."""
    length = draw.randint(LEAST_BYTES, FRAME_BYTES)
    which = draw.randrange(8)
    if which == 0:
        return draw.randbytes(length)
    to = TO_CONTROLLER if which == 1 else draw.choice(list(TO_PORT.values()))
    header = to.to_bytes(6, "big") + draw.randbytes(6) + draw.choice(KINDS).to_bytes(2, "big")
    return header + draw.randbytes(length - HEADER_BYTES)


class Traffic(threading.Thread):
    """Sends until `end`."""

    def __init__(self, cables: Mapping[int, Cable]) -> None:
        super().__init__(name="traffic")
        self.cables = cables
        self.error: Exception | None = None
        self._stop_sending = threading.Event()
        self._draw = random.Random(1)

    def run(self) -> None:
        """The thread."""
        try:
            self._send()
        except Exception as error:
            self.error = error
        finally:
            for port in FLAPPING:
                self._flap(port, is_up=True)

    def end(self) -> None:
        """Ends it with all links up. Raises its error."""
        self._stop_sending.set()
        self.join()
        if self.error is not None:
            raise self.error

    def _send(self) -> None:
        tick = 0
        while not self._stop_sending.wait(TICK_S):
            tick += 1
            port = FLAPPING[tick // FLAP_EVERY % len(FLAPPING)]
            if tick % FLAP_EVERY == 0:
                self._flap(port, is_up=False)
            elif tick % FLAP_EVERY == DOWN:
                self._flap(port, is_up=True)
            for cable in self.cables.values():
                for _ in range(FRAMES_A_TICK):
                    cable.send(frame(self._draw))
            if tick % BURST_EVERY == 0:
                burst = frame(self._draw)
                for _ in range(BURST_FRAMES):
                    self.cables[1].send(burst)

    def _flap(self, port: int, *, is_up: bool) -> None:
        # The kernel still carries the last frames.
        time.sleep(TICK_S)
        cable = self.cables[port]
        cable.set_link(cable.far if port == FLAPPING[0] else cable.near, is_up=is_up)
