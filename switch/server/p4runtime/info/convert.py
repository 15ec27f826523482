"""Converts P4Runtime's byte strings (P4Runtime specification, 8.4) and the target's text."""

from __future__ import annotations

from narrows.switch.server.target import TargetError


def decode(data: bytes, width: int, label: str) -> int:
    """Decodes a byte string, padded or not. Raises if it exceeds `width` bits."""
    if not data:
        raise TargetError("invalid-argument", f"{label}: the value is empty")
    value = int.from_bytes(data, "big")
    if value.bit_length() > width:
        raise TargetError("out-of-range", f"{label}: {value:#x} has more than {width} bits")
    return value


def encode(value: int) -> bytes:
    """The shortest byte string of a number; one byte for zero."""
    return value.to_bytes(max(1, (value.bit_length() + 7) // 8), "big")


def number(text: str) -> int:
    """The target's text as a number."""
    return int(text, 0)


def ones(width: int) -> int:
    """The largest value of `width` bits."""
    return (1 << width) - 1


def signed(value: int, what: str) -> int:
    """Returns a protobuf int64. Raises if it is negative."""
    if value < 0:
        raise TargetError("invalid-argument", f"{what}: {value} is negative")
    return value
