#!/usr/bin/env python3
"""Compiles the pipeline: `p4/v1model.p4` to what `p4/build/` holds.

    p4/compile.py            recompile (needs p4c-bm2-ss on PATH, or its path in $P4C)
    p4/compile.py --check    compare p4/build/sources.sha256 with the files, and where p4c is,
                             p4/build/ with what it makes of them now

Outputs, all committed, so that runs and tests do not need p4c:

- `v1model.json`: bmv2 JSON, with this machine's paths taken out of its source positions;
- `v1model.p4info.txtpb`: the P4Runtime description of the same program;
- `sources.sha256`: `sha256sum` lines over the sources and the outputs, paths from the
  repository's root, so `sha256sum -c p4/build/sources.sha256` reads it too.

Exit codes: 0 done or in step, 1 drifted or p4c failed, 2 no p4c.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = Path("p4/build")
PROGRAM = Path("p4/v1model.p4")
OUTPUTS = (BUILD / "v1model.json", BUILD / "v1model.p4info.txtpb")
SUMS = BUILD / "sources.sha256"

NO_COMPILER = """\
p4c-bm2-ss was not found on PATH, nor in $P4C.
Nothing but `make p4` needs it; p4/build/ holds what it made. To get it:
  Ubuntu or Debian: the P4 project's own packages, `p4lang-p4c`
                    (https://github.com/p4lang/p4c#installing-packaged-versions-of-p4c)
  elsewhere:        build it with the bmv2 back end
                    (https://github.com/p4lang/p4c#installing-p4c-from-source)
then run `make p4`, or `make p4 P4C=/path/to/p4c-bm2-ss`."""


def compiler() -> str | None:
    """The compiler's path: $P4C if it is set, else p4c-bm2-ss from PATH."""
    return shutil.which(os.environ.get("P4C") or "p4c-bm2-ss")


def sources() -> list[Path]:
    """Every P4 source, from the repository's root, in a fixed order."""
    return sorted(path.relative_to(ROOT) for path in ROOT.glob("p4/**/*.p4"))


def sums() -> list[str]:
    """The expected content of `sources.sha256`: `<sha256> <path>` for sources, then outputs."""
    files = [*sources(), *(path for path in OUTPUTS if (ROOT / path).exists())]
    return [f"{hashlib.sha256((ROOT / path).read_bytes()).hexdigest()}  {path}" for path in files]


def neutral(text: str) -> str:
    """The JSON without this machine's paths: ours are relative to the root, p4c's to p4include/."""

    def rename(match: re.Match[str]) -> str:
        path = match[2]
        if Path(path).is_absolute():
            if Path(path).is_relative_to(ROOT):
                path = str(Path(path).relative_to(ROOT))
            elif "p4include/" in path:
                path = "p4include/" + path.rsplit("p4include/", 1)[1]
            else:
                path = Path(path).name
        return f'{match[1]}"{path}"'

    return re.sub(r'("(?:filename|program)"\s*:\s*)"([^"]*)"', rename, text)


def check() -> int:
    """Compares the recorded checksums with the files; prints every file that differs."""
    recorded = (ROOT / SUMS).read_text().splitlines() if (ROOT / SUMS).exists() else []
    drifted = sorted({line[66:] for line in set(recorded) ^ set(sums())})
    for path in drifted:
        print(f"{path}: not what {SUMS} was made from")
    if drifted or not recorded:
        print("p4/build is out of step with p4/: run `make p4` and commit what it writes")
        return 1
    print(f"p4/build is in step with {len(sources())} sources")
    p4c = compiler()
    return check_compiled(p4c) if p4c else 0


def check_compiled(p4c: str) -> int:
    """Compiles again and compares; another version of p4c may produce different JSON."""
    made = compiled(p4c)
    if made is None:
        return 1
    differing = [path for path, text in made.items() if (ROOT / path).read_text() != text]
    for path in differing:
        print(f"{path}: not what {p4c} makes of {PROGRAM}")
    if not differing:
        print(f"and it is what {p4c} makes of them")
    return 1 if differing else 0


def compiled(p4c: str) -> dict[Path, str] | None:
    """The outputs' texts by their paths; None with a message if p4c fails."""
    with tempfile.TemporaryDirectory() as scratch:
        json, p4info = Path(scratch) / "program.json", Path(scratch) / "program.p4info.txtpb"
        command = [p4c, "--std", "p4-16", "-o", str(json)]
        command += ["--p4runtime-files", str(p4info), str(PROGRAM)]
        if (status := subprocess.run(command, cwd=ROOT, check=False).returncode) != 0:
            print(f"{p4c} failed with exit code {status}", file=sys.stderr)
            return None
        return dict(zip(OUTPUTS, (neutral(json.read_text()), p4info.read_text()), strict=True))


def compile_program() -> int:
    """Runs p4c; replaces the outputs only if it succeeds."""
    p4c = compiler()
    if p4c is None:
        print(NO_COMPILER, file=sys.stderr)
        return 2
    made = compiled(p4c)
    if made is None:
        return 1
    (ROOT / BUILD).mkdir(exist_ok=True)
    for path, text in made.items():
        (ROOT / path).write_text(text)
    (ROOT / SUMS).write_text("\n".join(sums()) + "\n")
    print(f"{PROGRAM} -> " + ", ".join(map(str, (*OUTPUTS, SUMS))))
    return 0


def main() -> int:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="only say whether p4/build is in step")
    return check() if parser.parse_args().check else compile_program()


if __name__ == "__main__":
    sys.exit(main())
