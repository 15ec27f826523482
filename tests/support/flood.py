"""UDP packets of 1,500 bytes (IP) at a rate, for ever: `flood.py ADDRESS BITS_PER_SECOND`."""

from __future__ import annotations

import socket
import sys
import time

PACKET_BYTES = 1500
PAYLOAD = bytes(PACKET_BYTES - 28)
BURST_S = 0.002


def main(address: str, rate_bps: float) -> None:
    """Sends bursts that compensate for oversleeping."""
    began, sent = time.perf_counter(), 0
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        while True:
            due = (time.perf_counter() - began) * rate_bps / (8 * PACKET_BYTES)
            while sent < due:
                udp.sendto(PAYLOAD, (address, 9))
                sent += 1
            time.sleep(BURST_S)


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
