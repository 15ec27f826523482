"""The `narrows` command.

Exit codes: 0 done, 1 a run failed or is invalid, 2 the input is wrong, 130 stopped.
"""

from __future__ import annotations

import argparse
import importlib
import os
import resource
import sys
from collections.abc import Callable, Iterable, Sequence

from narrows.testbed.cli.exit_codes import FAILED, STOPPED, WRONG
from narrows.testbed.garbage import collect_seldom
from narrows.testbed.needs import EngineMissingError
from narrows.testbed.problems import InputError, Problem
from narrows.testbed.terminal import plain

VERBS = (
    "run", "report", "export", "check", "artifact", "verify", "reproduce", "stf", "kernel",
    "packetdrill", "list", "shell", "lab", "switch", "host", "plan", "calibrate", "pktgen",
    "generate", "link-trace", "doctor", "completion", "man",
)  # fmt: skip
"""The sub-commands in the order of the help text; each is a module of this package."""
NO_PLUGINS = ("PYDANTIC_DISABLE_PLUGINS", "__all__")
"""Pydantic looks for plugins in the metadata of every installed package, at each start."""
LEAST_ADDRESS_SPACE_BYTES = 2 * 10**9
"""With less the libraries' threads may not start; then they abort, panic or wait forever. Tried on
two cores: 1.0 GB is too little, 1.3 GB is enough.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit code."""
    collect_seldom()
    os.environ.setdefault(*NO_PLUGINS)
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == ["switch"]:
        # simple_switch_grpc has its gRPC options behind a --.
        given = [argument for argument in given if argument != "--"]
    if given[:2] == ["lab", "exec"]:
        # What follows is a command with options of its own.
        given = [*given[:2], "--", *given[2:]]
    verbs = given[:1] if given[:1] and given[0] in VERBS else VERBS
    try:
        check_address_space()
        options = parser(verbs).parse_args(given)
        command: Callable[[argparse.Namespace], int] = options.command
        return command(options)
    except InputError as error:
        for line in str(error).split("\n"):
            print(f"narrows: {plain(line)}", file=sys.stderr)
        return WRONG
    except MemoryError:
        print("narrows: not enough memory for this; is it limited (ulimit -v)?", file=sys.stderr)
        return FAILED
    except EngineMissingError as error:
        print(f"narrows: {error}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        resume = "; --resume keeps them and does the rest" if given[:1] == ["run"] else ""
        print(f"narrows: stopped; finished runs are intact{resume}", file=sys.stderr)
        return STOPPED
    except BrokenPipeError:
        # The reader of our output has exited. Nothing more can be printed, not even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except OSError as error:
        # The disk is full, or the path is not writable.
        file = f"{error.filename}: " if error.filename else ""
        print(f"narrows: {file}{error.strerror or error}", file=sys.stderr)
        return FAILED


def check_address_space() -> None:
    """Raises `InputError` where `ulimit -v` leaves too little for the libraries."""
    limit_bytes, _ = resource.getrlimit(resource.RLIMIT_AS)
    if 0 <= limit_bytes < LEAST_ADDRESS_SPACE_BYTES:
        least = f"{LEAST_ADDRESS_SPACE_BYTES / 10**9:.0f} GB"
        what = f"allows {limit_bytes / 10**9:.1f} GB of addresses; expected {least} or unlimited"
        raise InputError("ulimit -v", [Problem("", what)])


class Version(argparse.Action):
    """Prints the version of the package, and of the engine if it is built."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        """Prints, and ends."""
        try:
            from narrows.testbed import engine

            version = engine.version()
        except EngineMissingError:
            from importlib import metadata

            version = f"{metadata.version('narrows')} (the engine is not built)"
        print(f"narrows {version}")
        parser.exit()


def parser(verbs: Iterable[str] = VERBS) -> argparse.ArgumentParser:
    """The command line with these sub-commands. A verb's module is imported only here."""
    top = argparse.ArgumentParser(
        prog="narrows", description="A programmable-switch testbed for TCP congestion control."
    )
    top.add_argument("--version", action=Version, nargs=0, help="print the version and end")
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    for verb in verbs:
        module = verb.replace("-", "_")
        importlib.import_module(f"narrows.testbed.cli.{module}").add_command(commands)
    return top
