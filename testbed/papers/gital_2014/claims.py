"""Gital et al. 2014: the claims, and how each is judged."""

from __future__ import annotations

from functools import partial
from typing import Final

from narrows.testbed.papers.finished_runs import listed
from narrows.testbed.papers.gital_2014.measures import (
    WITHIN_100,
    first_margin,
    grows_with_users,
    growth_margin,
    is_first,
    spread_percent,
    throughputs,
)
from narrows.testbed.papers.grade import POINTS, Margin
from narrows.testbed.papers.paper import (
    Claim,
)

CLAIMS: Final[tuple[Claim, ...]] = (
    Claim(
        "section VI",
        "With 200 users Vegas has the highest throughput.",
        ("throughput",),
        partial(is_first, "200", "vegas"),
        partial(throughputs, "200"),
        tolerance="95 % intervals apart",
        grade=partial(first_margin, "200", "vegas"),
        needs=("length",),
    ),
    Claim(
        "Table II",
        "With 200 users NewReno has the highest throughput.",
        ("throughput",),
        partial(is_first, "200", "newreno"),
        partial(throughputs, "200"),
        tolerance="95 % intervals apart",
        grade=partial(first_margin, "200", "newreno"),
        needs=("length",),
    ),
    Claim(
        "section VI",
        "With 600 users NewReno has the highest throughput.",
        ("throughput",),
        partial(is_first, "600", "newreno"),
        partial(throughputs, "600"),
        tolerance="95 % intervals apart",
        grade=partial(first_margin, "600", "newreno"),
        needs=("length",),
    ),
    Claim(
        "Table II",
        "With 600 users Vegas has the highest throughput.",
        ("throughput",),
        partial(is_first, "600", "vegas"),
        partial(throughputs, "600"),
        tolerance="95 % intervals apart",
        grade=partial(first_margin, "600", "vegas"),
        needs=("length",),
    ),
    Claim(
        "section VI",
        "Throughput is higher with 600 users than with 200.",
        ("throughput",),
        grows_with_users,
        lambda finished: (
            f"200: {throughputs('200', finished)}; 600: {throughputs('600', finished)}"
        ),
        tolerance="every variant, 95 % intervals apart",
        grade=growth_margin,
    ),
    Claim(
        "Table II",
        "With 200 users the variants differ by more than a fifth.",
        ("throughput",),
        lambda finished: spread_percent("200", finished) > 20,
        lambda finished: f"{spread_percent('200', finished):.2f} % between best and worst",
        tolerance="20 % between best and worst, the table has 22.8 %",
        grade=lambda finished: Margin(spread_percent("200", finished) - 20, POINTS),
    ),
    Claim(
        "conclusion",
        "TCP meets the needs of a virtual environment with 90 users.",
        ("updates",),
        lambda finished: all(
            value.mean >= 95
            for value in finished.values(WITHIN_100, "updates", "choice.tcp", count=90).values()
        ),
        lambda finished: listed(
            finished.values(WITHIN_100, "updates", "choice.tcp", count=90), 1, "% within 100 ms"
        ),
        tolerance="95 % of the updates within 100 ms, with every variant",
        grade=lambda finished: Margin(
            min(
                value.mean
                for value in finished.values(WITHIN_100, "updates", "choice.tcp", count=90).values()
            )
            - 95,
            POINTS,
        ),
        needs=("points",),
        settled="no",
    ),
)
