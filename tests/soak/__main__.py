"""`python -m tests.soak --seconds 3600`: runs the soak, and writes what it saw as Markdown.

`narrows switch` runs in a process of its own, on veths. It must not lose a frame without a reason,
nor what a controller wrote, nor grow, and it must end within two seconds. Needs root and libdpdk.
Exits with 1 if something does not hold.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from narrows.testbed.targets.dpdk import setup
from narrows.testbed.targets.linux import namespaces
from tests.soak import report
from tests.soak.run import Soak


def main() -> int:
    """The command."""
    options = argparse.ArgumentParser(prog="soak")
    options.add_argument("--seconds", type=float, default=3600)
    options.add_argument("--report", type=Path, help="a Markdown file to write")
    given = options.parse_args()
    if lacking := [*namespaces.missing(), *setup.missing()]:
        print("soak: " + "; ".join(lacking), file=sys.stderr)
        return 2
    soak = Soak(given.seconds)
    soak.run(lambda line: print(line, flush=True))
    text = report.of(soak)
    print(text)
    if given.report:
        given.report.write_text(text)
    return int(not all(report.verdicts(soak).values()))


if __name__ == "__main__":
    sys.exit(main())
