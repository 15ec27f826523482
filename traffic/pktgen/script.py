"""Writes phases as Lua for DPDK pktgen 23, with one pktgen port per stream.

pktgen's rate is a share of the link's speed. It rounds to whole packets per second and whole cycles
between packets (`pktgen_packet_rate`), so rates are inexact but counts are exact. Packet sequences,
which would put several streams on one port, are not used: from Lua, pktgen 23.06.1 built only a
sequence's first packet.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from narrows.schema.units import PS_PER_MS
from narrows.traffic.pktgen.profile import (
    PREAMBLE_AND_GAP_BYTES,
    Phase,
    ProfileError,
    Stream,
    phases,
)

FIRST_PERCENT = 0.01
"""Delay before the first phase; pktgen treats 0 as a default."""

HEAD = """\
-- {title}
-- Made by narrows pktgen. Run it with as many ports as there are streams, in this order:
{streams}
local function stream(port, of)
  pktgen.stop(port)
  pktgen.pattern(port, "zero")
  pktgen.set_mac(port, "src", of.source_mac)
  pktgen.set_mac(port, "dst", of.destination_mac)
  pktgen.set_ipaddr(port, "src", of.source_ip .. "/32")
  pktgen.set_ipaddr(port, "dst", of.destination_ip)
  pktgen.set_type(port, "ipv4")
  pktgen.set_proto(port, "udp")
  pktgen.set(port, "sport", of.source_port)
  pktgen.set(port, "dport", of.destination_port)
  pktgen.set(port, "size", of.frame_bytes)
  pktgen.set(port, "burst", 1)
  pktgen.set(port, "rate", {first})
end

local function phase(wait_ms, port, packets, percent)
  if wait_ms > 0 then pktgen.delay(wait_ms) end
  pktgen.stop(port)
  pktgen.set(port, "rate", percent)
  pktgen.set(port, "count", packets)
  pktgen.start(port)
end

"""


def script(title: str, streams: Sequence[Stream], link_bps: int) -> str:
    """The Lua for streams on links of this speed. Raises `ProfileError`."""
    names = "\n".join(
        f"--   {port}  {one.name}: {len(one.at_ps)} packets of {one.frame_bytes} B"
        for port, one in enumerate(streams)
    )
    lines = [HEAD.format(title=title, streams=names, first=FIRST_PERCENT)]
    lines += [described(port, one) for port, one in enumerate(streams)]
    lines.append("pktgen.delay(1000)\n")
    lines += timeline(streams, link_bps)
    return "".join(lines)


def described(port: int, stream: Stream) -> str:
    """A port's packets."""
    return (
        f'stream("{port}", {{\n'
        f'  source_mac = "{stream.source_mac}", destination_mac = "{stream.destination_mac}",\n'
        f'  source_ip = "{stream.source_ip}", destination_ip = "{stream.destination_ip}",\n'
        f"  source_port = {stream.source_port}, destination_port = {stream.destination_port},\n"
        f"  frame_bytes = {stream.frame_bytes},\n}})\n"
    )


def timeline(streams: Sequence[Stream], link_bps: int) -> Iterator[str]:
    """All streams' phases in the order of time."""
    planned = sorted(
        ((phase.start_ps, port, phase, stream) for port, stream in enumerate(streams)
         for phase in phases(stream)),
        key=lambda one: one[:2],
    )  # fmt: skip
    now_ms = end_ms = 0
    for start_ps, port, phase, stream in planned:
        at_ms = start_ps // PS_PER_MS
        percent = share(phase, stream, link_bps)
        yield f'phase({at_ms - now_ms}, "{port}", {phase.packets}, {percent:.9f})\n'
        now_ms, end_ms = at_ms, max(end_ms, (start_ps + phase.length_ps) // PS_PER_MS)
    yield f"pktgen.delay({end_ms - now_ms})\n"


def share(phase: Phase, stream: Stream, link_bps: int) -> float:
    """A phase's rate in percent of the link, raised by half a packet, since pktgen rounds down.
    Raises `ProfileError` if it exceeds the link.
    """
    wire_bytes = stream.frame_bytes + PREAMBLE_AND_GAP_BYTES
    most = link_bps // (8 * wire_bytes)
    percent = 100 * (phase.packets_per_second + 0.5) / most
    if percent > 100:
        what = f"{phase.packets_per_second:.0f} packets per second; the link carries {most}"
        raise ProfileError(f"{stream.name}: {what}")
    return percent
