"""Islam et al. 2009: the claims, and how each is judged."""

from __future__ import annotations

from functools import partial
from typing import Final

from narrows.testbed.papers.islam_2009.measures import (
    BANDWIDTH,
    DELAY,
    RATE,
    largest_window,
    lead_margin,
    leads,
    same,
    saturation_distance,
    spread,
    table_text,
    window_margin,
    window_text,
)
from narrows.testbed.papers.paper import (
    Claim,
)


def best(text: str, sources: set[str], experiment: str, key: str) -> Claim:
    """Sources receive the most at every value of a key."""
    return Claim(
        "Table 4",
        text,
        (experiment,),
        partial(leads, sources, experiment, key),
        partial(table_text, experiment, key),
        tolerance="within 0.1 % of the most at every value, and no other source",
        grade=partial(lead_margin, sources, experiment, key),
    )


CLAIMS: Final[tuple[Claim, ...]] = (
    Claim(
        "Table 1",
        "Tahoe, Reno, NewReno, Sack1 and Vegas receive the same.",
        ("bandwidth",),
        partial(same, "bandwidth", BANDWIDTH, ("Tahoe", "Reno", "Newreno", "Sack1", "Vegas")),
        partial(table_text, "bandwidth", BANDWIDTH),
        tolerance="one packet",
        grade=partial(
            spread, "bandwidth", BANDWIDTH, ("Tahoe", "Reno", "Newreno", "Sack1", "Vegas")
        ),
    ),
    best("NewrenoASYM is the best against bandwidth.", {"NewrenoAsym"}, "bandwidth", BANDWIDTH),
    best("Vegas is the best against delay.", {"Vegas"}, "delay", DELAY),
    best(
        "Sack1, Fack and NewrenoASYM are the best against rate (with NewReno, as Table 3 has it).",
        {"Newreno", "NewrenoAsym", "Sack1", "Fack"},
        "rate",
        RATE,
    ),
    Claim(
        "Table 4",
        "NewrenoASYM uses the buffer best.",
        ("rate",),
        largest_window,
        window_text,
        tolerance="the largest mean window at 5 Mb/s",
        grade=window_margin,
    ),
    Claim(
        "section C",
        "Packets grow with the rate up to a saturation.",
        ("rate",),
        lambda finished: saturation_distance(finished).amount < 1,
        partial(table_text, "rate", RATE),
        tolerance="20 Mb/s within 1 % of 15 Mb/s, for every source",
        grade=saturation_distance,
    ),
)
