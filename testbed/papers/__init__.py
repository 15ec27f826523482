"""The papers that `narrows reproduce` knows: a file each, and a line here."""

from __future__ import annotations

from typing import Final

from narrows.testbed.papers import gital_2014, islam_2009, jasem_2010, wang_2013
from narrows.testbed.papers.paper import Paper

PAPERS: Final[tuple[Paper, ...]] = (
    gital_2014.PAPER,
    jasem_2010.PAPER,
    wang_2013.PAPER,
    islam_2009.PAPER,
)
