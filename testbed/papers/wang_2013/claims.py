"""Wang et al. 2013: the claims, and how each is judged."""

from __future__ import annotations

from functools import partial
from typing import Final

from narrows.analysis.estimate import greater
from narrows.testbed.papers.grade import POINTS, Count, Margin, above, lead, least, off_target
from narrows.testbed.papers.paper import (
    Claim,
)
from narrows.testbed.papers.wang_2013.measures import (
    CLOSE,
    DEVIATION,
    FAR,
    NEAR,
    PATHS,
    RISE,
    SETTLED,
    THROUGHPUT,
    TRANSFER,
    Point,
    app_first_vegas_last,
    beside_bic,
    beside_margin,
    best_at_every_loss,
    by_delay,
    by_path,
    compared,
    extreme,
    falling,
    holds_rates,
    kept_at_1e_4,
    less_stable_abroad,
    less_stable_count,
    ranked,
    rate_distance,
    rates,
    round_trips,
    shares,
    transfer_margin,
)

DELAY_BASED: Final = {"vegas", "veno"}


def fastest_or_slowest(text: str, variants: set[str], path: Point, *, last: bool = False) -> Claim:
    """Variants have the highest or, with `last`, the lowest throughput over a path."""
    return Claim(
        "section 5.1",
        text,
        ("dynamic",),
        lambda finished: extreme(variants, THROUGHPUT, "dynamic", finished, last=last, **path),
        lambda finished: ranked(THROUGHPUT, "dynamic", finished, **path),
        tolerance="means compared",
        grade=lambda finished: lead(
            compared(THROUGHPUT, "dynamic", finished, **path), variants, last=last
        ),
        needs=("length",),
    )


