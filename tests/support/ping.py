"""ICMP echoes to an address, one at a time: `ping.py ADDRESS COUNT` prints round trips in ms.

A round trip ends when the kernel receives the reply, so this process may wake up late.
"""

from __future__ import annotations

import os
import socket
import struct
import sys
import time

SO_TIMESTAMPNS = 35
"""Linux's option for receive timestamps; Python has no name for it."""
TIMESPEC = struct.Struct("qq")


def checksum(data: bytes) -> int:
    """The Internet checksum (RFC 1071)."""
    total: int = sum(struct.unpack(f"!{len(data) // 2}H", data))
    total = (total >> 16) + (total & 0xFFFF)
    return ~(total + (total >> 16)) & 0xFFFF


def echo(identifier: int, number: int) -> bytes:
    """An echo request of 64 bytes (RFC 792)."""
    head = struct.pack("!BBHHH", 8, 0, 0, identifier, number)
    body = bytes(56)
    return struct.pack("!BBHHH", 8, 0, checksum(head + body), identifier, number) + body


def arrived(raw: socket.socket) -> tuple[bytes, float]:
    """The next packet and when the kernel received it, in seconds since 1970."""
    packet, ancillary, _, _ = raw.recvmsg(2048, socket.CMSG_SPACE(TIMESPEC.size))
    [stamp] = [data for _, kind, data in ancillary if kind == SO_TIMESTAMPNS]
    seconds, nanoseconds = TIMESPEC.unpack(stamp)
    return packet, seconds + nanoseconds / 1e9


def main(address: str, count: int) -> None:
    """Prints a line for each echo that came back within half a second."""
    identifier = os.getpid() & 0xFFFF
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as raw:
        raw.settimeout(0.5)
        raw.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        for number in range(count):
            sent = time.time()
            raw.sendto(echo(identifier, number), (address, 0))
            while True:
                try:
                    packet, received = arrived(raw)
                except TimeoutError:
                    break
                kind, _, _, whose, which = struct.unpack("!BBHHH", packet[20:28])
                if (kind, whose, which) == (0, identifier, number):
                    print(f"{(received - sent) * 1e3:.3f}")
                    break
            time.sleep(0.05)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
