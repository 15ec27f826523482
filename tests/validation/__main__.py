"""`make validate`: writes docs/reports/validation.md, and prints the failed checks.

ns-2's side is a recording; `python -m tests.validation.record` records it again.
"""

from __future__ import annotations

import sys

from tests.validation.cases import ROOT
from tests.validation.sections import SECTIONS
from tests.validation.table import failures, render

DOCUMENT = ROOT / "docs/reports/validation.md"
HEAD = """# How the senders were checked

`make validate` makes this page. Each record of the registries has a row, each check a column. A
bold cell failed its check. An empty cell was not checked that way.
"""


def main() -> int:
    """Writes the document. Returns 1 if a check failed."""
    DOCUMENT.write_text("\n".join([HEAD, *map(render, SECTIONS)]))
    failed = [failure for section in SECTIONS for failure in failures(section)]
    for failure in failed:
        print(failure, file=sys.stderr)
    print(DOCUMENT)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
