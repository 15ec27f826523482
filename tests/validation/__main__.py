"""`make validate`: writes docs/reports/validation.md, and prints the failed checks.

ns-2's side is a recording; `python -m tests.validation.record` records it again.
"""

from __future__ import annotations

import sys
from datetime import date

from tests.validation.cases import ROOT
from tests.validation.sections import SECTIONS
from tests.validation.table import conclusion, failures, render

DOCUMENT = ROOT / "docs/reports/validation.md"
HEAD = """# How the senders were checked

{conclusion}

`make validate` made this page on {today}. Each record of the registries has a row, each check a
column. An empty cell was not checked that way. A figure in brackets is shown, not checked.
"""


def main() -> int:
    """Writes the document. Returns 1 if a check failed."""
    tables = "\n".join(map(render, SECTIONS))
    head = HEAD.format(conclusion=conclusion(tables), today=date.today())
    DOCUMENT.write_text(f"{head}\n{tables}")
    failed = [failure for section in SECTIONS for failure in failures(section)]
    for failure in failed:
        print(failure, file=sys.stderr)
    print(DOCUMENT)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
