"""Frames for the data path, and what a mark makes of one: RFC 1071's sum over the whole header."""

from __future__ import annotations

import struct

TOS = 15
HEADER = slice(14, 34)


def checksum(header: bytes) -> int:
    """The checksum of an IPv4 header whose checksum field is zero (RFC 1071)."""
    total: int = sum(struct.unpack(f">{len(header) // 2}H", header))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


def frame(length: int, number: int, ecn: int = 0) -> bytes:
    """An IPv4 frame of a length, without check sequence; its contents depend on a number."""
    header = struct.pack(
        ">BBHHHBBH4s4s", 0x45, ecn, length - 14, number & 0xFFFF, 0, 64, 17, 0,
        bytes((10, 0, 0, 1)), bytes((10, 0, 1, number & 0xFF)),
    )  # fmt: skip
    header = header[:10] + struct.pack(">H", checksum(header)) + header[12:]
    rest = bytes((number * 7 + n) & 0xFF for n in range(length - 34))
    return bytes(range(12)) + b"\x08\x00" + header + rest


def marked(original: bytes) -> bytes:
    """The frame with the code point for congestion experienced, its checksum computed anew."""
    changed = bytearray(original)
    changed[TOS] |= 3
    changed[24:26] = b"\0\0"
    changed[24:26] = struct.pack(">H", checksum(bytes(changed[HEADER])))
    return bytes(changed)
