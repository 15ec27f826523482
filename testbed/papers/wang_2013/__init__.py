"""Wang et al. 2013: AppTCP on an emulated and on two real fast long-distance networks.

The paper prints no table: its numbers are those of the text. Rates are payload.
"""

from __future__ import annotations

from typing import Final

from narrows.testbed.papers.paper import Paper
from narrows.testbed.papers.wang_2013.claims import CLAIMS
from narrows.testbed.papers.wang_2013.discussion import ASSUMPTIONS, FINDINGS
from narrows.testbed.papers.wang_2013.experiments import CURVES, EXPERIMENTS, NUMBERS, TABLES

PAPER: Final = Paper(
    name="wang-2013",
    title="AppTCP for e-VLBI in fast long-distance networks",
    reference=(
        "Wang, Wu, Dou, Ren, Li: AppTCP: The Design and Evaluation of Application-based TCP for "
        "e-VLBI in Fast Long Distance Networks, 2013"
    ),
    experiments=EXPERIMENTS,
    tables=TABLES,
    curves=CURVES,
    numbers=NUMBERS,
    claims=CLAIMS,
    assumptions=ASSUMPTIONS,
    findings=FINDINGS,
)
