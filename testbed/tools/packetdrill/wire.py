"""Converts a script's segments to frames and back."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass

import dpkt

from narrows.testbed.tools.packetdrill.script import LineError, Segment

MASK = 0xFFFF_FFFF
MSS, WINDOW_SCALE, SACK_PERMITTED, SACK, TIMESTAMPS = 2, 3, 4, 5, 8


@dataclass
class Numbers:
    """The initial sequence number of each side."""

    ours: int | None = None
    """Unknown before our SYN."""
    theirs: int = 4_294_960_000
    """Chosen so that sequence numbers wrap after some segments."""


@dataclass(frozen=True)
class Ends:
    """Addresses of the segment's sender and receiver."""

    macs: tuple[bytes, bytes]
    ips: tuple[bytes, bytes]
    ports: tuple[int, int]


def emit(segment: Segment, ends: Ends, numbers: Numbers) -> bytes:
    """The frame of a peer's segment. Raises `LineError` for invalid options."""
    tcp = dpkt.tcp.TCP(
        sport=ends.ports[0],
        dport=ends.ports[1],
        seq=(numbers.theirs + segment.start) & MASK,
        ack=0 if segment.ack is None else ((numbers.ours or 0) + segment.ack) & MASK,
        flags=segment.flags,
        win=segment.window or 0,
        opts=emit_options(segment.options or (), numbers.ours or 0),
        data=bytes(segment.length),
    )
    tcp.off = (20 + len(tcp.opts)) // 4
    ip = dpkt.ip.IP(src=ends.ips[0], dst=ends.ips[1], p=6, ttl=64, tos=segment.ecn or 0, data=tcp)
    ip.len = len(ip)
    return bytes(dpkt.ethernet.Ethernet(src=ends.macs[0], dst=ends.macs[1], data=ip))


def emit_options(options: tuple[str, ...], sack_from: int) -> bytes:
    """The options' bytes, padded. SACK blocks are relative to `sack_from`. Raises `LineError` for
    another option.
    """
    out = bytearray()
    blocks = [pairs for option in options if (pairs := sack_blocks(option))]
    for option in options:
        if found := re.fullmatch(r"mss (\d+)", option):
            out += struct.pack("!BBH", MSS, 4, int(found[1]))
        elif found := re.fullmatch(r"wscale (\d+)", option):
            out += struct.pack("!BBB", WINDOW_SCALE, 3, int(found[1]))
        elif option == "sackOK":
            out += struct.pack("!BB", SACK_PERMITTED, 2)
        elif found := re.fullmatch(r"TS val (\d+) ecr (\d+)", option):
            out += struct.pack("!BBII", TIMESTAMPS, 10, int(found[1]), int(found[2]))
        elif not sack_blocks(option):
            raise LineError(
                f'option "{option}"; expected nop, eol, mss N, wscale N, sackOK, TS val N ecr N or '
                "sack N:N [N:N ...]"
            )
    for pairs in blocks:
        out += struct.pack("!BB", SACK, 2 + 8 * len(pairs))
        for left, right in pairs:
            out += struct.pack("!II", (sack_from + left) & MASK, (sack_from + right) & MASK)
    return bytes(out) + b"\1" * (-len(out) % 4)


def sack_blocks(option: str) -> list[tuple[int, int]]:
    """The blocks of `sack 1:2 3:4`, empty for any other option."""
    if not re.fullmatch(r"sack( \d+:\d+)+", option):
        return []
    return [(int(left), int(right)) for left, right in re.findall(r"(\d+):(\d+)", option)]


def parse(frame: bytes, numbers: Numbers) -> Segment:
    """Our frame in the script's syntax; the SYN provides our initial sequence number."""
    ip = dpkt.ethernet.Ethernet(frame).data
    tcp = ip.data
    if numbers.ours is None and tcp.flags & dpkt.tcp.TH_SYN:
        numbers.ours = tcp.seq
    has_ack = bool(tcp.flags & dpkt.tcp.TH_ACK)
    return Segment(
        is_ours=True,
        flags=tcp.flags,
        start=(tcp.seq - (numbers.ours or 0)) & MASK,
        length=len(tcp.data),
        ack=(tcp.ack - numbers.theirs) & MASK if has_ack else None,
        window=tcp.win,
        options=tuple(parse_options(tcp.opts, numbers.theirs)),
        ecn=ip.tos & 3,
    )


def parse_options(data: bytes, sack_from: int) -> list[str]:
    """The options in the script's syntax, without padding."""
    shown = []
    for kind, body in dpkt.tcp.parse_opts(data):
        if kind == MSS:
            shown.append(f"mss {int.from_bytes(body)}")
        elif kind == WINDOW_SCALE:
            shown.append(f"wscale {body[0]}")
        elif kind == SACK_PERMITTED:
            shown.append("sackOK")
        elif kind == TIMESTAMPS:
            shown.append("TS val {} ecr {}".format(*struct.unpack("!II", body)))
        elif kind == SACK:
            ends = [(end - sack_from) & MASK for end in struct.unpack(f"!{len(body) // 4}I", body)]
            pairs = zip(ends[::2], ends[1::2], strict=True)
            shown.append("sack " + " ".join(f"{left}:{right}" for left, right in pairs))
    return shown
