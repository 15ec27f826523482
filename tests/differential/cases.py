"""Random entries and packets, by seed, for the programs of switch/tests/programs and our own.

None makes a program read an invalid header. P4 leaves that undefined: bmv2 returns the previous
packet's value, ours zero.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

#: bmv2 gives the smaller number precedence.
LOWEST = 10000


@dataclass
class Case:
    """The input of both switches: bmv2's commands, the same in STF, and the packets."""

    ports: tuple[int, ...]
    commands: list[str] = field(default_factory=list)
    stf: list[str] = field(default_factory=list)
    packets: list[bytes] = field(default_factory=list)
    overtaking: bool = False

    def both(self, *lines: str) -> None:
        """Commands that both switches support."""
        self.commands += lines
        self.stf += lines


def number(rng: random.Random, width: int) -> int:
    """A number with this many bits, often with few bits set or near an end of the range."""
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
    """A number of the pool, or one that differs from it in one bit."""
    value = rng.choice(POOLS[width])
    return value ^ (1 << rng.randrange(width)) if rng.random() < 0.3 else value


def match(rng: random.Random, width: int, kind: str) -> str:
    """A match in the syntax of each switch."""
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
    """externs.p4; bmv2's arrays are never exceeded, and its clock is not read."""
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
    """replicate.p4, except for its assertion, which terminates bmv2."""
    case = Case((1, 3, 4, 5), overtaking=True)
    case.both(
        "mirroring_add 7 3", "mc_mgrp_create 9", "mc_node_create 400 4 5", "mc_node_create 401 4",
        "mc_node_associate 9 0", "mc_node_associate 9 1",
    )  # fmt: skip
    for _ in range(count):
        command = rng.choice([0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 200])
        case.packets.append(joined(rng, (1, command), (1, 0), (2, 0), (2, 0), (4, number(rng, 32))))
    return case


def unions(rng: random.Random, count: int) -> Case:
    """unions.p4, except for pushes and pops of stacks of unions.

    In bmv2 the new elements are the removed ones, still valid (P4-16 section 8.18 has them
    invalid).
    """
    case = Case((1,))
    for _ in range(count):
        command = rng.choice([3, 4, 5, 6, 7, 8, 9, 11, 12, 99])
        kinds = rng.choice([0x64, 0x50, 0xF0, 0x7F, 0x90, rng.randrange(256)])
        payload = rng.randbytes(rng.choice([0, 1, 2, 3, 4, 6, 9]))
        case.packets.append(bytes([command, kinds, 0]) + payload)
    return case


def branches(rng: random.Random, count: int) -> Case:
    """branches.p4, except for the assumption, which terminates bmv2, and the value sets, to which
    simple_switch_CLI adds an extra byte.
    """
    case = Case((1,))
    for _ in range(count):
        a, b = number(rng, 8), number(rng, 16)
        if rng.random() < 0.4:
            b = rng.randrange(12)
        command = rng.choice([0, 1, 2, 3, 5, 6, 7, 9, 255, rng.randrange(256)])
        if command == 6:
            b = b or 1
        elif command == 4:
            command = 5
        case.packets.append(
            joined(rng, (1, command), (1, a), (2, b), (1, rng.choice([0, 1, 16])), (1, 0))
        )
    return case


def profiles(rng: random.Random, count: int) -> Case:
    """profiles.p4."""
    case = Case((0, 1, 2, 3, 4, 5))
    for profile in ("plain", "chosen"):
        for _ in range(8):
            action = rng.choice(["out_by {port}", "tag_and_out {port} {tag}", "discard"])
            action = action.format(port=rng.randrange(1, 6), tag=rng.getrandbits(16))
            case.both(f"act_prof_create_member {profile} {action}")
    for group in range(4):
        case.both("act_prof_create_group chosen")
        for member in rng.sample(range(8), rng.randrange(1, 6)):
            case.both(f"act_prof_add_member_to_group chosen {member} {group}")
    for a in range(12):
        case.both(f"table_indirect_add by_member {a} => {rng.randrange(8)}")
        kind, most = rng.choice([("", 8), ("_with_group", 4)])
        case.both(f"table_indirect_add{kind} by_group {a} => {rng.randrange(most)}")
    for b in range(4):
        case.both(f"table_indirect_add again {b} => {rng.randrange(8)}")
    for a in range(3):
        case.commands.append(f"table_add idle out_by {a} => {a + 1}")
        case.stf.append(f"add idle hdr.h.a:{a} out_by(port:{a + 1})")
    for _ in range(count):
        parts = (1, rng.choice([0, 1, 1, 2])), (1, rng.randrange(16)), (2, rng.randrange(6))
        case.packets.append(joined(rng, *parts, (4, number(rng, 32))))
    return case


