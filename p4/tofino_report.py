#!/usr/bin/env python3
"""Writes docs/reports/tofino-resources.md from p4/build/tofino*/resources.json.

Prints it with `--print` instead.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from tofino import BUILD, REST, ROOT, TARGETS
from tofino_limits import LIMITS as SEARCHED
from tofino_limits import STAGES, TCAM_ENTRIES, digest

PAGE = ROOT / "docs/reports/tofino-resources.md"
NAMES = {"tofino": "Tofino 1", "tofino2": "Tofino 2"}
UNITS = {
    "sram": "SRAM",
    "tcam": "TCAM",
    "map_ram": "map RAM",
    "hash_bit": "hash bits",
    "stateful_alu": "stateful ALUs",
    "statistics_alu": "statistics ALUs",
    "gateway": "gateways",
    "table": "tables",
    "instruction": "instructions",
}
"""The columns: unit in resources.json, heading."""
BY_CONTROL = [unit for unit in UNITS if unit != "instruction"]
ORDER = ["Forward", "IdentifyFlow", "RandomLoss", "CountDrops", "ReadQueue", "MeasureDelay"]
ORDER += ["MarkEcn", "SelectReport", "MakeReport", REST]

HEAD = """\
# What the bottleneck takes of a Tofino

Made by `make p4-tofino` and `p4/tofino_report.py` from `p4/build/tofino*/resources.json`, which
p4c's Tofino back end ({compiler}) made of [p4/tna.p4](../../p4/tna.p4).

| | {names} |
|---|{rules}|
{summary}

- *Cycles* are the back end's latency of all stages of the pipe, without parser, deparser and queue.
- *SRAM* and *TCAM* are blocks: 1,024 x 128 bits and 512 x 44 bits. A *gateway* decides an `if`;
  the back end does not say whose, so most are under *the rest of tna.p4*.
- *Containers* are those of the packet header vector (PHV), at ingress and egress.
"""

LIMITS = """
## How much fits

`p4/tofino_limits.py` varies one table size, compiles, and bisects; the other sizes stay.
*Refused* is the next step, and the compiler's first error there.
Steps: {steps}. Compiler: {compiler}.{unsearched}{stale}

{limits}

- A port number has 9 bits on both chips, so there are no more than 512 ports.
- Routes and flows share the TCAM, so the two maxima do not fit together.
- The back end's allocators are heuristics: a refusal is theirs, not a proof that nothing fits.
"""
STALE = """
**The search was run on an earlier version of the program.**"""


def share(used: int, of: int) -> str:
    """`12 of 48 (25 %)`."""
    return f"{used:,} of {of:,} ({100 * used / of:.0f} %)"


def row(cells: Iterable[object]) -> str:
    """A line of a table."""
    return "| " + " | ".join(map(str, cells)) + " |"


def total(content: Mapping[str, Any], unit: str) -> int:
    """A unit's use in all stages."""
    return sum(stage.get(unit, 0) for stage in content["stages"])


def all_stages(content: Mapping[str, Any]) -> int:
    """The stages of the chip's pipe; resources.json lists those in use."""
    return STAGES[content["target"]]


def summary(contents: list[dict[str, Any]]) -> Iterable[str]:
    """What a program takes of the pipe, one column per target."""
    used = [[stage for stage in one["stages"] if stage.get("table")] for one in contents]
    pairs = zip(used, contents, strict=True)
    yield row(["stages", *(share(len(stages), all_stages(one)) for stages, one in pairs)])
    for unit, heading in UNITS.items():
        of = [one["of_each_stage"][unit] * all_stages(one) for one in contents]
        takes = (share(total(one, unit), most) for one, most in zip(contents, of, strict=True))
        yield row([heading, *takes])
    for kind in ("normal", "tagalong", "mocha", "dark"):
        cells = []
        for one in contents:
            groups = [of for name, of in one["containers"].items() if name.startswith(kind)]
            taken = sum(group["ingress"] + group["egress"] for group in groups)
            cells.append(share(taken, sum(g["all"] for g in groups)) if groups else "-")
        yield row([f"{kind} containers", *cells])
    for gress in ("ingress", "egress"):
        yield row([f"{gress} cycles", *(one["latency_cycles"][gress] for one in contents)])
        yield row([f"{gress} parser states", *(one["parser_states"][gress] for one in contents)])
    yield row(["binary, bytes", *(f"{one['binary_bytes']:,}" for one in contents)])


