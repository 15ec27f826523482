"""Islam et al. 2009: ns-2's sources against bandwidth, delay and rate.

The paper states hardly any parameter; the scenario files say what was fitted to its tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import numpy as np

from narrows.analysis import metrics
from narrows.analysis.estimate import Estimate
from narrows.analysis.load import Run
from narrows.testbed.papers.found import Found, listed, ranking
from narrows.testbed.papers.paper import (
    Alternative,
    Assumption,
    Claim,
    Curves,
    Experiment,
    Finding,
    Paper,
    Pick,
    Quantity,
    Settings,
    Table,
)

SEGMENT_BYTES: Final = 1000
SEVEN: Final = ("Tahoe", "Reno", "Newreno", "NewrenoAsym", "Sack1", "Fack", "Vegas")
"""The sources that the paper has results for."""
FIVE_SINKS: Final = ("TCPSink", "Asym", "Sack1", "DelAck", "Sack1DelAck")
"""The sinks that it names."""


def rows(columns: tuple[str, ...], numbers: Mapping[tuple[str, ...], tuple[int, ...]]) -> Any:
    """A printed table whose rows are shared by several sources."""
    return {
        source: dict(zip(columns, values, strict=True))
        for sources, values in numbers.items()
        for source in sources
    }


TABLE_1: Final = rows(
    ("2Mbps", "8Mbps", "16Mbps", "32Mbps"),
    {
        ("Tahoe", "Reno", "Newreno", "Sack1", "Vegas"): (3214, 3270, 3280, 3310),
        ("NewrenoAsym",): (3247, 3305, 3317, 3347),
        ("Fack",): (3127, 3191, 3203, 3233),
    },
)
TABLE_2: Final = rows(
    ("10ms", "20ms", "30ms", "40ms", "50ms"),
    {
        SEVEN[:-1]: (6869, 6479, 6215, 5973, 5673),
        ("Vegas",): (7200, 6812, 6400, 6091, 5934),
    },
)
TABLE_3: Final = rows(
    ("5Mbps", "10Mbps", "15Mbps", "20Mbps"),
    {
        ("Tahoe", "Reno"): (16110, 33388, 33625, 33507),
        ("Newreno", "NewrenoAsym", "Sack1", "Fack"): (20372, 34928, 34809, 34928),
        ("Vegas",): (14131, 33009, 33009, 33009),
    },
)


def packets(run: Run) -> float:
    """Segments that the receiver could read in order."""
    return sum(int(flow["delivered_bytes"]) for flow in run.flows) / SEGMENT_BYTES


def windows(run: Run) -> tuple[list[float], list[float]]:
    """The paper's "buffer volume": cwnd each 0.1 s; seconds, packets."""
    table = run.table("flows").select("time_ps", "cwnd_bytes").collect()
    seconds = (table["time_ps"] / metrics.PS_PER_S).to_list()
    return seconds, (table["cwnd_bytes"] / SEGMENT_BYTES).to_list()


def mean_window(run: Run) -> float:
    """The mean of cwnd over time, in packets."""
    return float(np.mean(windows(run)[1]))


def mean_rtt_ms(run: Run) -> float | None:
    """The mean of the round-trip times that the source measured."""
    found = run.flows[0]["rtt_ms"]
    return None if found is None else float(found["mean"])


PACKETS: Final = Quantity("Packets received", "packets", packets, 0)
WINDOW: Final = Quantity("Mean congestion window", "packets", mean_window)
RTT: Final = Quantity("Mean round-trip time", "ms", mean_rtt_ms)


def leaders_at(quantity: Quantity, experiment: str, found: Found, **point: Any) -> set[str]:
    """The sources that are first, or within 0.1 % of it, at a point."""
    values = found.values(quantity, experiment, "choice.source", **point)
    most = max(each.mean for each in values.values())
    return {name for name, each in values.items() if each.mean >= 0.999 * most}


def leaders(quantity: Quantity, experiment: str, by: str, found: Found) -> set[str]:
    """The sources that are first, or within 0.1 % of it, at every value of a swept key."""
    values = found.swept(experiment, by)
    at_each = [leaders_at(quantity, experiment, found, **{by: value}) for value in values]
    return set.intersection(*at_each) if at_each else set()


def best(experiment: str, by: str, found: Found, quantity: Quantity = PACKETS) -> str:
    """Who is first over a swept key: in words, for a table of choices."""
    names = leaders(quantity, experiment, by, found)
    if names == set(found.swept(experiment, "choice.source")):
        return "all alike"
    if names:
        return ", ".join(sorted(names))
    return "nobody at every value: " + "; ".join(
        f"{value}: {', '.join(sorted(leaders_at(quantity, experiment, found, **{by: value})))}"
        for value in found.swept(experiment, by)
    )


