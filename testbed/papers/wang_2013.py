"""Wang et al. 2013: AppTCP on an emulated and on two real fast long-distance networks.

The paper prints no table: its numbers are those of the text. Rates are payload.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from narrows.analysis.estimate import greater
from narrows.testbed.papers.found import shown
from narrows.testbed.papers.paper import (
    Alternative,
    Assumption,
    Claim,
    Curves,
    Experiment,
    Finding,
    Number,
    Paper,
    Table,
)
from narrows.testbed.papers.wang_measures import (
    CLOSE,
    DEVIATION,
    FAR,
    NEAR,
    PATHS,
    RISE,
    SETTLED,
    THROUGHPUT,
    TRANSFER,
    app_first_vegas_last,
    beside_bic,
    best_at_every_loss,
    by_delay,
    by_path,
    compared,
    deviation_mb_per_s,
    extreme,
    falling,
    held_window,
    holds_rates,
    kept_at_1e_4,
    less_stable_abroad,
    per_second,
    ranked,
    rates,
    round_trips,
    shares,
)

QUICK_TCP: Final = (
    "app-tcp", "bic", "cubic", "hstcp", "stcp", "htcp", "hybla", "westwood", "vegas", "veno",
)  # fmt: skip

PAPER: Final = Paper(
    name="wang-2013",
    title="AppTCP for e-VLBI in fast long-distance networks",
    reference=(
        "Wang, Wu, Dou, Ren, Li: AppTCP: The Design and Evaluation of Application-based TCP for "
        "e-VLBI in Fast Long Distance Networks, 2013"
    ),
    experiments=(
        Experiment(
            "required-rate",
            "Fig. 3: AppTCP's required and actual rate, 622 Mb/s and 300 ms",
            "wang-2013/required-rate.toml",
            quick=(("sweep.flow.params.rate_mbps", [100, 300, 600]),),
        ),
        Experiment(
            "round-trip",
            "Fig. 4: throughput against the round trip, 622 Mb/s",
            "wang-2013/round-trip.toml",
            quick=(
                ("sweep.bottleneck.delay", ["1ms", "16ms", "150ms"]),
                ("sweep.choice.tcp", ["app-tcp", "bic", "cubic", "hstcp", "vegas", "reno"]),
                ("flow.app.bytes", "1GB"),
            ),
            sensitivity=(
                ("sweep.bottleneck.delay", ["1ms", "150ms"]),
                ("sweep.choice.tcp", ["app-tcp", "cubic", "reno"]),
                ("flow.app.bytes", "1GB"),
            ),
        ),
        Experiment(
            "loss",
            "Fig. 5: throughput against random loss, 622 Mb/s and 300 ms",
            "wang-2013/loss.toml",
            quick=(
                ("sweep.bottleneck.loss", [0.0, 1e-5, 1e-4]),
                ("sweep.choice.tcp", ["app-tcp", "bic", "cubic", "hstcp", "stcp", "hybla"]),
                ("flow.app.bytes", "500MB"),
                ("sweep.repeat", 2),
            ),
        ),
        Experiment(
            "friendliness",
            "Fig. 6: each variant against BIC, 622 Mb/s and 300 ms",
            "wang-2013/friendliness.toml",
            quick=(
                ("sweep.choice.tcp", ["app-tcp", "cubic", "hstcp", "stcp"]),
                ("duration", "60s"),
            ),
        ),
        Experiment(
            "dynamic",
            "Fig. 8 and 10: a minute of each variant, 1 Gb/s with 139 and 20 ms",
            "wang-2013/dynamic.toml",
            quick=(("sweep.choice.tcp", list(QUICK_TCP)), ("duration", "20s")),
            sensitivity=(
                ("sweep.choice.tcp", ["app-tcp", "htcp", "hybla", "vegas", "veno"]),
                ("sweep.choice.path", ["international"]),
                ("duration", "20s"),
            ),
        ),
        Experiment(
            "transfer",
            "Fig. 9: 2 GB over both paths, five times",
            "wang-2013/transfer.toml",
            quick=(
                ("sweep.choice.tcp", ["app-tcp", "bic", "hstcp", "htcp", "hybla", "vegas"]),
                ("flow.app.bytes", "500MB"),
                ("sweep.repeat", 2),
            ),
        ),
        Experiment(
            "rate-control",
            "Fig. 11: AppTCP's required and actual rate, 1 Gb/s with 139 and 20 ms",
            "wang-2013/rate-control.toml",
            quick=(("sweep.flow.params.rate_mbps", [100, 400, 800]), ("duration", "20s")),
        ),
    ),
    tables=(
        Table(
            "required-rate",
            "Required and actual rate, emulated",
            "Fig. 3 (text: equal)",
            "required-rate",
            THROUGHPUT,
            "flow.params.rate_mbps",
            None,
            {rate: rate for rate in range(100, 700, 100)},
        ),
        Table(
            "round-trip",
            "Throughput against half the round trip",
            "Fig. 4 (text: about 600)",
            "round-trip",
            THROUGHPUT,
            "choice.tcp",
            "bottleneck.delay",
            {
                "app-tcp": dict.fromkeys(
                    ["1ms", "2ms", "4ms", "8ms", "16ms", "32ms", "64ms", "128ms", "256ms"], 600
                )
            },
        ),
        Table(
            "loss",
            "Throughput against random loss",
            "Fig. 5 (text)",
            "loss",
            THROUGHPUT,
            "choice.tcp",
            "bottleneck.loss",
            {"app-tcp": {0.0: 610}},
        ),
        Table(
            "friendliness",
            "Throughput beside a flow of BIC",
            "Fig. 6 (text)",
            "friendliness",
            THROUGHPUT,
            "choice.tcp",
            None,
            {"app-tcp": 256},
            "bars",
        ),
        Table(
            "dynamic",
            "Throughput of a minute",
            "Fig. 8 (text)",
            "dynamic",
            THROUGHPUT,
            "choice.tcp",
            "choice.path",
            {
                "app-tcp": {"international": 850, "national": 900},
                "htcp": {"international": 500},
                "hybla": {"international": 500},
                "westwood": {"international": 500},
            },
            "bars",
        ),
        Table(
            "transfer",
            "Throughput of a transfer of 2 GB",
            "Fig. 9 (text)",
            "transfer",
            TRANSFER,
            "choice.tcp",
            "choice.path",
            {"app-tcp": {"international": 650, "national": 900}},
            "bars",
        ),
        Table(
            "deviation",
            "Standard deviation of the throughput",
            "Fig. 10",
            "dynamic",
            DEVIATION,
            "choice.tcp",
            "choice.path",
            {},
            "bars",
        ),
        Table(
            "rise",
            "Time to 90 % of 850 Mb/s",
            "not in the paper",
            "dynamic",
            RISE,
            "choice.tcp",
            "choice.path",
            {},
            "bars",
        ),
        Table(
            "rate-control",
            "Required and actual rate, two paths",
            "Fig. 11 (text: equal)",
            "rate-control",
            THROUGHPUT,
            "choice.path",
            "flow.params.rate_mbps",
            {
                path: {rate: rate for rate in range(100, 900, 100)}
                for path in ("international", "national")
            },
        ),
    ),
    curves=(
        Curves(
            "figure-8a",
            "Throughput a second, 139 ms",
            "Fig. 8a",
            "dynamic",
            "choice.tcp",
            FAR,
            "Time (s)",
            "Throughput (Mb/s)",
            per_second,
        ),
        Curves(
            "figure-8b",
            "Throughput a second, 20 ms",
            "Fig. 8b",
            "dynamic",
            "choice.tcp",
            NEAR,
            "Time (s)",
            "Throughput (Mb/s)",
            per_second,
        ),
    ),
    numbers=(
        Number(
            "Fig. 10a",
            "standard deviation, app-tcp, at most",
            "MB/s (unit ours)",
            0.1,
            "dynamic",
            partial(deviation_mb_per_s, "app-tcp", path="international"),
            2,
        ),
        Number(
            "Fig. 10b",
            "standard deviation, app-tcp, at most",
            "MB/s (unit ours)",
            0.1,
            "dynamic",
            partial(deviation_mb_per_s, "app-tcp", path="national"),
            2,
        ),
        Number(
            "Fig. 10a",
            "standard deviation, hybla",
            "MB/s (unit ours)",
            15,
            "dynamic",
            partial(deviation_mb_per_s, "hybla", path="international"),
            2,
        ),
    ),
    claims=(
        Claim(
            "section 4.1",
            "The difference between required and actual rate is quite small "
            "(taken as: at most 5 %).",
            ("required-rate",),
            partial(holds_rates, "required-rate"),
            partial(rates, "required-rate"),
        ),
        Claim(
            "section 4.1",
            "The same once it has started (taken as: after 10 s).",
            ("required-rate",),
            partial(holds_rates, "required-rate", quantity=SETTLED),
            partial(rates, "required-rate", quantity=SETTLED),
        ),
        Claim(
            "section 4.2",
            "AppTCP keeps about 600 Mb/s from 2 to 512 ms (taken as: 540 at least).",
            ("round-trip",),
            lambda found: all(value.mean >= 540 for value in by_delay("app-tcp", found).values()),
            partial(round_trips, "app-tcp"),
        ),
        Claim(
            "section 4.2",
            "Nearly all other variants fall with the round trip.",
            ("round-trip",),
            lambda found: len(falling(found)) >= len(compared(THROUGHPUT, "round-trip", found)) - 2,
            lambda found: (
                f"they fall: {', '.join(falling(found))}; Reno: {round_trips('reno', found)}"
            ),
        ),
        Claim(
            "section 4.3",
            "AppTCP is the fastest at every loss probability.",
            ("loss",),
            best_at_every_loss,
            lambda found: "; ".join(
                f"{loss:g}: {ranked(THROUGHPUT, 'loss', found, loss=loss)}"
                for loss in found.swept("loss", "bottleneck.loss")
            ),
        ),
        Claim(
            "section 4.3",
            "CUBIC and HSTCP degrade significantly with losses (taken as: below half at 1e-4).",
            ("loss",),
            lambda found: max(kept_at_1e_4(tcp, found) for tcp in ("cubic", "hstcp")) < 50,
            lambda found: ", ".join(
                f"{tcp} keeps {kept_at_1e_4(tcp, found):.1f} %"
                for tcp in ("app-tcp", "cubic", "hstcp")
            ),
        ),
        Claim(
            "section 4.4",
            "CUBIC and HSTCP are too mild against BIC.",
            ("friendliness",),
            lambda found: all(
                greater(*reversed(beside_bic(tcp, found))) for tcp in ("cubic", "hstcp")
            ),
            lambda found: shares(found, "cubic", "hstcp"),
        ),
        Claim(
            "section 4.4",
            "STCP grabs excessive bandwidth from BIC.",
            ("friendliness",),
            lambda found: greater(*beside_bic("stcp", found)),
            lambda found: shares(found, "stcp"),
        ),
        Claim(
            "section 4.4",
            "AppTCP takes the required 256 Mb/s and BIC the rest (taken as: AppTCP "
            "within 5 %, both together above 90 % of 605 Mb/s).",
            ("friendliness",),
            lambda found: (
                abs(beside_bic("app-tcp", found)[0].mean / 256 - 1) <= CLOSE
                and sum(each.mean for each in beside_bic("app-tcp", found)) >= 0.9 * 605
            ),
            lambda found: shares(found, "app-tcp"),
        ),
        Claim(
            "section 5.1",
            "Over 139 ms AppTCP rises quickly (taken as: 765 Mb/s within 5 s).",
            ("dynamic",),
            lambda found: found.value(RISE, "dynamic", tcp="app-tcp", **FAR).mean <= 5,
            lambda found: ranked(RISE, "dynamic", found, **FAR),
        ),
        Claim(
            "section 5.1",
            "Over 139 ms AppTCP is the fastest.",
            ("dynamic",),
            lambda found: extreme({"app-tcp"}, THROUGHPUT, "dynamic", found, last=False, **FAR),
            lambda found: ranked(THROUGHPUT, "dynamic", found, **FAR),
        ),
        Claim(
            "section 5.1",
            "Over 139 ms Vegas and Veno are the slowest.",
            ("dynamic",),
            lambda found: extreme(
                {"vegas", "veno"}, THROUGHPUT, "dynamic", found, last=True, **FAR
            ),
            lambda found: ranked(THROUGHPUT, "dynamic", found, **FAR),
        ),
        Claim(
            "section 5.1",
            "Over 20 ms AppTCP is the fastest.",
            ("dynamic",),
            lambda found: extreme({"app-tcp"}, THROUGHPUT, "dynamic", found, last=False, **NEAR),
            lambda found: ranked(THROUGHPUT, "dynamic", found, **NEAR),
        ),
        Claim(
            "section 5.1",
            "Over 20 ms Vegas and Veno are the slowest.",
            ("dynamic",),
            lambda found: extreme(
                {"vegas", "veno"}, THROUGHPUT, "dynamic", found, last=True, **NEAR
            ),
            lambda found: ranked(THROUGHPUT, "dynamic", found, **NEAR),
        ),
        Claim(
            "section 5.1",
            "Westwood is much slower over 20 ms than over 139 ms.",
            ("dynamic",),
            lambda found: greater(
                found.value(THROUGHPUT, "dynamic", tcp="westwood", **FAR),
                found.value(THROUGHPUT, "dynamic", tcp="westwood", **NEAR),
            ),
            partial(by_path, "westwood"),
        ),
        Claim(
            "section 5.2",
            "2 GB over 139 ms are fastest with AppTCP and slowest with Vegas.",
            ("transfer",),
            partial(app_first_vegas_last, **FAR),
            partial(ranked, TRANSFER, "transfer", **FAR),
        ),
        Claim(
            "section 5.2",
            "2 GB over 20 ms are fastest with AppTCP and slowest with Vegas.",
            ("transfer",),
            partial(app_first_vegas_last, **NEAR),
            partial(ranked, TRANSFER, "transfer", **NEAR),
        ),
        Claim(
            "section 5.3",
            "AppTCP is the most stable on both paths.",
            ("dynamic",),
            lambda found: all(
                extreme({"app-tcp"}, DEVIATION, "dynamic", found, last=True, **path)
                for path in PATHS
            ),
            lambda found: "; ".join(
                f"{path['path']}: {ranked(DEVIATION, 'dynamic', found, **path)}" for path in PATHS
            ),
        ),
        Claim(
            "section 5.3",
            "Variants are less stable over 139 ms than over 20 ms (most of them).",
            ("dynamic",),
            less_stable_abroad,
            lambda found: "; ".join(
                f"{path['path']}: {ranked(DEVIATION, 'dynamic', found, **path)}" for path in PATHS
            ),
        ),
        Claim(
            "section 5.4",
            "The difference between required and actual rate is small on both "
            "paths (taken as: at most 5 %).",
            ("rate-control",),
            lambda found: all(holds_rates("rate-control", found, **path) for path in PATHS),
            lambda found: "; ".join(
                f"{path['path']}: {rates('rate-control', found, **path)}" for path in PATHS
            ),
        ),
    ),
    assumptions=(
        Assumption(
            "loss on the path",
            "a packet in 100,000",
            "The real paths' losses are not stated.",
            (
                Alternative("none", {"dynamic": (("bottleneck.loss", 0.0),)}),
                Alternative("1e-4", {"dynamic": (("bottleneck.loss", 1e-4),)}),
            ),
        ),
        Assumption(
            "the sender's interface",
            "1 Gb/s, with a queue of its own that drops nothing",
            "Not stated; a disk of 333 MB/s would allow for 10 Gb/s.",
            (
                Alternative(
                    "10 Gb/s, bursts meet the path's queue of 1,000 packets",
                    {"dynamic": (("access.rate", "10Gbps"),)},
                ),
            ),
        ),
        Assumption(
            "others on the path",
            "none",
            "The real paths' traffic is not stated.",
            (
                Alternative(
                    "a TCP with bursts of 100 Mb/s, half a second each",
                    {"dynamic": (("choice.cross", "bursts"),)},
                ),
            ),
        ),
        Assumption(
            "the emulator's queue",
            "one bandwidth-delay product",
            "Not stated.",
            (
                Alternative(
                    "1,000 packets", {"round-trip": (("bottleneck.queue", "1000packets"),)}
                ),
                Alternative("a quarter", {"round-trip": (("bottleneck.queue", "0.25bdp"),)}),
            ),
        ),
        Assumption(
            "AppTCP's target",
            "600 Mb/s in Fig. 4, 610 in Fig. 5, 900 in Fig. 8 and 9",
            "Printed for Fig. 3, 6 and 11 only; the others are read off the curves' description.",
        ),
        Assumption(
            "Linux 2.6.18",
            "a first window of 3 segments; BIC and CUBIC leave slow start at 100; CUBIC's 0.8",
            "What that kernel's sources had; its rate halving and its recovery are not ours.",
        ),
    ),
    findings=(
        Finding(
            "What AppTCP misses is its start",
            "2 GB at 600 Mb/s take 27 s, and slow start over 300 ms needs twelve round trips to "
            "reach the window: the mean of the transfer is below the required rate, more so the "
            "higher that is. After 10 s the rate is the required one.",
            ("required-rate",),
            partial(rates, "required-rate", quantity=SETTLED),
        ),
        Finding(
            "Vegas and Veno are slow only beside others",
            "Both judge the queue by the round trip. The paper's two paths carried other traffic "
            "and their round trips moved by 1 ms, which Vegas, at this rate, takes for 80 of its "
            "own packets where it wants 2 to 4; ours have no others but in one of the alternatives "
            "above, bursts of 100 Mb/s.",
            ("dynamic",),
            partial(ranked, THROUGHPUT, "dynamic", **FAR),
        ),
        Finding(
            "Alone, Vegas leaves slow start by a loss",
            "The queue of one bandwidth-delay product fills in the last round of slow start, "
            "whose least round trip still is the empty path's: Vegas sees no queue and loses 0.19 "
            "to 0.36 of its window (16 to 128 ms). What follows is the repair's luck, not Vegas's "
            "rule. An earlier reproduction had 298 Mb/s at 32 ms: a slow start of ours that "
            "missed an ACK a round overshot to 7,171 segments, two time-outs followed, and "
            "samples of the full queue ended slow start at two segments, from where one a round "
            "trip took 53 s. Either mended alone makes it 598 or 580.",
            ("round-trip",),
            partial(round_trips, "vegas"),
        ),
        Finding(
            "AppTCP needs a queue that takes its slow start",
            "It doubles its window up to cwnd_base, 15,411 segments at 600 Mb/s and 300 ms, and a "
            "loss sets it back to no less. Where the bottleneck's queue is far below that, the "
            "burst is lost and sent again as a burst.",
            ("round-trip",),
            partial(round_trips, "app-tcp"),
        ),
        Finding(
            "610 Mb/s are not payload",
            "622 Mb/s of IP packets of 1,500 B carry 605 Mb/s of payload. A value of 610 counts "
            "headers, or the emulator did not.",
            ("loss",),
            lambda found: (
                "without losses: "
                + shown(found.value(THROUGHPUT, "loss", tcp="app-tcp", loss=0.0), 1)
                + " Mb/s"
            ),
        ),
        Finding(
            "HSTCP has the path before BIC climbs",
            "In Linux 2.6.18 BIC and CUBIC leave slow start at 100 segments, HSTCP does not: it "
            "doubles up to the path's 15,500, and BIC, which then adds at most 16 a round trip, "
            "finds the queue full. The paper has HSTCP below BIC and does not say who began.",
            ("friendliness",),
            lambda found: shares(found, "hstcp", "cubic"),
        ),
        Finding(
            "Over 20 ms AppTCP has what it asks for",
            "Its target is 900 Mb/s of payload, and it stays there. BIC asks for all there is, and "
            "a loss takes a fifth of 1,550 segments from it, which 16 a round trip bring back in "
            "some 0.4 s.",
            ("dynamic",),
            partial(ranked, THROUGHPUT, "dynamic", **NEAR),
        ),
        Finding(
            "AppTCP's seconds differ by its repairs, its window hardly does",
            "A second's throughput is what was acknowledged in sequence. That stands still for "
            "the round trip of a repair and catches up after it, so that a second which ends in "
            "between gives up to 0.139 s x 900 Mb/s = 125 Mb to the next: 780 Mb/s are followed "
            "by 1,016, 798 by 998. With no loss, the one thing changed, 42 Mb/s become 2.5 over "
            "139 ms (with a row each 10 ms; the runs above have one a second) and 2.1 become 0.3 "
            "(0.03 MB/s) over 20 ms. A minute without a loss is what the paper's 0.1 would take "
            "on the latter path; its unit it does not say. Over 139 ms 2.5 Mb/s (0.3 MB/s) are "
            "left, which were not traced. Westwood varies less over 139 ms with a third of the "
            "rate.",
            ("dynamic",),
            partial(held_window, "app-tcp"),
        ),
        Finding(
            "Westwood gains by a short round trip",
            "What its estimate of the rate leaves short after a loss it wins back by one segment "
            "a round trip: seven times as often over 20 ms as over 139, of a window a seventh as "
            "large. What slowed the paper's over 20 ms its text does not say.",
            ("dynamic",),
            partial(by_path, "westwood"),
        ),
    ),
)
