"""`narrows man`: manual pages of the command and its verbs, generated from the parsers."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Any

from narrows.testbed.cli.exit_codes import DONE
from narrows.testbed.files import make_directory

EXIT_CODES = (
    ("0", "Done."),
    ("1", "A run failed or is invalid."),
    ("2", "The input is wrong."),
    ("130", "Stopped by Ctrl-C or SIGTERM; finished runs are intact."),
)


def add_command(commands: Any) -> None:
    """The sub-command and its options."""
    command = commands.add_parser("man", help="write manual pages of the command and its verbs")
    command.add_argument("--out", type=Path, default=Path("man/man1"), metavar="DIR",
        help="the directory to write (default: man/man1)")  # fmt: skip
    command.set_defaults(command=run)


def run(options: argparse.Namespace) -> int:
    """`narrows man`. Raises `InputError`."""
    from narrows.testbed.cli.main import parser

    make_directory(options.out)
    for name, text in pages(parser()).items():
        path = options.out / f"{name}.1"
        path.write_text(text, encoding="utf-8")
        print(path)
    return DONE


def pages(top: argparse.ArgumentParser) -> dict[str, str]:
    """The text of each page in man(7)'s macros, by the page's name."""
    from narrows.testbed.cli.completion import verbs

    every = list(verbs(top))
    listed = [entry(name, about) for name, about, _ in every]
    about = (top.description or "").rstrip(".")
    found = {"narrows": page("narrows", about, top, [".SH COMMANDS", *listed])}
    for name, about, inner in every:
        found[f"narrows-{name}"] = page(f"narrows-{name}", about, inner, [])
    return found


def page(name: str, about: str, parser: argparse.ArgumentParser, more: list[str]) -> str:
    """One page."""
    usage = " ".join(parser.format_usage().removeprefix("usage: ").split())
    options = [
        entry(flags(action), (action.help or "").replace("%%", "%"))
        for action in parser._actions
        if not isinstance(action, argparse._SubParsersAction)
    ]
    lines = [
        f'.TH {name.upper()} 1 "" "Narrows"',
        ".SH NAME",
        f"{escaped(name)} \\- {escaped(about)}",
        ".SH SYNOPSIS",
        escaped(usage),
        *([".SH DESCRIPTION", escaped(parser.description)] if parser.description else []),
        ".SH OPTIONS",
        *options,
        *more,
        ".SH EXIT STATUS",
        *(entry(code, meaning) for code, meaning in EXIT_CODES),
    ]
    return "\n".join(lines) + "\n"


def flags(action: argparse.Action) -> str:
    """An option with its value, or an argument."""
    value = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    if not action.option_strings:
        return value
    return ", ".join(action.option_strings) + ("" if action.nargs == 0 else f" {value}")


def entry(term: str, text: str) -> str:
    """A paragraph with a term."""
    return f".TP\n.B {escaped(term)}\n{escaped(text)}"


def escaped(text: str) -> str:
    """Escapes text so that troff prints it unchanged."""
    plain = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", plain, flags=re.M)
