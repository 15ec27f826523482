"""Islam et al. 2009: the claims, and how each is judged."""

from __future__ import annotations

from functools import partial
from typing import Final

from narrows.testbed.papers.islam_2009.measures import (
    BANDWIDTH,
    DELAY,
    PACKETS,
    RATE,
    largest_window,
    leads,
    same,
    table_text,
    window_text,
)
from narrows.testbed.papers.paper import (
    Claim,
)

CLAIMS: Final[tuple[Claim, ...]] = (
    Claim(
        "Table 1",
        "Tahoe, Reno, NewReno, Sack1 and Vegas receive the same.",
        ("bandwidth",),
        partial(same, "bandwidth", BANDWIDTH, ("Tahoe", "Reno", "Newreno", "Sack1", "Vegas")),
        partial(table_text, "bandwidth", BANDWIDTH),
    ),
    Claim(
        "Table 4",
        "NewrenoASYM is the best against bandwidth.",
        ("bandwidth",),
        partial(leads, {"NewrenoAsym"}, "bandwidth", BANDWIDTH),
        partial(table_text, "bandwidth", BANDWIDTH),
    ),
    Claim(
        "Table 4",
        "Vegas is the best against delay.",
        ("delay",),
        partial(leads, {"Vegas"}, "delay", DELAY),
        partial(table_text, "delay", DELAY),
    ),
    Claim(
        "Table 4",
        "Sack1, Fack and NewrenoASYM are the best against rate (with NewReno, as Table 3 has it).",
        ("rate",),
        partial(leads, {"Newreno", "NewrenoAsym", "Sack1", "Fack"}, "rate", RATE),
        partial(table_text, "rate", RATE),
    ),
    Claim(
        "Table 4",
        "NewrenoASYM uses the buffer best (taken as: the largest mean window).",
        ("rate",),
        largest_window,
        window_text,
    ),
    Claim(
        "section C",
        "Packets grow with the rate up to a saturation (taken as: 15 and 20 Mb/s within 1 %).",
        ("rate",),
        lambda finished: all(
            abs(
                finished.value(PACKETS, "rate", source=source, rate="20Mbps").mean
                / finished.value(PACKETS, "rate", source=source, rate="15Mbps").mean
                - 1
            )
            < 0.01
            for source in finished.swept("rate", "choice.source")
        ),
        partial(table_text, "rate", RATE),
    ),
)
