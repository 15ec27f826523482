"""The inner loops, one at a time, by criterion (`engine/benches/inner.rs`)."""

from __future__ import annotations

import json
import shutil

from bench.section import ROOT, Json, Options, Section, output


def measure(options: Options) -> Json:
    """Each loop's median in nanoseconds, from criterion's files."""
    command = ["cargo", "bench", "--quiet", "-p", "narrows-engine", "--bench", "inner"]
    estimates = ROOT / "target" / "criterion"
    # It keeps the estimates of loops that are gone.
    shutil.rmtree(estimates, ignore_errors=True)
    output([*command, "--", "--noplot"])
    found: Json = {}
    print(f"\n{'inner loops':32} {'ns':>9}")
    for path in sorted(estimates.glob("**/new/estimates.json")):
        described = json.loads(path.with_name("benchmark.json").read_text())
        median = json.loads(path.read_text())["median"]["point_estimate"]
        found[described["full_id"]] = round(median, 1)
        print(f"{described['full_id']:32} {median:9.1f}")
    return found


SECTION = Section(
    "inner", measure, lambda found: {name: 1e9 / spent_ns for name, spent_ns in found.items()}
)
