"""Entries and packets at random, by seed, for the programs of switch/tests/programs.

None makes a program read a header that is not valid: P4 leaves that open, bmv2 gives what the
packet before had there, ours zero.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

#: bmv2 serves the smaller priority first.
LOWEST = 10000


@dataclass
class Case:
    """What is done to both switches: bmv2's commands, the same in STF, the packets."""

    ports: tuple[int, ...]
    commands: list[str] = field(default_factory=list)
    stf: list[str] = field(default_factory=list)
    packets: list[bytes] = field(default_factory=list)
    overtaking: bool = False

    def both(self, *lines: str) -> None:
        """Commands that both know."""
        self.commands += lines
        self.stf += lines


def number(rng: random.Random, width: int) -> int:
    """A number of so many bits, often one with few bits set, or near an end."""
    kind = rng.randrange(4)
    if kind == 0:
        return rng.choice([0, 1, (1 << width) - 1, 1 << (width - 1), (1 << (width - 1)) - 1])
    if kind == 1:
        return rng.getrandbits(width) & rng.getrandbits(width) & rng.getrandbits(width)
    return rng.getrandbits(width)


def joined(rng: random.Random, *parts: tuple[int, int]) -> bytes:
    """Fields of (bytes, value) as a packet, with a payload."""
    data = b"".join((value % (1 << 8 * size)).to_bytes(size, "big") for size, value in parts)
    return data + rng.randbytes(rng.choice([0, 0, 1, 2, 7, 50]))


#: Tables of tables.p4: name, and (field, width, kind) of each field of the key.
TABLES = {
    "by_exact": [("hdr.h.a", 8, "exact"), ("hdr.h.b", 16, "exact")],
    "by_lpm": [("hdr.h.c", 32, "lpm")],
    "by_exact_and_lpm": [("hdr.h.a", 8, "exact"), ("hdr.h.c", 32, "lpm")],
    "by_ternary": [("hdr.h.b", 16, "ternary"), ("hdr.h.c", 32, "ternary"), ("hdr.h.a", 8, "exact")],
    "by_range": [("hdr.h.a", 8, "range"), ("hdr.h.b", 16, "range"), ("hdr.h.c", 32, "ternary")],
    "by_wide": [("hdr.h.w", 128, "lpm")],
    "by_wide_ternary": [("hdr.h.w", 128, "ternary"), ("hdr.h.a", 8, "ternary")],
}
#: Few values, so that packets hit entries.
POOLS = {
    8: [0, 1, 2, 3, 127, 128, 255],
    16: [0, 1, 0x1234, 0x1200, 0x7FFF, 0xFFFF],
    32: [0x0A000001, 0x0A000000, 0x0A800000, 0x0AFFFFFF, 0xC0000001, 0, 0xFFFFFFFF],
    128: [0x20010DB8 << 96, (0x20010DB8 << 96) + 1, (1 << 128) - 1, 1 << 64, 0],
}


def near(rng: random.Random, width: int) -> int:
    """A number of the pool, or one a bit away."""
    value = rng.choice(POOLS[width])
    return value ^ (1 << rng.randrange(width)) if rng.random() < 0.3 else value


