"""`narrows pktgen`: a scenario's background traffic as a script for DPDK pktgen."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from narrows.schema import units
from narrows.testbed.problems import InputError, Problem
from narrows.testbed.scenario import background
from narrows.traffic.pktgen.profile import ProfileError
from narrows.traffic.pktgen.script import script


def add_command(commands: Any) -> None:
    """The sub-command and its options."""
    command = commands.add_parser(
        "pktgen", help="a scenario's background traffic as a script for DPDK pktgen"
    )
    background.add_options(command.add_argument)
    command.add_argument("--out", type=Path, required=True, metavar="FILE.lua", help="the script")
    command.add_argument(
        "--link", default="10Gbps", metavar="RATE",
        help="what pktgen takes its ports' speed for, of which its rates are a share (10Gbps)",
    )  # fmt: skip
    command.set_defaults(command=run)


def run(options: argparse.Namespace) -> int:
    """`narrows pktgen`. Raises `InputError`."""
    traffic = background.read(options)
    try:
        link_bps = units.parse_rate(options.link)
    except ValueError as error:
        raise InputError("--link", [Problem(options.link, str(error))]) from None
    try:
        found = traffic.streams()
        text = script(traffic.title, found, link_bps)
    except ProfileError as error:
        raise InputError(traffic.source, [Problem("flow", str(error))]) from None
    options.out.write_text(text, encoding="utf-8")
    for port, stream in enumerate(found):
        print(f"port {port}: {stream.name}: {len(stream.at_ps)} packets of {stream.frame_bytes} B")
    print(options.out)
    return 0