def controls(content: Mapping[str, Any]) -> Iterable[str]:
    """What each control takes."""
    yield row(["control", *(UNITS[unit] for unit in BY_CONTROL)])
    yield row(["---"] * (len(BY_CONTROL) + 1))
    for name in ORDER:
        if name in content["controls"]:
            units = content["controls"][name]
            yield row([name, *(units.get(unit, 0) for unit in BY_CONTROL)])


def stages(content: Mapping[str, Any]) -> Iterable[str]:
    """What the program takes of each stage."""
    most = content["of_each_stage"]
    yield row(["stage", *(f"{heading} of {most[unit]}" for unit, heading in UNITS.items())])
    yield row(["---"] * (len(UNITS) + 1))
    for number, stage in enumerate(content["stages"]):
        yield row([number, *(stage.get(unit, 0) for unit in UNITS)])


def tables(contents: list[dict[str, Any]]) -> Iterable[str]:
    """Where each match table is, and how many entries it holds."""
    yield row(["table", "entries", *(f"stages, {NAMES[one['target']]}" for one in contents)])
    yield row(["---"] * (len(contents) + 2))
    for name, facts in contents[0]["tables"].items():
        places = (", ".join(map(str, one["tables"][name]["stages"])) for one in contents)
        yield row([f"`{name}`", f"{facts['entries']:,}", *places])


def limits() -> str:
    """How many entries fit; empty for a target without a search."""
    paths = [ROOT / BUILD / target / "limits.json" for target in TARGETS]
    contents = [json.loads(path.read_text()) for path in paths if path.exists()]
    if not contents:
        return ""
    lines = [row(["chip", "what", "today", "fits", "refused"]), row(["---"] * 5)]
    for one in contents:
        for noun, found in one["limits"].items():
            refused = "-"
            if found["refused"] is not None:
                refused = f"{found['refused']:,}: `{found['because']}`"
            sizes = (f"{found['size']:,}", f"{found['fits']:,}")
            lines.append(row([NAMES[one["target"]], noun, *sizes, refused]))
    searched = {one["target"] for one in contents}
    missing = [NAMES[target] for target in TARGETS if target not in searched]
    return LIMITS.format(
        unsearched="".join(f" {name} was not searched to the end." for name in missing),
        steps=" and ".join(
            f"{one.blocks * TCAM_ENTRIES:,} {noun}"
            for noun, one in SEARCHED.items()
            if one.control is not None
        ),
        compiler=" and ".join(dict.fromkeys(one["compiler"] for one in contents)),
        stale="" if all(one["sources"] == digest() for one in contents) else STALE,
        limits="\n".join(lines),
    )


def page() -> str:
    """The page."""
    contents = [
        json.loads((ROOT / BUILD / target / "resources.json").read_text()) for target in TARGETS
    ]
    text = HEAD.format(
        compiler=" and ".join(dict.fromkeys(one["compiler"] for one in contents)),
        names=" | ".join(NAMES[one["target"]] for one in contents),
        rules="|".join("---" for _ in contents),
        summary="\n".join(summary(contents)),
    )
    text += limits()
    text += "\n## Tables\n\n" + "\n".join(tables(contents)) + "\n"
    for one in contents:
        name = NAMES[one["target"]]
        text += f"\n## Controls on {name}\n\n" + "\n".join(controls(one)) + "\n"
        text += f"\n## Stages on {name}\n\n" + "\n".join(stages(one)) + "\n"
    return text


def main() -> None:
    """Reads the command line."""
    if sys.argv[1:] == ["--print"]:
        print(page(), end="")
    else:
        PAGE.write_text(page())


if __name__ == "__main__":
    main()
