"""`narrows pktgen`: a scenario's background traffic as a script for DPDK pktgen."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from narrows.schema import units
from narrows.testbed.problems import InputError, Problem
from narrows.testbed.scenario import background
from narrows.testbed.scenario.background import BackgroundRequest
from narrows.traffic.pktgen.profile import ProfileError
from narrows.traffic.pktgen.script import script


@dataclass(frozen=True)
class PktgenRequest:
    """The traffic, and the script to write."""

    traffic: BackgroundRequest
    out: Path
    """The script's file."""
    link: str = "10Gbps"
    """The speed that pktgen assumes for its ports."""


def write(request: PktgenRequest) -> None:
    """Writes the script and prints its streams. Raises `InputError`."""
    traffic = background.read(request.traffic)
    try:
        link_bps = units.parse_rate(request.link)
    except ValueError as error:
        raise InputError("--link", [Problem(request.link, str(error))]) from None
    try:
        found = traffic.streams()
        text = script(traffic.title, found, link_bps)
    except ProfileError as error:
        raise InputError(traffic.source, [Problem("flow", str(error))]) from None
    request.out.write_text(text, encoding="utf-8")
    for port, stream in enumerate(found):
        print(f"port {port}: {stream.name}: {len(stream.at_ps)} packets of {stream.frame_bytes} B")
    print(request.out)
