#!/usr/bin/env python3
"""Finds by compilation how many routes, flows and ports p4/tna.p4 can hold on Tofino 1 and 2.

    p4/tofino_limits.py [TARGET ...]           writes p4/build/TARGET/limits.json, which
                                               p4/tofino_report.py puts into its page
    p4/tofino_limits.py --out DIR [TARGET ...] writes DIR/TARGET/limits.json, and outcomes to DIR

One table size of p4/metadata.p4 is varied, the others stay. The search bisects between the size of
today, which must compile, and what the chip's free TCAM can hold, in steps of several TCAM blocks'
entries. An allocator need not accept every size below the largest that it accepts, so the result
is a size that fits, beside one step more that does not.

A size is refused if the compiler fails and every one of its errors says that the pipe's resources
do not suffice. Warnings are not read. Any other failure ends the search with its text. Outcomes are
kept in target/tofino-limits, so an interrupted search resumes.

Exit codes: 0 done, 1 the compiler failed for another reason, 2 no compiler with the back end.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tofino import BUILD, NO_COMPILER, PROGRAM, ROOT, TARGETS, compiler, run, sources

TCAM_ENTRIES = 512
"""Entries of a TCAM block."""
STAGES = {"tofino": 12, "tofino2": 20}
"""Of each chip's pipe. Source: the back end's device descriptions."""
CACHE = Path("target/tofino-limits")
FITS = ""
"""The outcome of a size that fits; of any other, the compiler's first error."""


@dataclass(frozen=True)
class Limit:
    """A table size, by the name of its constant in p4/metadata.p4."""

    constant: str
    control: str | None
    """The control whose TCAM grows with the size; None if the size is bounded by `most`."""
    blocks: int = 1
    """TCAM blocks in a step of the search."""
    most: int | None = None


LIMITS = {
    "routes": Limit("ROUTES", "Forward", blocks=32),
    "flows": Limit("FLOWS", "IdentifyFlow", blocks=8),
    # Every port number of both chips: TNA's PortId_t has 9 bits.
    "ports": Limit("PORTS", None, most=512),
}

DOES_NOT_FIT = re.compile(
    r"supports up to \d+ stages, using \d+"  # the assembler
    r"|failed to allocate tables for pipe"
    r"|Could not place .*: "
    r"|not placed$"
    r"|Table placement cannot make any more progress"
    r"|partly placed: "
)
"""The back end's errors if the pipe's resources do not suffice. Sources: its
`mau/table_placement.cpp`, `mau/table_summary.cpp` and the assembler's `stage.cpp`."""
FOLLOWS = "Due to errors, no binary will be generated"
"""The assembler's last error after any other."""


class CompilerError(Exception):
    """The compiler failed, but not because the program does not fit."""


def errors(text: str) -> list[str]:
    """The messages of a compiler's errors, without place and warnings."""
    found = (re.search(r"(?:^|\s)error: (.*)", line) for line in text.splitlines())
    return [one[1].strip() for one in found if one and one[1].strip() != FOLLOWS]


def outcome(status: int, text: str) -> str:
    """What a compiler's exit code and messages say about a size: `FITS`, or its first error.

    Raises CompilerError if it failed for another reason, or without an error.
    """
    if status == 0:
        return FITS
    found = errors(text)
    if not found or not all(DOES_NOT_FIT.search(one) for one in found):
        raise CompilerError(f"exit code {status}, not for want of resources:\n{text}")
    return found[0]


def resized(constant: str, size: int, folder: Path) -> None:
    """Copies the program to `folder`, with that size for the constant."""
    declared = re.compile(rf"^(const bit<32> {constant}) = \d+;", re.MULTILINE)
    count = 0
    for path in sorted(sources()):
        text, changed = declared.subn(rf"\1 = {size};", (ROOT / path).read_text())
        count += changed
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    if count != 1:
        raise CompilerError(f"{constant} is declared {count} times in {PROGRAM}, expected once")


def digest(root: Path = ROOT) -> str:
    """Of the program as the preprocessor leaves it: says which one a search was run on.

    Comments, and what a shared file has for other architectures only, do not count. Raises
    CompilerError if the C preprocessor fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        for name in ("core.p4", "tna.p4", "t2na.p4"):
            Path(folder, name).touch()
        command = ["cc", "-E", "-P", "-undef", "-nostdinc", "-I", folder, "-x", "c", str(PROGRAM)]
        ran = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise CompilerError(f"cc cannot preprocess {PROGRAM}:\n{ran.stderr}")
    return hashlib.sha256(" ".join(ran.stdout.split()).encode()).hexdigest()


def version(out: Path) -> str | None:
    """The back end's version, from a compiled program."""
    context = out / "pipe/context.json"
    content = json.loads(context.read_text()) if context.exists() else {}
    found: str | None = content.get("compiler_version")
    return found


