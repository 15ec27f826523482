#!/usr/bin/env python3
"""Compiles p4/tna.p4 for Tofino 1 and 2, where a p4c with the Tofino back end is.

    p4/tofino.py [OUT]       program and reports to OUT/tofino and OUT/tofino2 (OUT: target)

The compiler is `p4c` from PATH, or $P4C_TOFINO; whether it has the back end, it says itself
(`--target-help`). Nothing that it makes is committed: the program depends on the SDE's version.

Exit codes: 0 done, 1 the compiler refused the program, 2 no compiler with the back end.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = Path("p4/tna.p4")
TARGETS = {"tofino": "tna", "tofino2": "t2na"}
"""The architecture of each target."""

NO_COMPILER = """\
No p4c with the Tofino back end: $P4C_TOFINO, or p4c on PATH whose `--target-help` names tofino.
To get it: Intel's SDE as open source (https://github.com/p4lang/open-p4studio), or p4c built with
-DENABLE_TOFINO=ON (https://github.com/p4lang/p4c). What can be checked without:
docs/explanation/tofino.md."""


def compiler() -> str | None:
    """The compiler's path, if it has the back end."""
    path = shutil.which(os.environ.get("P4C_TOFINO") or "p4c")
    if path is None:
        return None
    said = subprocess.run([path, "--target-help"], capture_output=True, text=True, check=False)
    return path if "tofino" in said.stdout else None


def compiled(p4c: str, target: str, out: Path) -> bool:
    """Compiles for one target; prints where the reports are."""
    command = [p4c, "--target", target, "--arch", TARGETS[target], "-g", "--verbose", "1"]
    command += ["-o", str(out), str(PROGRAM)]
    if (status := subprocess.run(command, cwd=ROOT, check=False).returncode) != 0:
        print(f"{target}: {p4c} failed with exit code {status}", file=sys.stderr)
        return False
    print(f"{target}: {out}")
    for report in sorted(
        path for name in ("table_summary.log", "resources.json") for path in out.rglob(name)
    ):
        print(f"  {report}")
    return True


def main() -> int:
    """Reads the command line."""
    out = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "target").absolute()
    p4c = compiler()
    if p4c is None:
        print(NO_COMPILER, file=sys.stderr)
        return 2
    done = [compiled(p4c, target, out / target) for target in TARGETS]
    return 0 if all(done) else 1


if __name__ == "__main__":
    sys.exit(main())
