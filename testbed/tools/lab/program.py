"""The P4 programs of a lab: compiled by p4c where they are missing or older than their source.

A runtime file names `build/basic.json`; its source is `basic.p4`, beside the folder `build`, as the
tutorials' Makefile has it. The project's own program is compiled by `make p4` only.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

from narrows.testbed.paths import ROOT
from narrows.testbed.problems import InputError, Problem

COMPILER: Final = "p4c-bm2-ss"
VARIABLE: Final = "P4C"
"""The environment variable that names another compiler."""
OWN: Final = ROOT / "p4/build"
"""The project's own programs, as they are committed: a fresh clone's times say nothing."""


def compile_if_stale(program: Path, p4info: Path | None) -> None:
    """Compiles a program whose JSON is missing or older than its source. Raises `InputError` if a
    file is missing and cannot be made.
    """
    source = program.parent.parent / f"{program.stem}.p4"
    wanted = [program, p4info] if p4info is not None else [program]
    missing = [path for path in wanted if not path.is_file()]
    is_stale = source.is_file() and any(
        path.stat().st_mtime_ns < source.stat().st_mtime_ns for path in wanted if path.is_file()
    )
    is_kept = program.resolve().parent == OWN
    if not missing and (is_kept or not is_stale):
        return
    compiler = shutil.which(os.environ.get(VARIABLE, COMPILER))
    if compiler is None or not source.is_file():
        if not missing:
            return
        what = f"no such file; expected it, or {source} and {COMPILER} on the path"
        raise InputError(str(missing[0]), [Problem("", what)])
    command = [compiler, "--p4v", "16", "-o", str(program), str(source)]
    if p4info is not None:
        command += ["--p4runtime-files", str(p4info)]
    program.parent.mkdir(parents=True, exist_ok=True)
    ran = subprocess.run(
        command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
    )
    if ran.returncode != 0:
        raise InputError(str(source), [Problem("", f"{compiler}: {ran.stderr.strip()}")])