def leads(wanted: set[str], experiment: str, by: str, found: Found) -> bool:
    """Whether exactly these are first everywhere."""
    return leaders(PACKETS, experiment, by, found) == wanted


def table_text(experiment: str, by: str, found: Found) -> str:
    """Packets of every source at every value."""
    return "; ".join(
        f"{value}: {listed(found.values(PACKETS, experiment, 'choice.source', **{by: value}))}"
        for value in found.swept(experiment, by)
    )


def same(experiment: str, by: str, sources: tuple[str, ...], found: Found) -> bool:
    """Whether these sources receive the same, to a packet, at every value."""
    for value in found.swept(experiment, by):
        values = found.values(PACKETS, experiment, "choice.source", **{by: value})
        means = [values[source].mean for source in sources if source in values]
        if max(means) - min(means) > 1:
            return False
    return True


def window_text(found: Found) -> str:
    """Mean windows at 5 Mb/s."""
    values = found.values(WINDOW, "rate", "choice.source", rate="5Mbps")
    return listed(values, 2, "packets at 5 Mb/s")


def largest_window(found: Found) -> bool:
    """Whether NewrenoASYM keeps the largest window at 5 Mb/s."""
    values = found.values(WINDOW, "rate", "choice.source", rate="5Mbps")
    return bool(ranking(values)[0] == "NewrenoAsym")


def vegas_gain_percent(value: str, found: Found) -> Estimate:
    """Vegas above Reno at a delay."""
    vegas = found.value(PACKETS, "delay", source="Vegas", delay=value)
    reno = found.value(PACKETS, "delay", source="Reno", delay=value)
    return Estimate(100 * (vegas.mean / reno.mean - 1), 0.0, 1)


def same_sink(name: str) -> Settings:
    """One sink for all sources that need no SACK."""
    sources = ["Tahoe", "Reno", "Newreno", "NewrenoAsym", "Vegas"]
    return (("sweep.choice.source", sources), ("flow.sink", name))


BANDWIDTH, DELAY, RATE = "bottleneck.rate", "bottleneck.delay", "bottleneck.rate"
TTL, ROUND_TRIP = "flow.ttl", "choice.round-trip"


def fack_text(found: Found) -> str:
    """How many packets fewer FACK has than Reno, printed and ours; what Reno sends in a second."""
    parts, seconds = [], found.runs["bandwidth"][0].duration_ps / metrics.PS_PER_S
    for bandwidth in found.swept("bandwidth", BANDWIDTH):
        values = found.values(PACKETS, "bandwidth", "choice.source", rate=bandwidth)
        printed = TABLE_1["Reno"][bandwidth] - TABLE_1["Fack"][bandwidth]
        ours = values["Reno"].mean - values["Fack"].mean
        a_second = values["Reno"].mean / seconds
        parts.append(
            f"{bandwidth}: {printed:.0f} printed, {ours:.0f} here, {a_second:.0f} a second"
        )
    return "; ".join(parts)


