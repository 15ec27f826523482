"""Gital et al. 2014: seven TCPs under a cloud-based collaborative virtual environment.

Table II prints no unit; kb/s is the only one that fits a link of 2 Mb/s.
"""

from __future__ import annotations

from typing import Final

from narrows.testbed.papers.gital_2014.claims import CLAIMS
from narrows.testbed.papers.gital_2014.discussion import ASSUMPTIONS, FINDINGS
from narrows.testbed.papers.gital_2014.experiments import CURVES, EXPERIMENTS, TABLES
from narrows.testbed.papers.paper import Paper

PAPER: Final = Paper(
    name="gital-2014",
    title="TCP in a cloud-based collaborative virtual environment",
    reference=(
        "Gital, Isma'il, Alkali, Abubakar, Chiroma: Throughput Analysis of TCP Congestion Control "
        "Algorithms in a Cloud Based Collaborative Virtual Environment, 2014"
    ),
    experiments=EXPERIMENTS,
    tables=TABLES,
    curves=CURVES,
    claims=CLAIMS,
    assumptions=ASSUMPTIONS,
    findings=FINDINGS,
)
