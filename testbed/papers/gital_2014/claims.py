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


def first(source: str, users: str, tcp: str, name: str) -> Claim:
    """A variant is the first with so many users."""
    return Claim(
        source,
        f"With {users} users {name} has the highest throughput.",
        ("throughput",),
        partial(is_first, users, tcp),
        partial(throughputs, users),
        tolerance="95 % intervals apart",
        grade=partial(first_margin, users, tcp),
        needs=("length",),
    )


CLAIMS: Final[tuple[Claim, ...]] = (
    first("section VI", "200", "vegas", "Vegas"),
    first("Table II", "200", "newreno", "NewReno"),
    first("section VI", "600", "newreno", "NewReno"),
    first("Table II", "600", "vegas", "Vegas"),
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