CLAIMS: Final[tuple[Claim, ...]] = (
    Claim(
        "section 4.1",
        "The difference between required and actual rate is quite small.",
        ("required-rate",),
        partial(holds_rates, "required-rate"),
        partial(rates, "required-rate"),
        tolerance="each rate at most 5 % off",
        grade=partial(rate_distance, "required-rate"),
    ),
    Claim(
        "section 4.1",
        "The same holds after the start.",
        ("required-rate",),
        partial(holds_rates, "required-rate", quantity=SETTLED),
        partial(rates, "required-rate", quantity=SETTLED),
        tolerance="after 10 s, each rate at most 5 % off",
        grade=partial(rate_distance, "required-rate", quantity=SETTLED),
    ),
    Claim(
        "section 4.2",
        "AppTCP keeps about 600 Mb/s from 2 to 512 ms.",
        ("round-trip",),
        lambda finished: all(value.mean >= 540 for value in by_delay("app-tcp", finished).values()),
        partial(round_trips, "app-tcp"),
        tolerance="540 Mb/s at least, 10 % below",
        grade=lambda finished: off_target(
            (min(value.mean, 600), 600) for value in by_delay("app-tcp", finished).values()
        ),
        needs=("length",),
        settled="yes",
    ),
    Claim(
        "section 4.2",
        "Nearly all other variants fall with the round trip.",
        ("round-trip",),
        lambda finished: (
            len(falling(finished)) >= len(compared(THROUGHPUT, "round-trip", finished)) - 2
        ),
        lambda finished: (
            f"falling: {', '.join(falling(finished))}; Reno: {round_trips('reno', finished)}"
        ),
        tolerance="all but two; 95 % intervals at the shortest and the longest apart",
        grade=lambda finished: Count(
            len(falling(finished)),
            len(compared(THROUGHPUT, "round-trip", finished)) - 1,
            "other variants",
        ),
        needs=("length",),
    ),
    Claim(
        "section 4.3",
        "AppTCP is the fastest at every loss probability.",
        ("loss",),
        best_at_every_loss,
        lambda finished: "; ".join(
            f"{loss:g}: {ranked(THROUGHPUT, 'loss', finished, loss=loss)}"
            for loss in finished.swept("loss", "bottleneck.loss")
        ),
        tolerance="means compared",
        grade=lambda finished: least(
            lead(compared(THROUGHPUT, "loss", finished, loss=loss), {"app-tcp"})
            for loss in finished.swept("loss", "bottleneck.loss")
        ),
        needs=("length", "seeds"),
    ),
    Claim(
        "section 4.3",
        "CUBIC and HSTCP degrade significantly with losses.",
        ("loss",),
        lambda finished: max(kept_at_1e_4(tcp, finished) for tcp in ("cubic", "hstcp")) < 50,
        lambda finished: ", ".join(
            f"{tcp} keeps {kept_at_1e_4(tcp, finished):.1f} %"
            for tcp in ("app-tcp", "cubic", "hstcp")
        ),
        tolerance="below 50 % of the throughput without losses at 1e-4",
        grade=lambda finished: Margin(
            50 - max(kept_at_1e_4(tcp, finished) for tcp in ("cubic", "hstcp")), POINTS
        ),
        needs=("length", "seeds"),
    ),
    Claim(
        "section 4.4",
        "CUBIC and HSTCP are too mild against BIC.",
        ("friendliness",),
        lambda finished: all(
            greater(*reversed(beside_bic(tcp, finished))) for tcp in ("cubic", "hstcp")
        ),
        lambda finished: shares(finished, "cubic", "hstcp"),
        tolerance="BIC has more than either",
        grade=lambda finished: least(
            beside_margin(tcp, finished, rival=True) for tcp in ("cubic", "hstcp")
        ),
        needs=("length",),
    ),
    Claim(
        "section 4.4",
        "STCP grabs excessive bandwidth from BIC.",
        ("friendliness",),
        lambda finished: greater(*beside_bic("stcp", finished)),
        lambda finished: shares(finished, "stcp"),
        tolerance="STCP has more than BIC",
        grade=partial(beside_margin, "stcp"),
        needs=("length",),
    ),
    Claim(
        "section 4.4",
        "AppTCP takes the required 256 Mb/s and BIC the rest.",
        ("friendliness",),
        lambda finished: (
            abs(beside_bic("app-tcp", finished)[0].mean / 256 - 1) <= CLOSE
            and sum(each.mean for each in beside_bic("app-tcp", finished)) >= 0.9 * 605
        ),
        lambda finished: shares(finished, "app-tcp"),
        tolerance="AppTCP at most 5 % off, both together above 90 % of 605 Mb/s",
        grade=lambda finished: off_target([(beside_bic("app-tcp", finished)[0].mean, 256)]),
        needs=("length",),
    ),
    Claim(
        "section 5.1",
        "Over 139 ms AppTCP rises quickly.",
        ("dynamic",),
        lambda finished: finished.value(RISE, "dynamic", tcp="app-tcp", **FAR).mean <= 5,
        lambda finished: ranked(RISE, "dynamic", finished, **FAR),
        tolerance="765 Mb/s within 5 s",
        grade=lambda finished: Margin(
            5 - finished.value(RISE, "dynamic", tcp="app-tcp", **FAR).mean, "s"
        ),
    ),
    fastest_or_slowest("Over 139 ms AppTCP is the fastest.", {"app-tcp"}, FAR),
    fastest_or_slowest("Over 139 ms Vegas and Veno are the slowest.", DELAY_BASED, FAR, last=True),
    fastest_or_slowest("Over 20 ms AppTCP is the fastest.", {"app-tcp"}, NEAR),
    fastest_or_slowest("Over 20 ms Vegas and Veno are the slowest.", DELAY_BASED, NEAR, last=True),
    Claim(
        "section 5.1",
        "Westwood is much slower over 20 ms than over 139 ms.",
        ("dynamic",),
        lambda finished: greater(
            finished.value(THROUGHPUT, "dynamic", tcp="westwood", **FAR),
            finished.value(THROUGHPUT, "dynamic", tcp="westwood", **NEAR),
        ),
        partial(by_path, "westwood"),
        tolerance="any difference",
        grade=lambda finished: above(
            finished.value(THROUGHPUT, "dynamic", tcp="westwood", **FAR).mean,
            finished.value(THROUGHPUT, "dynamic", tcp="westwood", **NEAR).mean,
        ),
        needs=("length",),
    ),
    Claim(
        "section 5.2",
        "2 GB over 139 ms take least with AppTCP and most with Vegas.",
        ("transfer",),
        partial(app_first_vegas_last, **FAR),
        partial(ranked, TRANSFER, "transfer", **FAR),
        tolerance="means compared",
        grade=partial(transfer_margin, **FAR),
        needs=("length", "seeds"),
    ),
    Claim(
        "section 5.2",
        "2 GB over 20 ms take least with AppTCP and most with Vegas.",
        ("transfer",),
        partial(app_first_vegas_last, **NEAR),
        partial(ranked, TRANSFER, "transfer", **NEAR),
        tolerance="means compared",
        grade=partial(transfer_margin, **NEAR),
        needs=("length", "seeds"),
    ),
    Claim(
        "section 5.3",
        "AppTCP is the most stable on both paths.",
        ("dynamic",),
        lambda finished: all(
            extreme({"app-tcp"}, DEVIATION, "dynamic", finished, last=True, **path)
            for path in PATHS
        ),
        lambda finished: "; ".join(
            f"{path['path']}: {ranked(DEVIATION, 'dynamic', finished, **path)}" for path in PATHS
        ),
        tolerance="least standard deviation, means compared",
        grade=lambda finished: least(
            lead(compared(DEVIATION, "dynamic", finished, **path), {"app-tcp"}, last=True)
            for path in PATHS
        ),
        needs=("length",),
    ),
    Claim(
        "section 5.3",
        "Variants are less stable over 139 ms than over 20 ms.",
        ("dynamic",),
        less_stable_abroad,
        lambda finished: "; ".join(
            f"{path['path']}: {ranked(DEVIATION, 'dynamic', finished, **path)}" for path in PATHS
        ),
        tolerance="more than half of them",
        grade=less_stable_count,
        needs=("length",),
    ),
    Claim(
        "section 5.4",
        "The difference between required and actual rate is small on both paths.",
        ("rate-control",),
        lambda finished: all(holds_rates("rate-control", finished, **path) for path in PATHS),
        lambda finished: "; ".join(
            f"{path['path']}: {rates('rate-control', finished, **path)}" for path in PATHS
        ),
        tolerance="each rate at most 5 % off",
        grade=lambda finished: max(
            (rate_distance("rate-control", finished, **path) for path in PATHS),
            key=lambda distance: distance.amount,
        ),
        needs=("length",),
        settled="yes",
    ),
)
