"""Quantities and evidence from the runs of Islam et al. 2009."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from narrows.analysis import metrics
from narrows.analysis.estimate import Estimate
from narrows.analysis.load import Run
from narrows.testbed.papers.finished_runs import FinishedRuns, listed, ranking
from narrows.testbed.papers.grade import Distance, Margin, lead, least, off_target
from narrows.testbed.papers.paper import Settings
from narrows.testbed.papers.quantity import Quantity

SEGMENT_BYTES: Final = 1000
SEVEN: Final = ("Tahoe", "Reno", "Newreno", "NewrenoAsym", "Sack1", "Fack", "Vegas")
"""The sources with results in the paper."""
FIVE_SINKS: Final = ("TCPSink", "Asym", "Sack1", "DelAck", "Sack1DelAck")
"""The sinks named in the paper."""


def rows(columns: tuple[str, ...], numbers: Mapping[tuple[str, ...], tuple[int, ...]]) -> Any:
    """A printed table; several sources share a row."""
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
    """Segments readable in order at the receiver."""
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
    rtt_ms = run.flows[0]["rtt_ms"]
    return None if rtt_ms is None else float(rtt_ms["mean"])


PACKETS: Final = Quantity("Packets received", "packets", packets, 0)
WINDOW: Final = Quantity("Mean congestion window", "packets", mean_window)
RTT: Final = Quantity("Mean round-trip time", "ms", mean_rtt_ms)


def leaders_at(
    quantity: Quantity, experiment: str, finished: FinishedRuns, **point: Any
) -> set[str]:
    """The sources that are first, or within 0.1 % of it, at a point."""
    values = finished.values(quantity, experiment, "choice.source", **point)
    most = max(each.mean for each in values.values())
    return {name for name, each in values.items() if each.mean >= 0.999 * most}


def leaders(quantity: Quantity, experiment: str, by: str, finished: FinishedRuns) -> set[str]:
    """The sources that are first, or within 0.1 % of it, at every value of a swept key."""
    values = finished.swept(experiment, by)
    at_each = [leaders_at(quantity, experiment, finished, **{by: value}) for value in values]
    return set.intersection(*at_each) if at_each else set()


def best(experiment: str, by: str, finished: FinishedRuns, quantity: Quantity = PACKETS) -> str:
    """The leaders over a swept key, in words, for a table of choices."""
    names = leaders(quantity, experiment, by, finished)
    if names == set(finished.swept(experiment, "choice.source")):
        return "all alike"
    if names:
        return ", ".join(sorted(names))
    return "none at every value: " + "; ".join(
        f"{value}: {', '.join(sorted(leaders_at(quantity, experiment, finished, **{by: value})))}"
        for value in finished.swept(experiment, by)
    )


def leads(wanted: set[str], experiment: str, by: str, finished: FinishedRuns) -> bool:
    """True if exactly these lead at every value."""
    return leaders(PACKETS, experiment, by, finished) == wanted


def lead_margin(wanted: set[str], experiment: str, by: str, finished: FinishedRuns) -> Margin:
    """How far these are before all others, at the value where that is least."""
    return least(
        lead(finished.values(PACKETS, experiment, "choice.source", **{by: value}), wanted)
        for value in finished.swept(experiment, by)
    )


def saturation_distance(finished: FinishedRuns) -> Distance:
    """How far the packets at 20 Mb/s are from those at 15 Mb/s."""
    fast = finished.values(PACKETS, "rate", "choice.source", rate="20Mbps")
    less = finished.values(PACKETS, "rate", "choice.source", rate="15Mbps")
    return off_target((fast[source].mean, less[source].mean) for source in fast)


def table_text(experiment: str, by: str, finished: FinishedRuns) -> str:
    """Packets of every source at every value."""
    return "; ".join(
        f"{value}: {listed(finished.values(PACKETS, experiment, 'choice.source', **{by: value}))}"
        for value in finished.swept(experiment, by)
    )


def same(experiment: str, by: str, sources: tuple[str, ...], finished: FinishedRuns) -> bool:
    """True if these sources receive the same number of packets at every value."""
    for value in finished.swept(experiment, by):
        values = finished.values(PACKETS, experiment, "choice.source", **{by: value})
        means = [values[source].mean for source in sources if source in values]
        if max(means) - min(means) > 1:
            return False
    return True


def spread(experiment: str, by: str, sources: tuple[str, ...], finished: FinishedRuns) -> Distance:
    """How far the least of these sources is from the most, at the value where that is largest."""
    pairs = []
    for value in finished.swept(experiment, by):
        values = finished.values(PACKETS, experiment, "choice.source", **{by: value})
        means = [values[source].mean for source in sources if source in values]
        pairs.append((min(means), max(means)))
    return off_target(pairs)


def window_margin(finished: FinishedRuns) -> Margin:
    """How much larger NewrenoASYM's window is than the others', at 5 Mb/s."""
    values = finished.values(WINDOW, "rate", "choice.source", rate="5Mbps")
    return lead(values, {"NewrenoAsym"})


def window_text(finished: FinishedRuns) -> str:
    """Mean windows at 5 Mb/s."""
    values = finished.values(WINDOW, "rate", "choice.source", rate="5Mbps")
    return listed(values, 2, "packets at 5 Mb/s")


def largest_window(finished: FinishedRuns) -> bool:
    """True if NewrenoASYM has the largest window at 5 Mb/s."""
    values = finished.values(WINDOW, "rate", "choice.source", rate="5Mbps")
    return bool(ranking(values)[0] == "NewrenoAsym")


def vegas_gain_percent(value: str, finished: FinishedRuns) -> Estimate:
    """Vegas above Reno at a delay."""
    vegas = finished.value(PACKETS, "delay", source="Vegas", delay=value)
    reno = finished.value(PACKETS, "delay", source="Reno", delay=value)
    return Estimate(100 * (vegas.mean / reno.mean - 1), 0.0, 1)


def same_sink(name: str) -> Settings:
    """One sink for all sources that need no SACK."""
    sources = ["Tahoe", "Reno", "Newreno", "NewrenoAsym", "Vegas"]
    return (("sweep.choice.source", sources), ("flow.sink", name))


BANDWIDTH, DELAY, RATE = "bottleneck.rate", "bottleneck.delay", "bottleneck.rate"
TTL, ROUND_TRIP = "flow.ttl", "choice.round-trip"


def fack_text(finished: FinishedRuns) -> str:
    """The deficit of FACK against Reno in packets, printed and ours, and Reno's packets
    per second.
    """
    parts, seconds = [], finished.runs["bandwidth"][0].duration_ps / metrics.PS_PER_S
    for bandwidth in finished.swept("bandwidth", BANDWIDTH):
        values = finished.values(PACKETS, "bandwidth", "choice.source", rate=bandwidth)
        printed = TABLE_1["Reno"][bandwidth] - TABLE_1["Fack"][bandwidth]
        ours = values["Reno"].mean - values["Fack"].mean
        a_second = values["Reno"].mean / seconds
        parts.append(
            f"{bandwidth}: {printed:.0f} printed, {ours:.0f} here, {a_second:.0f} a second"
        )
    return "; ".join(parts)