PAPER: Final = Paper(
    name="islam-2009",
    title="ns-2's TCPs against network parameters",
    reference=(
        "Islam, Kashem, Sadid, Rahman, Islam, Anam: TCP Variants and Network Parameters: A "
        "Comprehensive Performance Analysis, IMECS 2009"
    ),
    experiments=(
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
    ),
    tables=(
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
            "The round-trip time that the source measures",
            "not in the paper",
            "round-trip",
            RTT,
            "choice.source",
            ROUND_TRIP,
        ),
        Table(
            "sources",
            "Packets by source and sink",
            "not in the paper",
            "sources",
            PACKETS,
            "choice.source",
            "choice.sink",
            {},
            "bars",
        ),
        Table(
            "sack-sources",
            "Packets by source and sink, with SACK",
            "not in the paper",
            "sack-sources",
            PACKETS,
            "choice.source",
            "choice.sink",
            {},
            "bars",
        ),
    ),
    curves=(
        Curves(
            "figure-4",
            '"Buffer volume": the window each 0.1 s at 5 Mb/s',
            "Fig. 4",
            "rate",
            "choice.source",
            {"rate": "5Mbps"},
            "Time (s)",
            "cwnd (packets)",
            windows,
        ),
    ),
    picks=(
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
            lambda found: best("rate", RATE, found, WINDOW),
        ),
        Pick("abstract", "packets against the time to live", None, partial(best, "ttl", TTL)),
        Pick(
            "abstract",
            "packets against the round-trip time",
            None,
            partial(best, "round-trip", ROUND_TRIP),
        ),
    ),
    claims=(
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
            "Sack1, Fack and NewrenoASYM are the best against rate (with NewReno, as "
            "Table 3 has it).",
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
            lambda found: all(
                abs(
                    found.value(PACKETS, "rate", source=source, rate="20Mbps").mean
                    / found.value(PACKETS, "rate", source=source, rate="15Mbps").mean
                    - 1
                )
                < 0.01
                for source in found.swept("rate", "choice.source")
            ),
            partial(table_text, "rate", RATE),
        ),
    ),
    assumptions=(
        Assumption(
            "the queue of Table 3",
            "7 packets",
            "Not stated; without losses all sources would be alike.",
            (
                Alternative("4 packets", {"rate": (("bottleneck.queue", "4packets"),)}),
                Alternative("50 packets", {"rate": (("bottleneck.queue", "50packets"),)}),
            ),
        ),
        Assumption(
            "the window",
            "20 packets, ns-2's default",
            "Not stated.",
            (
                Alternative(
                    "40 packets",
                    {
                        "bandwidth": (("flow.window", "40packets"),),
                        "rate": (("flow.window", "40packets"),),
                    },
                ),
            ),
        ),
        Assumption(
            "ns-2's version",
            "2.27: least time-out 1 s, first 6 s, halves are whole",
            "Cited; newer versions have 0.2 s and 3 s.",
            (Alternative("2.35", {"rate": (("profile", "ns2"),)}),),
        ),
        Assumption(
            "the sinks",
            "Sack1 for SACK and FACK, DelAck for NewrenoASYM, TCPSink for the others",
            "Not stated; with a sink that acknowledges each packet NewrenoASYM is NewReno.",
            (
                Alternative("TCPSink for all", {"bandwidth": same_sink("TCPSink")}),
                Alternative("DelAck for all", {"bandwidth": same_sink("TCPSink/DelAck")}),
            ),
        ),
        Assumption(
            "time to live and round-trip time",
            "three switches, each of which takes one off; a window of 100 packets, a queue of 10",
            "The abstract names both; the paper has no result for either.",
            (
                Alternative(
                    "a window of 20 packets", {"round-trip": (("flow.window", "20packets"),)}
                ),
            ),
        ),
    ),
    findings=(
        Finding(
            "NewrenoASYM leads where all have its sink",
            "It grows by a segment for each one acknowledged, so a sink that acknowledges every "
            "second one does not slow its start. Beside senders with a sink that acknowledges each "
            "packet it is behind; with DelAck for all, one of the alternatives above, it is ahead "
            "of them, as in Table 1, whose senders then all had such a sink.",
            ("bandwidth",),
            partial(table_text, "bandwidth", BANDWIDTH),
        ),
        Finding(
            "FACK's row is Reno's less 0.7 to 0.8 s",
            "Without losses FACK sends what Reno sends, as here and in the paper's Table 2. Its "
            "row of Table 1 lacks about as many packets in all columns, at 20 a round trip of some "
            "180 ms the work of 0.7 to 0.8 s: a later start, or one time-out, not a difference "
            "that bandwidth makes. Vegas, which the paper has beside Reno, doubles its window in "
            "every second round trip only, which costs it 47 packets before it has 20.",
            ("bandwidth",),
            fack_text,
        ),
        Finding(
            "Vegas's lead is a header that ns-2 forgets",
            "ns-2's Vegas sends packets of 1,000 B where all others send 1,040 B, which is 4 % "
            "more packets through a full link; the printed lead is 2.0 to 5.1 %. Ours sends its "
            "headers, and has no lead where the window is the limit. Piggybacking, the paper's "
            "reason, does not exist in a one-way transfer.",
            ("delay",),
            lambda found: (
                "ours, Vegas above Reno: "
                + ", ".join(
                    f"{delay}: {vegas_gain_percent(delay, found).mean:+.2f} %"
                    for delay in found.swept("delay", DELAY)
                )
            ),
        ),
        Finding(
            "Table 1's last column does not fit the others",
            "With 20 packets a round trip only the transmission time of a packet changes from "
            "column to column: 4.16, 1.04, 0.52 and 0.26 ms of some 180 ms. From 16 to 32 Mb/s "
            "that is 0.15 %, 5 packets; the table has 30 in all rows.",
            ("bandwidth",),
            partial(table_text, "bandwidth", BANDWIDTH),
        ),
        Finding(
            "Table 3's plateau comes out, its column of 5 Mb/s does not",
            "From 10 Mb/s on the window of 20 packets is the limit and what slow start lost sets "
            "the classes: Reno and Vegas below NewReno, Sack1 and Fack, as printed; Tahoe, which "
            "the paper has beside Reno, is not. At 5 Mb/s the printed sources differ by a fifth, "
            "which such a window allows only if the queue is too short for it; under such losses "
            "Vegas, last in the paper, is first here.",
            ("rate",),
            lambda found: listed(
                found.values(PACKETS, "rate", "choice.source", rate="5Mbps"), 0, "packets"
            ),
        ),
    ),
)
