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
    """Which traffic becomes a script."""

    traffic: BackgroundRequest
    out: Path
    """The script."""
    link: str = "10Gbps"
    """What pktgen takes its ports' speed for."""


def write(request: PktgenRequest) -> None:
    """Writes the script and says what it sends. Raises `InputError`."""
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
