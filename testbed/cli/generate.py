"""`narrows generate`: sends a scenario's background traffic through a DPDK port."""

from __future__ import annotations

import argparse
from typing import Any

from narrows.testbed.cli.options import (
    add_background_options,
    add_port_options,
    background_request,
    port_options,
    request_of,
)


def add_command(commands: Any) -> None:
    """The sub-command and its options."""
    command = commands.add_parser(
        "generate", help="send a scenario's background traffic as UDP packets by a DPDK port"
    )
    add_background_options(command)
    command.add_argument("--port", required=True, metavar="DEVICE", dest="device",
        help="the DPDK device, e.g. net_memif0,role=client")  # fmt: skip
    command.add_argument("--count", type=int, metavar="N", help="stop after N packets")
    add_port_options(command)
    command.set_defaults(command=run)


def run(options: argparse.Namespace) -> int:
    """`narrows generate`. Raises `InputError`; returns 1 if a packet could not be sent."""
    from narrows.testbed.tools.generate import GenerateRequest, generate

    traffic, ports = background_request(options), port_options(options)
    return generate(request_of(GenerateRequest, options, traffic=traffic, ports=ports))
