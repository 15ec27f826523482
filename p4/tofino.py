#!/usr/bin/env python3
"""Compiles p4/tna.p4 for Tofino 1 and 2, where a p4c with the Tofino back end is.

    p4/tofino.py             program and logs to target/tofino and target/tofino2, and what is
                             committed to p4/build/tofino and p4/build/tofino2
    p4/tofino.py OUT         program and logs to OUT/tofino and OUT/tofino2, and no more
    p4/tofino.py --check     compare p4/build/tofino/sources.sha256 with the files

The compiler is `p4c` from PATH, or $P4C_TOFINO; whether it has the back end, it says itself
(`--target-help`). For each target p4/build/ has:

- `bfrt.json`: the tables that the switch offers over BfRuntime, without the compiler's own for
  debugging (`pipe.snapshot.*`, `tbl_dbg_counter`);
- `resources.json`: what the program takes of the pipe, in total, by stage and by control;
  p4/tofino_report.py makes docs/reports/tofino-resources.md of it.

Exit codes: 0 done or in step, 1 drifted or the compiler failed, 2 no compiler with the back end.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = Path("p4/tna.p4")
BUILD = Path("p4/build")
SUMS = BUILD / "tofino/sources.sha256"
TARGETS = {"tofino": "tna", "tofino2": "t2na"}
"""The architecture of each target."""
OUTPUTS = [BUILD / one / name for one in TARGETS for name in ("bfrt.json", "resources.json")]

NO_COMPILER = """\
No p4c with the Tofino back end: $P4C_TOFINO, or p4c on PATH whose `--target-help` names tofino.
To get it: Intel's SDE as open source (https://github.com/p4lang/open-p4studio), or p4c built with
-DENABLE_TOFINO=ON (https://github.com/p4lang/p4c). What can be checked without:
docs/explanation/tofino.md."""

UNREACHABLE_STATE = "Can't match parser state due to previous match"
LOSES_MATCHES = """\
{target}: {p4c} made a parser that takes the first transition of every state.
Use a p4c with https://github.com/p4lang/p4c/pull/5753 (September 2026)."""

DEBUGGING_TABLES = re.compile(r"pipe\.snapshot\.|tbl_dbg_counter")

UNITS = {
    "sram": ("rams", "srams"),
    "tcam": ("tcams", "tcams"),
    "map_ram": ("map_rams", "maprams"),
    "stateful_alu": ("meter_alus", "meters"),
    "statistics_alu": ("statistic_alus", "stats"),
    "gateway": ("gateways", "gateways"),
    "hash_distribution": ("hash_distribution_units", "units"),
}
"""Where the back end's resources.json has each of a stage's units."""

CONTROLS = {
    "forward": "Forward",
    "flow": "IdentifyFlow",
    "identify_flow": "IdentifyFlow",
    "loss": "RandomLoss",
    "random_loss": "RandomLoss",
    "count_drops": "CountDrops",
    "read_queue": "ReadQueue",
    "delay": "MeasureDelay",
    "measure_delay": "MeasureDelay",
    "ecn": "MarkEcn",
    "mark_ecn": "MarkEcn",
    "telemetry": "SelectReport",
    "select_report": "SelectReport",
    "report": "MakeReport",
    "make_report": "MakeReport",
}
"""The control of each instance, and of each file of p4/stages/: the back end names a table after
one or the other."""
REST = "the rest of tna.p4"


def compiler() -> str | None:
    """The compiler's path, if it has the back end."""
    path = shutil.which(os.environ.get("P4C_TOFINO") or "p4c")
    if path is None:
        return None
    said = subprocess.run([path, "--target-help"], capture_output=True, text=True, check=False)
    return path if "tofino" in said.stdout else None


def run(p4c: str, target: str, out: Path, root: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Compiles the program below `root` for one target."""
    command = [p4c, "--target", target, "--arch", TARGETS[target], "-g", "--verbose", "1"]
    command += ["-o", str(out), str(PROGRAM)]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)


def compiled(p4c: str, target: str, out: Path) -> bool:
    """Compiles for one target; prints where the logs are."""
    ran = run(p4c, target, out)
    print(ran.stdout, end="")
    print(ran.stderr, end="", file=sys.stderr)
    if ran.returncode != 0:
        print(f"{target}: {p4c} failed with exit code {ran.returncode}", file=sys.stderr)
        return False
    if UNREACHABLE_STATE in ran.stderr:
        print(LOSES_MATCHES.format(target=target, p4c=p4c), file=sys.stderr)
        return False
    print(f"{target}: {out}")
    for report in sorted(
        path for name in ("table_summary.log", "resources.json") for path in out.rglob(name)
    ):
        print(f"  {report}")
    return True


def sources(program: Path = PROGRAM) -> set[Path]:
    """The program's files, from the repository's root: it and what it includes."""
    text = (ROOT / program).read_text()
    included = {program.parent / name for name in re.findall(r'#include "([^"]+)"', text)}
    return {program}.union(*(sources(path) for path in included))


def sums() -> list[str]:
    """The expected content of `sources.sha256`: `<sha256> <path>` for sources, then outputs."""
    files = [*sorted(sources()), *(path for path in OUTPUTS if (ROOT / path).exists())]
    return [f"{hashlib.sha256((ROOT / path).read_bytes()).hexdigest()}  {path}" for path in files]


def check() -> int:
    """Compares the recorded checksums with the files; prints every file that differs."""
    recorded = (ROOT / SUMS).read_text().splitlines() if (ROOT / SUMS).exists() else []
    drifted = sorted({line[66:] for line in set(recorded) ^ set(sums())})
    for path in drifted:
        print(f"{path}: not what {SUMS} was made from")
    if drifted or not recorded:
        print("p4/build is out of step with p4/tna.p4: run `make p4-tofino`, and commit p4/build")
        return 1
    return 0


def without_debugging(content: dict[str, Any]) -> dict[str, Any]:
    """A bfrt.json without the compiler's tables for debugging."""
    kept = [one for one in content["tables"] if not DEBUGGING_TABLES.match(one["name"])]
    return content | {"tables": kept}


def control(name: str) -> str:
    """The control that a unit belongs to, from the back end's name of its user."""
    instance = re.match(r"Narrows\w+\.(\w+)\.", name)
    key = instance[1] if instance else ""
    words = re.sub(r"^tbl_", "", name)
    found = [prefix for prefix in CONTROLS if prefix == key or words.startswith(prefix)]
    return CONTROLS[max(found, key=len)] if found else REST


def resources(out: Path) -> dict[str, Any]:
    """What a compiled program takes of the pipe. Units are counted; PHV containers by width."""

    def read(path: str) -> Any:
        return json.loads((out / path).read_text())

    content, power = read("pipe/logs/resources.json"), read("pipe/logs/power.json")
    phv, context = read("pipe/logs/phv.json"), read("pipe/context.json")
    stages = content["resources"]["mau"]["mau_stages"]
    by_control: dict[str, Counter[str]] = {}
    by_stage = []
    for stage in stages:
        used: Counter[str] = Counter()
        users = [
            (unit, usage["used_by"])
            for unit, (kind, units) in UNITS.items()
            for one in stage[kind][units]
            for usage in one["usages"]
        ]
        users += [("hash_bit", one["used_by_table"]) for one in stage["hash_bits"]["bits"]]
        users += [("table", one["table_name"]) for one in stage["logical_tables"]["ids"]]
        for unit, user in users:
            used[unit] += 1
            by_control.setdefault(control(user), Counter())[unit] += 1
        used["instruction"] = len(stage["vliw"]["instructions"])
        by_stage.append(dict(sorted(used.items())))
    return {
        "target": context["target"],
        "compiler": context["compiler_version"],
        "stages": by_stage,
        "of_each_stage": of_each_stage(stages[0]),
        "controls": {name: dict(sorted(units.items())) for name, units in by_control.items()},
        "latency_cycles": {one["gress"]: one["latency"] for one in power["total_latency"]},
        "parser_states": {
            one["gress"]: len(one["states"]) for one in content["resources"]["parser"]["parsers"]
        },
        "containers": containers(phv, content["resources"]["phv_containers"]),
        "tables": tables(context),
        "binary_bytes": (out / f"pipe/{context['target']}.bin").stat().st_size,
    }


def of_each_stage(stage: dict[str, Any]) -> dict[str, int]:
    """How many units a stage has."""
    rams, tcams, bits = stage["rams"], stage["tcams"], stage["hash_bits"]
    return {
        "sram": rams["nRows"] * rams["nColumns"],
        "tcam": tcams["nRows"] * tcams["nColumns"],
        "map_ram": stage["map_rams"]["nRows"] * stage["map_rams"]["nUnits"],
        "hash_bit": bits["nBits"] * bits["nFunctions"],
        "stateful_alu": stage["meter_alus"]["nAlus"],
        "statistics_alu": stage["statistic_alus"]["nAlus"],
        "gateway": stage["gateways"]["nRows"] * stage["gateways"]["nUnits"],
        "hash_distribution": stage["hash_distribution_units"]["nHashIds"]
        * stage["hash_distribution_units"]["nUnitIds"],
        "table": stage["logical_tables"]["size"],
        "instruction": stage["vliw"]["size"],
    }


def containers(phv: dict[str, Any], groups: dict[str, Any]) -> dict[str, dict[str, int]]:
    """The PHV containers by kind and width: used at ingress, used at egress, and all."""
    used = Counter(
        (one["container_type"], one["bit_width"], one["gress"]) for one in phv["containers"]
    )
    found = {}
    for kind, widths in sorted(groups.items()):
        for group in sorted(widths, key=lambda one: one["width"]):
            width = group["width"]
            found[f"{kind} {width}"] = {
                "ingress": used[kind, width, "ingress"],
                "egress": used[kind, width, "egress"],
                "all": group["units"],
            }
    return found


def tables(context: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The program's own match tables: entries that they hold, and the stages that they are in."""
    found = {}
    for one in context["tables"]:
        attributes = one.get("match_attributes") or {}
        if one["table_type"] != "match" or not one["name"].startswith("Narrows"):
            continue
        stages = [*attributes.get("stage_tables", []), *attributes.get("units", [])]
        numbers = sorted({stage["stage_number"] for stage in stages if "stage_number" in stage})
        found[one["name"]] = {"entries": one["size"], "stages": numbers}
    return dict(sorted(found.items()))


def write(target: str, out: Path) -> None:
    """Writes what is committed of a compiled program."""
    content = json.loads((out / "bfrt.json").read_text())
    folder = ROOT / BUILD / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "bfrt.json").write_text(json.dumps(without_debugging(content), indent=1) + "\n")
    (folder / "resources.json").write_text(json.dumps(resources(out), indent=1) + "\n")


def main() -> int:
    """Reads the command line."""
    if sys.argv[1:] == ["--check"]:
        return check()
    out = Path(sys.argv[1]).absolute() if len(sys.argv) > 1 else ROOT / "target"
    p4c = compiler()
    if p4c is None:
        print(NO_COMPILER, file=sys.stderr)
        return 2
    done = [compiled(p4c, target, out / target) for target in TARGETS]
    if not all(done):
        return 1
    if len(sys.argv) == 1:
        for target in TARGETS:
            write(target, out / target)
        (ROOT / SUMS).write_text("\n".join(sums()) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
