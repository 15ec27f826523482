"""Has ns-2 run every case and records what it did: `python -m tests.validation.record [SOURCE]`.

With a source's name, only that source's cases are recorded again. Writes
`hosts/tests/ns2/recorded.json`, a line a case, times in seconds.
"""

from __future__ import annotations

import dataclasses
import json
import sys

from tests.validation import cases
from tests.validation.sections import AGENTS, MODULES


def main(only: str | None = None) -> None:
    """Records every case, or one source's."""
    todo = {
        cases.key(source, setup): (source, setup)
        for comparison in (AGENTS, MODULES)
        for source in comparison.sources.values()
        for setup in comparison.setups
    }
    kept = {key: run for key, run in cases.recorded().items() if key in todo}
    for key, (source, setup) in todo.items():
        if only in (None, source.name):
            print(key, file=sys.stderr)
            run = cases.run_ns2(source, setup)
            is_single = len(run) == 1 and not source.select_ca
            kept[key] = cases.Recorded(cases.counts(run), run[0] if is_single else None)
    lines = [
        f"{json.dumps(key)}: {json.dumps(dataclasses.asdict(kept[key]))}"
        for key in todo
        if key in kept
    ]
    cases.RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    if not cases.has_ns2():
        sys.exit(f"{cases.NS} is not installed: apt-get install -y ns2")
    main(*sys.argv[1:2])
