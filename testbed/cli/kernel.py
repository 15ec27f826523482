"""`narrows kernel`: runs your program while our variants are in the Linux kernel."""

from __future__ import annotations

import argparse
from typing import Any


def add_command(commands: Any) -> None:
    """The sub-command and its options."""
    command = commands.add_parser(
        "kernel", help="run a program with our variants in the Linux kernel (eBPF)"
    )
    command.add_argument(
        "variants",
        nargs="?",
        default="",
        metavar="VARIANT,…",
        help="variants to load; none: list what the kernel has and could have",
    )
    command.add_argument(
        "program", nargs=argparse.REMAINDER, help="the program to run, with its arguments"
    )
    command.set_defaults(command=run)


def run(options: argparse.Namespace) -> int:
    """`narrows kernel`. Raises `InputError`."""
    from narrows.testbed.tools import kernel

    return kernel.main(options.variants.split(","), options.program)
