"""Gital et al. 2014: seven TCPs under a cloud-based collaborative virtual environment.

Table II prints no unit; kb/s is the only one that fits a link of 2 Mb/s.
"""

from __future__ import annotations

from functools import partial
from typing import Final

import numpy as np
import polars as pl

from narrows.analysis import metrics
from narrows.analysis.load import Run
from narrows.testbed.papers.found import Found, listed, ranking, shown
from narrows.testbed.papers.paper import (
    Alternative,
    Assumption,
    Claim,
    Curves,
    Experiment,
    Finding,
    Paper,
    Quantity,
    Table,
)

TABLE_II: Final = {
    "vegas": {"200": 1130.872, "600": 1468.377},
    "fack": {"200": 997.6375, "600": 1235.005},
    "linux": {"200": 1100.007, "600": 1191.41},
    "tahoe": {"200": 1100.415, "600": 1134.994},
    "reno": {"200": 1097.21, "600": 1240.135},
    "newreno": {"200": 1225.435, "600": 1329.895},
    "sack1": {"200": 1090.798, "600": 1176.02},
}
"""Table II: average throughput by variant and users."""
TEXT_ORDER: Final = {
    "200": ["vegas", "newreno", "tahoe", "linux", "reno", "sack1", "fack"],
    "600": ["newreno", "vegas", "reno", "fack", "sack1", "linux", "tahoe"],
}
"""The order in which section VI names the variants, best first."""

SETTLED_S: Final = 1.0
"""Updates written within the last second of a run are left out: they may be on their way."""


def throughput_kbps(run: Run) -> float:
    """Payload that all users' servers could read, over the whole run."""
    return float(metrics.mean_goodput_bps(run) / 1e3)


def throughput_over_time(run: Run) -> tuple[list[float], list[float]]:
    """The same in bins of 10 s: seconds, kb/s."""
    total = (
        metrics.goodput_bps(run, 10 * metrics.PS_PER_S)
        .group_by("time_ps")
        .agg(pl.col("bps").sum())
        .sort("time_ps")
    )
    seconds = total["time_ps"] / metrics.PS_PER_S
    return seconds.to_list(), (total["bps"] / 1e3).to_list()


def settled_latencies_ms(run: Run) -> metrics.Floats:
    """Write-to-read latency of the updates that had their time, those never read left out."""
    end_ps = run.duration_ps - int(SETTLED_S * metrics.PS_PER_S)
    rows = run.table("messages").filter(pl.col("written_ps") < end_ps)
    latency = (pl.col("read_ps") - pl.col("written_ps")) / metrics.PS_PER_MS
    return rows.select(latency.alias("ms")).collect()["ms"].to_numpy()


def in_time_percent(limit_ms: float, run: Run) -> float:
    """Of all updates written, those read within a limit; an update never read is late."""
    flow = run.scenario["flow"][0]
    app = flow["app"]
    interval_ms = float(str(app["interval"]).removesuffix("ms"))
    span_ms = (run.duration_ps / metrics.PS_PER_S - SETTLED_S) * 1e3
    # A relayed update is read by all users but its writer.
    each = flow["count"] - 1 if app["kind"] == "cve-server" else int(app.get("users", 1))
    to_be_read = flow["count"] * each * span_ms / interval_ms
    in_time = int((settled_latencies_ms(run) <= limit_ms).sum())
    return float(min(100.0, 100 * in_time / to_be_read))


def jitter_ms(run: Run) -> float | None:
    """Standard deviation of the latency."""
    latencies = settled_latencies_ms(run)
    return float(np.std(latencies)) if latencies.size else None


def superseded_percent(run: Run) -> float | None:
    """Of the updates read, those that came no sooner than a newer one of the same user."""
    messages = [flow["messages"] for flow in run.flows]
    read = sum(each["read"] for each in messages)
    return 100 * sum(each["superseded"] for each in messages) / read if read else None


THROUGHPUT: Final = Quantity("Average throughput", "kb/s", throughput_kbps)
WITHIN_100: Final = Quantity("Updates within 100 ms", "%", partial(in_time_percent, 100.0))
WITHIN_200: Final = Quantity("Updates within 200 ms", "%", partial(in_time_percent, 200.0))
JITTER: Final = Quantity("Jitter of the updates", "ms", jitter_ms)
SUPERSEDED: Final = Quantity("Superseded updates", "%", superseded_percent)


def is_first(users: str, variant: str, found: Found) -> bool | None:
    """Whether a variant has the highest throughput; None where the runs leave it open."""
    values = found.values(THROUGHPUT, "throughput", "choice.tcp", users=users)
    best = ranking(values)[0]
    if best != variant:
        return False if values[best].low > values[variant].high else None
    second = ranking(values)[1]
    return True if values[variant].low > values[second].high else None


