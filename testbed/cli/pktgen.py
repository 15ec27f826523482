"""`narrows pktgen`: writes a scenario's background traffic as a script for DPDK pktgen."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from narrows.testbed.cli.exit_codes import DONE
from narrows.testbed.cli.options import add_background_options, background_request, request_of


def add_command(commands: Any) -> None:
    """The sub-command and its options."""
    command = commands.add_parser(
        "pktgen", help="write a scenario's background traffic as a script for DPDK pktgen"
    )
    add_background_options(command)
    command.add_argument(
        "--out", type=Path, required=True, metavar="FILE.lua", help="the script to write"
    )
    command.add_argument(
        "--link", default="10Gbps", metavar="RATE",
        help="the port speed that pktgen assumes; its rates are shares of it (default: 10Gbps)",
    )  # fmt: skip
    command.set_defaults(command=run)


def run(options: argparse.Namespace) -> int:
    """`narrows pktgen`. Raises `InputError`."""
    from narrows.testbed.tools import pktgen

    traffic = background_request(options)
    pktgen.write(request_of(pktgen.PktgenRequest, options, traffic=traffic))
    return DONE
