"""Gital et al. 2014: the experiments, and the tables and figures made of them."""

from __future__ import annotations

from typing import Final

from narrows.testbed.papers.gital_2014.measures import (
    JITTER,
    SUPERSEDED,
    TABLE_II,
    THROUGHPUT,
    WITHIN_100,
    WITHIN_200,
    throughput_over_time,
)
from narrows.testbed.papers.paper import (
    Curves,
    Experiment,
    Table,
)

EXPERIMENTS: Final[tuple[Experiment, ...]] = (
    Experiment(
        "throughput",
        "Fig. 2 and Table II: 200 and 600 users, seven TCPs, 300 s",
        "gital-2014/throughput.toml",
        quick=(("sweep.repeat", 2), ("duration", "60s")),
        sensitivity=(
            ("sweep.repeat", 1),
            ("sweep.choice.tcp", ["newreno", "vegas", "sack1", "tahoe"]),
            ("duration", "60s"),
        ),
    ),
    Experiment(
        "updates",
        "Beyond the paper: how late a user's updates of 80 B are read",
        "gital-2014/updates.toml",
        quick=(
            ("sweep.repeat", 1),
            ("sweep.choice.tcp", ["reno", "vegas", "linux"]),
            ("duration", "20s"),
        ),
        sensitivity=(
            ("sweep.repeat", 1),
            ("sweep.flow.count", [60, 90]),
            ("sweep.choice.tcp", ["reno", "vegas", "linux"]),
            ("duration", "20s"),
        ),
    ),
    Experiment(
        "fan-out",
        "Beyond the paper: a server's updates to all clients",
        "gital-2014/fan-out.toml",
        quick=(
            ("sweep.repeat", 1),
            ("sweep.choice.tcp", ["reno", "vegas", "linux"]),
            ("duration", "20s"),
        ),
    ),
    Experiment(
        "relay",
        "Beyond the paper: users' updates, relayed to all others by a server",
        "gital-2014/relay.toml",
        quick=(
            ("sweep.flow.count", [5, 10, 13]),
            ("sweep.choice.tcp", ["reno", "vegas", "linux"]),
            ("duration", "20s"),
        ),
    ),
)

TABLES: Final[tuple[Table, ...]] = (
    Table(
        "throughput",
        "Average throughput",
        "Table II",
        "throughput",
        THROUGHPUT,
        "choice.tcp",
        "choice.users",
        TABLE_II,
        "bars",
    ),
    Table(
        "within-100",
        "Updates read within 100 ms",
        "not in the paper",
        "updates",
        WITHIN_100,
        "choice.tcp",
        "flow.count",
    ),
    Table(
        "within-200",
        "Updates read within 200 ms",
        "not in the paper",
        "updates",
        WITHIN_200,
        "choice.tcp",
        "flow.count",
    ),
    Table(
        "jitter",
        "Jitter of the updates",
        "not in the paper",
        "updates",
        JITTER,
        "choice.tcp",
        "flow.count",
    ),
    Table(
        "fan-out-100",
        "Fan-out: updates read within 100 ms",
        "not in the paper",
        "fan-out",
        WITHIN_100,
        "choice.tcp",
        "choice.users",
    ),
    Table(
        "fan-out-200",
        "Fan-out: updates read within 200 ms",
        "not in the paper",
        "fan-out",
        WITHIN_200,
        "choice.tcp",
        "choice.users",
    ),
    Table(
        "relay-200",
        "Relay: updates read by the others within 200 ms",
        "not in the paper",
        "relay",
        WITHIN_200,
        "choice.tcp",
        "flow.count",
    ),
    Table(
        "relay-jitter",
        "Relay: jitter of the updates",
        "not in the paper",
        "relay",
        JITTER,
        "choice.tcp",
        "flow.count",
    ),
    Table(
        "superseded",
        "Fan-out: updates read together with a newer one",
        "not in the paper",
        "fan-out",
        SUPERSEDED,
        "choice.tcp",
        "choice.users",
    ),
)

CURVES: Final[tuple[Curves, ...]] = (
    Curves(
        "figure-2a",
        "Throughput over time, 200 users",
        "Fig. 2a",
        "throughput",
        "choice.tcp",
        {"users": "200"},
        "Time (s)",
        "Throughput (kb/s)",
        throughput_over_time,
        {tcp: values["200"] for tcp, values in TABLE_II.items()},
        "the average in Table II",
    ),
    Curves(
        "figure-2b",
        "Throughput over time, 600 users",
        "Fig. 2b",
        "throughput",
        "choice.tcp",
        {"users": "600"},
        "Time (s)",
        "Throughput (kb/s)",
        throughput_over_time,
        {tcp: values["600"] for tcp, values in TABLE_II.items()},
        "the average in Table II",
    ),
)