def throughputs(users: str, found: Found) -> str:
    """All variants' throughput, best first."""
    return listed(found.values(THROUGHPUT, "throughput", "choice.tcp", users=users), 1, "kb/s")


def grows_with_users(found: Found) -> bool:
    """Whether every variant carries more with 600 users than with 200."""
    few = found.values(THROUGHPUT, "throughput", "choice.tcp", users="200")
    many = found.values(THROUGHPUT, "throughput", "choice.tcp", users="600")
    return all(many[name].low > few[name].high for name in few)


def spread_percent(users: str, found: Found) -> float:
    """From the least to the greatest variant, in percent of the least."""
    values = found.values(THROUGHPUT, "throughput", "choice.tcp", users=users)
    means = [value.mean for value in values.values()]
    return 100 * (max(means) / min(means) - 1)


def label_evidence(_: Found) -> str:
    """How far table and text agree, with the rows as printed and with two of them exchanged."""
    exchanged = TABLE_II | {"vegas": TABLE_II["newreno"], "newreno": TABLE_II["vegas"]}
    parts = []
    for users, order in TEXT_ORDER.items():
        for what, table in (("as printed", TABLE_II), ("exchanged", exchanged)):
            by_table = sorted(order, key=lambda name: -table[name][users])
            same = sum(a == b for a, b in zip(order, by_table, strict=True))
            parts.append(f"{users} users, {what}: {same} of 7 places agree")
    return "; ".join(parts)


def works(found: Found, limit: Quantity, experiment: str, by: str, tcp: str) -> str:
    """The share of updates in time at each number of users."""
    values = found.values(limit, experiment, by, tcp=tcp)
    return ", ".join(f"{users}: {shown(value, 1)} %" for users, value in values.items())