def ipv4(rng: random.Random) -> bytes:
    """An Ethernet frame with an IPv4 packet, which is occasionally malformed."""
    options = rng.randbytes(4 * rng.choice([0, 0, 0, 1, 10]))
    protocol = rng.choice([6, 6, 17, 1])
    transport = rng.randbytes(rng.choice([0, 3, 8, 19, 20, 40, 60]))
    fragment = rng.choice([0, 0, 0, 0x4000, 0x2000, 0x0010])
    header = bytearray([0x45 + len(options) // 4, rng.randrange(256)])
    header += (20 + len(options) + len(transport)).to_bytes(2, "big") + rng.randbytes(2)
    header += fragment.to_bytes(2, "big") + bytes([rng.choice([0, 1, 2, 64, 255]), protocol, 0, 0])
    source = 0x0A000100 | rng.randrange(4)
    header += source.to_bytes(4, "big") + bytes([10, 0, rng.choice([1, 2, 2, 3]), rng.randrange(4)])
    header += options
    total = sum(int.from_bytes(header[i : i + 2], "big") for i in range(0, len(header), 2))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    header[10:12] = (total ^ 0xFFFF ^ (rng.random() < 0.05)).to_bytes(2, "big")
    if rng.random() < 0.03:
        header[0] = rng.randrange(256)
    kind = 0x0800 if rng.random() < 0.95 else rng.choice([0x0806, 0x86DD, 0x88CC])
    frame = rng.randbytes(12) + kind.to_bytes(2, "big") + header + transport
    return frame[: rng.randrange(len(frame))] if rng.random() < 0.05 else frame


def bottleneck(rng: random.Random, count: int) -> Case:
    """p4/v1model.p4 without telemetry, because reports contain times. All towards port 1 leave
    twice, none towards port 3 leaves."""
    case = Case((1, 2))
    route = "forward.ipv4_lpm"
    prefixes = [(0x0A000200, 24, 2), (0x0A000203, 32, 1), (0x0A000100, 24, 1), (0x0A000101, 32, 3)]
    for prefix, length, port in prefixes:
        macs = [rng.getrandbits(48) for _ in range(2)]
        values = " ".join(hex(value) for value in (port, *macs))
        case.commands.append(
            f"table_add NarrowsIngress.{route} route {prefix:#x}/{length} => {values}"
        )
        named = zip(("port", "src_mac", "dst_mac"), (port, *macs), strict=True)
        params = ", ".join(f"{name}:{value:#x}" for name, value in named)
        case.stf.append(f"add {route} hdr.ipv4.dst_addr:{prefix:#x}/{length} route({params})")
    case.commands.append("table_add NarrowsIngress.random_loss.loss lose_below 3 => 0xffffffff")
    case.stf.append("add random_loss.loss meta.egress_port:3 lose_below(loss:0xffffffff)")
    twice = "random_duplicate.duplicate"
    case.commands.append(f"table_add NarrowsIngress.{twice} duplicate_below 1 => 0xffffffff")
    case.stf.append(f"add {twice} meta.egress_port:1 duplicate_below(duplicate:0xffffffff)")
    case.both("mc_mgrp_create 2", "mc_node_create 0 1", "mc_node_create 1 1")
    case.both("mc_node_associate 2 0", "mc_node_associate 2 1")
    case.packets = [ipv4(rng) for _ in range(count)]
    return case


CASES: dict[str, Callable[[random.Random, int], Case]] = {
    "tables": tables,
    "externs": externs,
    "expressions": expressions,
    "stacks": stacks,
    "replicate": replicate,
    "unions": unions,
    "branches": branches,
    "profiles": profiles,
    "bottleneck": bottleneck,
}
