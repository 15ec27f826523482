"""Wang et al. 2013: the experiments, and the tables and figures made of them."""

from __future__ import annotations

from functools import partial
from typing import Final

from narrows.testbed.papers.paper import (
    Curves,
    Experiment,
    Number,
    Table,
)
from narrows.testbed.papers.wang_2013.measures import (
    DEVIATION,
    FAR,
    NEAR,
    RISE,
    THROUGHPUT,
    TRANSFER,
    deviation_mb_per_s,
    per_second,
)

QUICK_TCP: Final = (
    "app-tcp", "bic", "cubic", "hstcp", "stcp", "htcp", "hybla", "westwood", "vegas", "veno",
)  # fmt: skip

INTERNATIONAL: Final = {"app-tcp": 850, "htcp": 500, "hybla": 500, "westwood": 500}
"""Rates over 139 ms, in Mb/s: "around 850", "about 500"."""
SECTION_5_1: Final = "the rate that section 5.1 gives"

EXPERIMENTS: Final[tuple[Experiment, ...]] = (
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
        "Fig. 8 and 10: each variant for one minute, 1 Gb/s with 139 and 20 ms",
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
)

TABLES: Final[tuple[Table, ...]] = (
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
        "Throughput against a flow of BIC",
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
        "Throughput over one minute",
        "Fig. 8 (text)",
        "dynamic",
        THROUGHPUT,
        "choice.tcp",
        "choice.path",
        {
            **{tcp: {"international": level} for tcp, level in INTERNATIONAL.items()},
            "app-tcp": {"international": 850, "national": 900},
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
)

CURVES: Final[tuple[Curves, ...]] = (
    Curves(
        "figure-8a",
        "Throughput per second, 139 ms",
        "Fig. 8a",
        "dynamic",
        "choice.tcp",
        FAR,
        "Time (s)",
        "Throughput (Mb/s)",
        per_second,
        INTERNATIONAL,
        SECTION_5_1,
    ),
    Curves(
        "figure-8b",
        "Throughput per second, 20 ms",
        "Fig. 8b",
        "dynamic",
        "choice.tcp",
        NEAR,
        "Time (s)",
        "Throughput (Mb/s)",
        per_second,
        {"app-tcp": 900},
        SECTION_5_1,
    ),
)

NUMBERS: Final[tuple[Number, ...]] = (
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
)
