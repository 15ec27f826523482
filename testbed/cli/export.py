"""`narrows export`: runs in the formats of other tools."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from narrows.schema.units import parse_duration
from narrows.testbed import catalogue
from narrows.testbed.cli.exit_codes import DONE, FAILED
from narrows.testbed.problems import InputError, Problem


def add_command(commands: Any) -> None:
    """The sub-command and its options."""
    command = commands.add_parser("export", help="write runs in the formats of other tools")
    add = command.add_argument
    add(
        "results",
        type=Path,
        nargs="+",
        metavar="DIR",
        help="a directory of runs: results/<scenario>",
    )
    add("--format", required=True, help="the format (narrows list formats)")
    add("--sample", metavar="TIME",
        help="keep the last row of each flow and event in each interval (csv, csv-gz)")  # fmt: skip
    add("--out", type=Path, metavar="DIR", help="the directory to write (default: <DIR>/export)")
    command.set_defaults(command=run)


def run(options: argparse.Namespace) -> int:
    """`narrows export`. Raises `InputError`."""
    from narrows.analysis.export import FORMATS, ExportError, SampleError, export
    from narrows.analysis.load import LoadError

    known = [each.name for each in FORMATS]
    if options.format not in known:
        what = catalogue.unknown("format", options.format, known)
        raise InputError("--format", [Problem("", what, options.format)])
    sample_ps = interval_ps(options.sample)
    try:
        for path in export(options.results, options.format, options.out, sample_ps):
            print(path)
    except SampleError as error:
        raise InputError("--sample", [Problem("", str(error))]) from None
    except (LoadError, ExportError) as error:
        raise InputError("export", [Problem("", str(error))]) from None
    except OSError as error:
        print(f"narrows: export: {error}", file=sys.stderr)
        return FAILED
    return DONE


def interval_ps(text: str | None) -> int | None:
    """The interval of `--sample` in picoseconds. Raises `InputError`."""
    if text is None:
        return None
    try:
        found = parse_duration(text)
    except ValueError as error:
        raise InputError("--sample", [Problem("TIME", str(error), text)]) from None
    if found <= 0:
        raise InputError("--sample", [Problem("TIME", 'expected above zero, as "10ms"', text)])
    return found