class Search:
    """The search for one target. Keeps the outcomes of sizes in a file."""

    def __init__(self, p4c: str, target: str, cache: Path) -> None:
        self.p4c, self.target = p4c, target
        self.resources: dict[str, Any] = json.loads(
            (ROOT / BUILD / target / "resources.json").read_text()
        )
        key = hashlib.sha256(f"{digest()} {p4c}".encode()).hexdigest()[:16]
        self.folder = cache / f"{target}-{key}"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.compiler: str | None = None

    def tried(self, constant: str, size: int) -> str:
        """The outcome of a size, compiled once."""
        kept = self.folder / f"{constant}-{size}.json"
        if not kept.exists():
            work = self.folder / f"{constant}-{size}"
            resized(constant, size, work)
            ran = run(self.p4c, self.target, work / "out", work)
            (self.folder / f"{constant}-{size}.log").write_text(ran.stdout + ran.stderr)
            found = outcome(ran.returncode, ran.stdout + ran.stderr)
            kept.write_text(json.dumps({"outcome": found, "compiler": version(work / "out")}))
            shutil.rmtree(work)
        content = json.loads(kept.read_text())
        self.compiler = content["compiler"] or self.compiler
        found = str(content["outcome"])
        print(f"{self.target}: {constant} = {size}: {found or 'fits'}", flush=True)
        return found

    def ceiling(self, limit: Limit, size: int) -> int:
        """The largest size that the chip's TCAM could hold, in whole blocks."""
        if limit.control is None:
            assert limit.most is not None
            return limit.most
        of_each, controls = self.resources["of_each_stage"], self.resources["controls"]
        others = sum(one.get("tcam", 0) for name, one in controls.items() if name != limit.control)
        free: int = of_each["tcam"] * STAGES[self.target] - others
        blocks: int = max(1, controls[limit.control]["tcam"] * TCAM_ENTRIES // size)
        return free // blocks * TCAM_ENTRIES

    def largest(self, limit: Limit) -> dict[str, Any]:
        """The largest size found that fits, and the smallest above it that does not."""
        today = size_of(limit.constant)
        ceiling = self.ceiling(limit, today)
        if refusal := self.tried(limit.constant, today):
            raise CompilerError(f"{limit.constant} = {today} does not fit today: {refusal}")
        tries = {today: FITS}
        step = limit.blocks * TCAM_ENTRIES

        def fits(size: int) -> bool:
            tries[size] = self.tried(limit.constant, size)
            return tries[size] == FITS

        above = today + ((ceiling - today) // step + 1) * step
        fit, refused = bisected(today, above, step, fits)
        return {
            "size": today,
            "fits": fit,
            "refused": refused if refused <= ceiling else None,
            "because": tries.get(refused),
            "ceiling": ceiling,
            "tries": len(tries),
        }


def size_of(constant: str) -> int:
    """A table size of today."""
    text = (ROOT / "p4/metadata.p4").read_text()
    declared = re.search(rf"^const bit<32> {constant} = (\d+);", text, re.MULTILINE)
    if declared is None:
        raise CompilerError(f"p4/metadata.p4 does not declare {constant}")
    return int(declared[1])


def bisected(fit: int, refused: int, step: int, fits: Callable[[int], bool]) -> tuple[int, int]:
    """A size that fits and one that does not, `step` apart, from two that are whole steps apart."""
    while refused - fit > step:
        middle = fit + (refused - fit) // step // 2 * step
        if fits(middle):
            fit = middle
        else:
            refused = middle
    return fit, refused


def main() -> int:
    """Reads the command line."""
    arguments = sys.argv[1:]
    out, cache = ROOT / BUILD, ROOT / CACHE
    if arguments[:1] == ["--out"] and len(arguments) > 1:
        out = cache = Path(arguments[1]).absolute()
        arguments = arguments[2:]
    if unknown := [one for one in arguments if one not in TARGETS]:
        print(f"no target {unknown[0]}: expected {' or '.join(TARGETS)}", file=sys.stderr)
        return 1
    p4c = compiler()
    if p4c is None:
        print(NO_COMPILER, file=sys.stderr)
        return 2
    for target in arguments or TARGETS:
        search = Search(p4c, target, cache)
        try:
            found = {noun: search.largest(limit) for noun, limit in LIMITS.items()}
        except CompilerError as error:
            print(f"{target}: {error}", file=sys.stderr)
            return 1
        content = {
            "target": target,
            "compiler": search.compiler,
            "sources": digest(),
            "limits": found,
        }
        (out / target).mkdir(parents=True, exist_ok=True)
        (out / target / "limits.json").write_text(json.dumps(content, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