PAPER: Final = Paper(
    name="gital-2014",
    title="TCP in a cloud-based collaborative virtual environment",
    reference=(
        "Gital, Isma'il, Alkali, Abubakar, Chiroma: Throughput Analysis of TCP Congestion Control "
        "Algorithms in a Cloud Based Collaborative Virtual Environment, 2014"
    ),
    experiments=(
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
            "What was not measured: when a user's update of 80 B can be read",
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
            "What was not measured: a server's updates to all clients",
            "gital-2014/fan-out.toml",
            quick=(
                ("sweep.repeat", 1),
                ("sweep.choice.tcp", ["reno", "vegas", "linux"]),
                ("duration", "20s"),
            ),
        ),
        Experiment(
            "relay",
            "What was not measured: one user's updates at the others, through the server",
            "gital-2014/relay.toml",
            quick=(
                ("sweep.flow.count", [5, 10, 13]),
                ("sweep.choice.tcp", ["reno", "vegas", "linux"]),
                ("duration", "20s"),
            ),
        ),
    ),
    tables=(
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
            "Through the server: updates read by the others within 200 ms",
            "not in the paper",
            "relay",
            WITHIN_200,
            "choice.tcp",
            "flow.count",
        ),
        Table(
            "relay-jitter",
            "Through the server: jitter of the updates",
            "not in the paper",
            "relay",
            JITTER,
            "choice.tcp",
            "flow.count",
        ),
        Table(
            "superseded",
            "Fan-out: updates of which a newer one came at the same moment",
            "not in the paper",
            "fan-out",
            SUPERSEDED,
            "choice.tcp",
            "choice.users",
        ),
    ),
    curves=(
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
        ),
    ),
    claims=(
        Claim(
            "section VI",
            "With 200 users Vegas has the highest throughput.",
            ("throughput",),
            partial(is_first, "200", "vegas"),
            partial(throughputs, "200"),
        ),
        Claim(
            "Table II",
            "With 200 users NewReno has the highest throughput.",
            ("throughput",),
            partial(is_first, "200", "newreno"),
            partial(throughputs, "200"),
        ),
        Claim(
            "section VI",
            "With 600 users NewReno has the highest throughput.",
            ("throughput",),
            partial(is_first, "600", "newreno"),
            partial(throughputs, "600"),
        ),
        Claim(
            "Table II",
            "With 600 users Vegas has the highest throughput.",
            ("throughput",),
            partial(is_first, "600", "vegas"),
            partial(throughputs, "600"),
        ),
        Claim(
            "section VI",
            "Throughput is higher with 600 users than with 200.",
            ("throughput",),
            grows_with_users,
            lambda found: f"200: {throughputs('200', found)}; 600: {throughputs('600', found)}",
        ),
        Claim(
            "Table II",
            "With 200 users the variants differ by more than a fifth (the table: 22.8 %).",
            ("throughput",),
            lambda found: spread_percent("200", found) > 20,
            lambda found: f"{spread_percent('200', found):.2f} % between best and worst",
        ),
        Claim(
            "conclusion",
            "TCP meets the needs of a virtual environment with 90 users: 95 % of the "
            "updates within 100 ms, with every variant.",
            ("updates",),
            lambda found: all(
                value.mean >= 95
                for value in found.values(WITHIN_100, "updates", "choice.tcp", count=90).values()
            ),
            lambda found: listed(
                found.values(WITHIN_100, "updates", "choice.tcp", count=90), 1, "% within 100 ms"
            ),
        ),
    ),
    assumptions=(
        Assumption(
            "traffic",
            "every user is a Telnet user with ns-2's mean gap of 1 s and packets of 552 B",
            "The paper says Telnet / CBR and 552 B / 200 B, without a rate or shares.",
            (
                Alternative(
                    "half CBR of 32 kb/s", {"throughput": (("choice.traffic", "half-cbr"),)}
                ),
                Alternative(
                    "half CBR of 4.4 kb/s", {"throughput": (("choice.traffic", "half-slow-cbr"),)}
                ),
                Alternative(
                    "half CBR of 34.4 kb/s over UDP",
                    {"throughput": (("choice.traffic", "half-udp-cbr"),)},
                ),
                Alternative(
                    "half CBR of 4.7 kb/s over UDP",
                    {"throughput": (("choice.traffic", "half-slow-udp-cbr"),)},
                ),
                Alternative("bulk transfers", {"throughput": (("choice.traffic", "bulk"),)}),
            ),
        ),
        Assumption(
            "sinks",
            "SACK, FACK and Linux have ns-2's Sack1 sink, the others the plain one",
            "The paper names no sinks; SACK and FACK with a plain sink learn nothing of holes, and "
            "our senders refuse such a pair, so there is no run of it.",
        ),
        Assumption(
            "queue",
            "DropTail of 100 packets",
            "The paper's limit of 100 has no unit; ns-2 counts packets.",
            (
                Alternative(
                    "100 kB",
                    {
                        "throughput": (("bottleneck.queue", "100KB"),),
                        "updates": (("bottleneck.queue", "100KB"),),
                    },
                ),
            ),
        ),
        Assumption(
            "Vegas",
            "alpha 1, beta 3, as in ns-2",
            "The paper gives no parameters; ns-2's Vegas also sends packets without the 40 bytes "
            "of headers, ours does not.",
        ),
        Assumption(
            "Linux",
            "Reno's window with SACK recovery (RFC 6675)",
            "Without a module's name ns-2's Linux agent has Reno's window and its own recovery.",
        ),
    ),
    findings=(
        Finding(
            "Two rows of Table II are probably exchanged",
            "Text and table order the variants differently. With the rows of Vegas and NewReno "
            "exchanged the table has the text's order, but for two neighbours with 600 users.",
            (),
            label_evidence,
        ),
        Finding(
            "With 200 Telnet users there is nothing to compare",
            "200 users with a packet of 592 B a second offer 0.95 Mb/s to a link of 2 Mb/s. No "
            "variant loses a packet, so all deliver what was written, and the differences of "
            "Table II cannot come from congestion control under this traffic.",
            ("throughput",),
            lambda found: (
                f"{spread_percent('200', found):.3f} % between best and worst; "
                + throughputs("200", found)
            ),
        ),
        Finding(
            "The throughput that matters is not what the paper measured",
            "An update every 50 ms is 19.2 kb/s a user with headers: the paper's 200 users need "
            "3.8 Mb/s of a 2 Mb/s link, whichever TCP they use. Of the 100 ms the path takes 70, "
            "so a queue of 30 ms is too much. How near to the link's 104 users a TCP gets is a "
            "matter of its loss recovery.",
            ("updates",),
            lambda found: (
                "within 100 ms, by users: Reno "
                + works(found, WITHIN_100, "updates", "flow.count", "reno")
                + "; Linux "
                + works(found, WITHIN_100, "updates", "flow.count", "linux")
            ),
        ),
        Finding(
            "Through a server in the cloud 100 ms are out of reach",
            "An update goes to the server and from there to the others: 70 ms each, before any "
            "queue. With 10 users the server sends 1.73 Mb/s, with 11 more than the link carries: "
            "the fan-out's square decides, not the TCP.",
            ("relay",),
            lambda found: (
                "within 200 ms, by users: "
                + "; ".join(
                    f"{tcp} {works(found, WITHIN_200, 'relay', 'flow.count', tcp)}"
                    for tcp in ("reno", "vegas", "linux")
                )
                + "; within 100 ms: "
                + works(found, WITHIN_100, "relay", "flow.count", "reno")
            ),
        ),
    ),
)
