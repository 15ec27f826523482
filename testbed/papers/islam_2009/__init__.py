"""Islam et al. 2009: ns-2's sources against bandwidth, delay and rate.

The paper states hardly any parameter; the scenario files say what was fitted to its tables.
"""

from __future__ import annotations

from typing import Final

from narrows.testbed.papers.islam_2009.claims import CLAIMS
from narrows.testbed.papers.islam_2009.discussion import ASSUMPTIONS, FINDINGS
from narrows.testbed.papers.islam_2009.experiments import CURVES, EXPERIMENTS, PICKS, TABLES
from narrows.testbed.papers.paper import Paper

PAPER: Final = Paper(
    name="islam-2009",
    title="ns-2's TCPs against network parameters",
    reference=(
        "Islam, Kashem, Sadid, Rahman, Islam, Anam: TCP Variants and Network Parameters: A "
        "Comprehensive Performance Analysis, IMECS 2009"
    ),
    experiments=EXPERIMENTS,
    tables=TABLES,
    curves=CURVES,
    picks=PICKS,
    claims=CLAIMS,
    assumptions=ASSUMPTIONS,
    findings=FINDINGS,
)
