"""`narrows link-trace`: makes link traces, and converts them between CSV and mahimahi's format."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from narrows.testbed.cli.exit_codes import DONE
from narrows.testbed.cli.options import request_of


def add_command(commands: Any) -> None:
    """The sub-command and its options."""
    from narrows.testbed.tools.link_trace import MODELS

    command = commands.add_parser(
        "link-trace", help="make a link trace, or convert one between CSV and mahimahi's format"
    )
    models = "; ".join(f"{name}: {model.about}" for name, model in MODELS.items())
    command.add_argument(
        "source", metavar="SOURCE", help=f"a trace to convert, or what to make ({models})"
    )
    command.add_argument(
        "--out", type=Path, required=True, metavar="FILE",
        help="the file to write: CSV if its name ends in .csv, else mahimahi's format",
    )  # fmt: skip
    command.add_argument(
        "--seconds", type=int, default=60, metavar="N", help="length of a made trace (default: 60)"
    )
    command.add_argument(
        "--seed", type=int, default=1, metavar="N", help="seed of a made trace (default: 1)"
    )
    command.set_defaults(command=run)


def run(options: argparse.Namespace) -> int:
    """`narrows link-trace`. Raises `InputError`."""
    from narrows.testbed.tools.link_trace import LinkTraceRequest, link_trace

    print(link_trace(request_of(LinkTraceRequest, options)))
    return DONE
