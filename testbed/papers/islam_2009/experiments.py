"""Islam et al. 2009: the experiments, and the tables and figures made of them."""

from __future__ import annotations

from functools import partial
from typing import Final

from narrows.testbed.papers.islam_2009.measures import (
    BANDWIDTH,
    DELAY,
    FIVE_SINKS,
    PACKETS,
    RATE,
    ROUND_TRIP,
    RTT,
    TABLE_1,
    TABLE_2,
    TABLE_3,
    TTL,
    WINDOW,
    best,
    windows,
)
from narrows.testbed.papers.paper import (
    Curves,
    Experiment,
    Pick,
    Table,
)

EXPERIMENTS: Final[tuple[Experiment, ...]] = (
    Experiment(
        "bandwidth",
        "Table 1: packets against bandwidth",
        "islam-2009/bandwidth.toml",
        sensitivity=(
            ("sweep.bottleneck.rate", ["2Mbps", "32Mbps"]),
            ("sweep.choice.source", ["Tahoe", "Newreno", "NewrenoAsym", "Sack1", "Vegas"]),
        ),
    ),
    Experiment("delay", "Table 2: packets against delay", "islam-2009/delay.toml"),
    Experiment(
        "rate",
        "Table 3 and Fig. 4: packets against rate",
        "islam-2009/rate.toml",
        sensitivity=(
            ("sweep.bottleneck.rate", ["5Mbps", "20Mbps"]),
            ("sweep.choice.source", ["Tahoe", "Newreno", "NewrenoAsym", "Sack1", "Vegas"]),
        ),
    ),
    Experiment(
        "ttl",
        "Packets against the time to live, which the abstract names",
        "islam-2009/ttl.toml",
    ),
    Experiment(
        "round-trip",
        "Packets against the round-trip time, which the abstract names",
        "islam-2009/round-trip.toml",
    ),
    Experiment(
        "sources",
        "Sources without SACK, with the five sinks",
        "islam-2009/sources.toml",
        settings=(
            (
                "sweep.choice.source",
                [
                    "Tahoe",
                    "FullTcp",
                    "Asym",
                    "Reno",
                    "RenoAsym",
                    "Newreno",
                    "NewrenoAsym",
                    "Vegas",
                    "VegasRBP",
                ],
            ),
            ("sweep.choice.sink", list(FIVE_SINKS)),
        ),
        optional=("choice.source", "choice.sink"),
    ),
    Experiment(
        "sack-sources",
        "Sources with SACK, with their sinks",
        "islam-2009/sources.toml",
        settings=(
            ("sweep.choice.source", ["Sack1", "Fack"]),
            ("sweep.choice.sink", ["Sack1", "Sack1DelAck"]),
        ),
        optional=("choice.source", "choice.sink"),
    ),
)

TABLES: Final[tuple[Table, ...]] = (
    Table(
        "bandwidth",
        "Packets against bandwidth",
        "Table 1",
        "bandwidth",
        PACKETS,
        "choice.source",
        BANDWIDTH,
        TABLE_1,
    ),
    Table(
        "delay",
        "Packets against delay",
        "Table 2",
        "delay",
        PACKETS,
        "choice.source",
        DELAY,
        TABLE_2,
    ),
    Table(
        "rate",
        "Packets against rate",
        "Table 3",
        "rate",
        PACKETS,
        "choice.source",
        RATE,
        TABLE_3,
    ),
    Table(
        "ttl",
        "Packets against the time to live",
        "named in the abstract, without a result",
        "ttl",
        PACKETS,
        "choice.source",
        TTL,
    ),
    Table(
        "round-trip",
        "Packets against the round-trip time",
        "named in the abstract, without a result",
        "round-trip",
        PACKETS,
        "choice.source",
        ROUND_TRIP,
    ),
    Table(
        "measured-round-trip",
        "Round-trip time that the source measures",
        "not in the paper",
        "round-trip",
        RTT,
        "choice.source",
        ROUND_TRIP,
    ),
    Table(
        "sources",
        "Packets by source and sink: eleven sources, five sinks",
        "not in the paper",
        "sources",
        PACKETS,
        "choice.source",
        "choice.sink",
        plot="map",
        more=("sack-sources",),
        note="Empty: Sack1 and Fack need a sink with SACK.",
    ),
)

CURVES: Final[tuple[Curves, ...]] = (
    Curves(
        "figure-4",
        '"Buffer volume": the window every 0.1 s at 5 Mb/s',
        "Fig. 4",
        "rate",
        "choice.source",
        {"rate": "5Mbps"},
        "Time (s)",
        "cwnd (packets)",
        windows,
    ),
)

PICKS: Final[tuple[Pick, ...]] = (
    Pick(
        "Table 4",
        "packets against bandwidth",
        "NewrenoASYM",
        partial(best, "bandwidth", BANDWIDTH),
    ),
    Pick("Table 4", "packets against delay", "Vegas", partial(best, "delay", DELAY)),
    Pick(
        "Table 4",
        "packets against rate",
        "Sack1, Fack, NewrenoASYM",
        partial(best, "rate", RATE),
    ),
    Pick(
        "Table 4",
        "buffer against time",
        "NewrenoASYM",
        lambda finished: best("rate", RATE, finished, WINDOW),
    ),
    Pick("abstract", "packets against the time to live", None, partial(best, "ttl", TTL)),
    Pick(
        "abstract",
        "packets against the round-trip time",
        None,
        partial(best, "round-trip", ROUND_TRIP),
    ),
)