def match(rng: random.Random, width: int, kind: str) -> str:
    """A match, written as both take it."""
    ones = (1 << width) - 1
    value = near(rng, width)
    if kind == "exact":
        return f"{value:#x}"
    if kind == "lpm":
        length = rng.choice([0, 1, 8, 9, 24, 31, 32, width, rng.randrange(width + 1)])
        return f"{value & (ones << (width - length)):#x}/{length}"
    if kind == "ternary":
        mask = rng.choice([0, ones, ones << (width // 2) & ones, number(rng, width)])
        return f"{value & mask:#x}&&&{mask:#x}"
    low, high = sorted((value, near(rng, width)))
    return f"{low:#x}->{high:#x}"


def tables(rng: random.Random, count: int) -> Case:
    """tables.p4."""
    case = Case((1, 2))
    seen = set()
    for priority in range(1, 300):
        table, key = rng.choice(list(TABLES.items()))
        matches = [match(rng, width, kind) for _, width, kind in key]
        if (table, *matches) in seen:
            continue
        seen.add((table, *matches))
        ranked = any(kind in ("ternary", "range") for _, _, kind in key)
        fields = " ".join(f"{name}:{m}" for (name, _, _), m in zip(key, matches, strict=True))
        action = rng.choice(["say"] * 5 + ["deny"])
        value = [f"{priority:#x}"] if action == "say" else []
        case.stf.append(
            f"add {table} {priority if ranked else ''} {fields} "
            f"{action}({'value:' + value[0] if value else ''})"
        )
        case.commands.append(
            f"table_add {table} {action} {' '.join(matches)} => {' '.join(value)} "
            f"{LOWEST - priority if ranked else ''}"
        )
    for _ in range(count):
        a, b, c = near(rng, 8), near(rng, 16), near(rng, 32)
        kind = rng.randrange(8)
        case.packets.append(
            joined(rng, (1, kind), (1, a), (2, b), (4, c), (16, near(rng, 128)), (2, 0))
        )
    return case


def externs(rng: random.Random, count: int) -> Case:
    """externs.p4; bmv2's arrays are not left, and its clock is not asked."""
    case = Case((1,))
    case.both("register_write narrow 3 16", "register_write broad 1 77")
    commands = [1, 1, 2, 3, *range(0x10, 0x16), *range(0x20, 0x24), *range(0x30, 0x37), 0x99]
    for _ in range(count):
        command = rng.choice(commands)
        index = rng.randrange(4) if command in (2, 3) else rng.randrange(16)
        x, y = number(rng, 32), number(rng, 32)
        total = rng.choice([number(rng, 16), 0xFFFF - (x & 0xFFFF)])
        parts = (1, command), (1, index), (2, total), (4, x), (4, y), (10, number(rng, 80)), (4, 0)
        case.packets.append(joined(rng, *parts))
    return case


def expressions(rng: random.Random, count: int) -> Case:
    """expressions.p4."""
    case = Case((2,))
    for _ in range(count):
        shift = rng.choice([0, 1, 31, 32, 63, 64, 65, 127, 128, rng.randrange(256)])
        operands = [(size, number(rng, 8 * size)) for size in (4, 4, 8, 8, 16, 16, 2, 2)]
        first = (4, number(rng, 24) << 8 | shift)
        case.packets.append(joined(rng, first, *operands))
    return case


def stacks(rng: random.Random, count: int) -> Case:
    """stacks.p4."""
    case = Case((1,))
    for _ in range(count):
        kind = rng.choice([1, 1, 1, 2, 3, 4, 4, 5, 6, 7, rng.randrange(256)])
        data = bytearray(rng.randbytes(rng.choice([0, 1, 2, 3, 4, 6, 8, 12, 20])))
        if kind == 1:
            # Labels, the second of which is read; most are not the last.
            data[:0] = bytes([0, 2 * rng.randrange(12)]) + rng.randbytes(2)
            for i in range(3, len(data), 2):
                data[i] = (data[i] & 0xFE) | (rng.random() < 0.4)
        elif kind == 4 and data:
            data[0] = rng.randrange(11)
        case.packets.append(bytes([kind, *data]))
    return case


def replicate(rng: random.Random, count: int) -> Case:
    """replicate.p4 but for its assertion, which ends bmv2."""
    case = Case((1, 3, 4, 5), overtaking=True)
    case.both(
        "mirroring_add 7 3", "mc_mgrp_create 9", "mc_node_create 400 4 5", "mc_node_create 401 4",
        "mc_node_associate 9 0", "mc_node_associate 9 1",
    )  # fmt: skip
    for _ in range(count):
        command = rng.choice([0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 200])
        case.packets.append(joined(rng, (1, command), (1, 0), (2, 0), (2, 0), (4, number(rng, 32))))
    return case


CASES: dict[str, Callable[[random.Random, int], Case]] = {
    "tables": tables,
    "externs": externs,
    "expressions": expressions,
    "stacks": stacks,
    "replicate": replicate,
}
