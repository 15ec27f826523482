"""Jasem et al. 2010: New-AIMD against AIMD-FC+ through 5 Mb/s.

The paper prints one number: "around 12 %" less time than with AIMD-FC+, whose rule could not be
finished; `aimd-fc-plus` is our own reading.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from narrows.analysis import metrics
from narrows.analysis.chart.thin import thin
from narrows.analysis.estimate import Estimate, estimate, greater
from narrows.analysis.load import Run
from narrows.testbed.papers.finished_runs import FinishedRuns, NotRunError, listed, shown
from narrows.testbed.papers.grade import POINTS, Distance, Margin, lead, least
from narrows.testbed.papers.paper import (
    Alternative,
    Assumption,
    Claim,
    Curves,
    Experiment,
    Finding,
    Number,
    Paper,
    Settings,
    Table,
)
from narrows.testbed.papers.quantity import Quantity

NEW, FC_PLUS = "new-aimd", "aimd-fc-plus"
VARIANT, COUNT = "flow.variant", "flow.count"


def bottleneck(run: Run, *keys: str) -> float:
    """A figure of the bottleneck's summary."""
    value: Any = run.summary["bottleneck"]
    for key in keys:
        value = value[key]
    return float(value)


def throughput_over_time(run: Run) -> tuple[list[float], list[float]]:
    """The bottleneck's throughput: seconds, kB/s."""
    sent = metrics.throughput_bps(run, metrics.PS_PER_S)
    return (sent["time_ps"] / metrics.PS_PER_S).to_list(), (sent["bps"] / 8e3).to_list()


def queue_over_time(run: Run) -> tuple[list[float], list[float]]:
    """The bottleneck's queue: seconds, kB; the extremes of each of 120 parts of the run."""
    depth = metrics.depth(run)
    x, y = thin(depth["time_ps"].to_numpy(), depth["bytes"].to_numpy(), run.duration_ps, 120)
    return x.tolist(), (y / 1e3).tolist()


def delay_by_round(run: Run) -> tuple[list[float], list[float]]:
    """Mean queueing delay in each round trip: its number, ms."""
    rounds = metrics.mean_delay_by_round(run)
    return [float(each) for each in rounds["round"]], rounds["delay_ms"].to_list()


TIME: Final = Quantity("Time to move the data", "s", metrics.completion_s, 2)
QUEUE: Final = Quantity("Mean queue", "packets", lambda run: bottleneck(run, "queue_packets_mean"))
DELAY: Final = Quantity(
    "Mean queueing delay", "ms", lambda run: bottleneck(run, "queue_delay_ms", "mean")
)
DROPS: Final = Quantity("Packets dropped", "packets", lambda run: bottleneck(run, "dropped"), 0)


def counts(finished: FinishedRuns) -> list[int]:
    """The numbers of flows in the runs, without one flow, which queues at its own interface."""
    return [count for count in finished.swept("transfer", COUNT) if count > 1]


def saving_percent(finished: FinishedRuns) -> Estimate:
    """Time that New-AIMD saves against AIMD-FC+, as the mean over the numbers of flows. Raises
    `NotRunError`.
    """
    savings = []
    for count in finished.swept("transfer", COUNT):
        new = finished.value(TIME, "transfer", variant=NEW, count=count)
        old = finished.value(TIME, "transfer", variant=FC_PLUS, count=count)
        savings.append(100 * (1 - new.mean / old.mean))
    if not savings:
        raise NotRunError("transfer: no run at any number of flows")
    return estimate(savings)


def less(quantity: Quantity, finished: FinishedRuns) -> bool | None:
    """True if New-AIMD has less than AIMD-FC+ for every number of flows from two. Raises
    `NotRunError`.
    """
    answers = {
        greater(
            finished.value(quantity, "transfer", variant=FC_PLUS, count=count),
            finished.value(quantity, "transfer", variant=NEW, count=count),
        )
        for count in counts(finished)
    }
    if not answers:
        raise NotRunError("transfer: no run with two flows or more")
    return False if False in answers else None if None in answers else True


def less_margin(quantity: Quantity, finished: FinishedRuns) -> Margin:
    """How far New-AIMD is below AIMD-FC+, for the number of flows where that is least."""
    chosen = (
        {
            each: finished.value(quantity, "transfer", variant=each, count=count)
            for each in (NEW, FC_PLUS)
        }
        for count in counts(finished)
    )
    return least(lead(values, {NEW}, last=True) for values in chosen)


def by_count(quantity: Quantity, finished: FinishedRuns) -> str:
    """A quantity of every variant by the number of flows."""
    return "; ".join(
        f"{count} flows: "
        + listed(
            finished.values(quantity, "transfer", VARIANT, count=count),
            quantity.digits,
            quantity.unit,
        )
        for count in counts(finished)
    )


def bound(finished: FinishedRuns) -> str:
    """Excess of the times over the transmission time of the payload."""
    parts = []
    for count in finished.swept("transfer", COUNT):
        runs = finished.at("transfer", count=count)
        extra = [
            100 * (done / least - 1)
            for run in runs
            if (done := metrics.completion_s(run)) and (least := metrics.completion_bound_s(run))
        ]
        parts.append(f"{count}: {min(extra):.1f} to {max(extra):.1f} %")
    return "excess over the payload's transmission time, all variants, by flows: " + ", ".join(
        parts
    )


def varied(*settings: tuple[str, Any]) -> dict[str, Settings]:
    """Settings of the only experiment."""
    return {"transfer": settings}


PAPER: Final = Paper(
    name="jasem-2010",
    title="The delay with New-AIMD",
    reference=(
        "Jasem, Zukarnain, Othman, Subramaniam: The Delay with New-Additive Increase "
        "Multiplicative Decrease Congestion Avoidance and Control Algorithm, Information "
        "Technology Journal, 2010"
    ),
    experiments=(
        Experiment(
            "transfer",
            "Fig. 5 to 10: 20,000 kB per flow, one to five flows",
            "new-aimd.toml",
            quick=(("sweep.repeat", 1),),
            sensitivity=(
                ("sweep.repeat", 1),
                ("sweep.flow.count", [2, 5]),
                ("sweep.flow.variant", [NEW, FC_PLUS]),
            ),
            figures=("cwnd",),
        ),
    ),
    tables=(
        Table("time", "Time to move the data", "Fig. 6", "transfer", TIME, VARIANT, COUNT),
        Table("queue", "Mean queue", "Fig. 7b to 10b", "transfer", QUEUE, VARIANT, COUNT),
        Table("delay", "Mean queueing delay", "Fig. 7a to 10a", "transfer", DELAY, VARIANT, COUNT),
        Table("drops", "Packets dropped", "not in the paper", "transfer", DROPS, VARIANT, COUNT),
    ),
    curves=(
        Curves(
            "figure-5",
            "Throughput over time with New-AIMD",
            "Fig. 5",
            "transfer",
            COUNT,
            {"variant": NEW},
            "Time (s)",
            "Throughput (kB/s)",
            throughput_over_time,
        ),
        *(
            Curves(
                f"figure-{figure}{part}",
                f"{what}, {count} flows",
                f"Fig. {figure}{part}",
                "transfer",
                VARIANT,
                {"count": count},
                x,
                y,
                of,
            )
            for figure, count in ((7, 2), (8, 3), (9, 4), (10, 5))
            for part, what, x, y, of in (
                ("a", "Queueing delay by round trip", "Round trip", "Delay (ms)", delay_by_round),
                ("b", "Queue over time", "Time (s)", "Queue length (kB)", queue_over_time),
            )
        ),
    ),
    numbers=(
        Number(
            "section Discussion",
            "less time with New-AIMD than with AIMD-FC+",
            "%",
            12,
            "transfer",
            saving_percent,
            2,
        ),
    ),
    claims=(
        Claim(
            "section Discussion",
            "New-AIMD moves the data in around 12 % less time than AIMD-FC+.",
            ("transfer",),
            lambda finished: 6 <= saving_percent(finished).mean <= 18,
            lambda finished: (
                f"{shown(saving_percent(finished), 2)} % less; {by_count(TIME, finished)}"
            ),
            tolerance="6 to 18 %, 6 percentage points either side",
            grade=lambda finished: Distance(abs(saving_percent(finished).mean - 12), POINTS),
        ),
        Claim(
            "Conclusion",
            "New-AIMD has the shorter queue.",
            ("transfer",),
            partial(less, QUEUE),
            partial(by_count, QUEUE),
            tolerance="95 % intervals apart, for each number of flows from two",
            grade=partial(less_margin, QUEUE),
            needs=("seeds",),
        ),
        Claim(
            "Conclusion",
            "New-AIMD has the lower queueing delay.",
            ("transfer",),
            partial(less, DELAY),
            partial(by_count, DELAY),
            tolerance="95 % intervals apart, for each number of flows from two",
            grade=partial(less_margin, DELAY),
            needs=("seeds",),
        ),
    ),
    assumptions=(
        Assumption(
            "20,000 kB",
            "from each sender, with 1,000 B per kB",
            'The paper says "the maximum data size from the sender to the receiver".',
            (
                Alternative(
                    "20,000 kB in total (4 MB for each of five flows)",
                    varied(("sweep.flow.count", [5]), ("flow.app.bytes", "4000KB")),
                ),
            ),
        ),
        Assumption(
            "AIMD-FC+",
            "our reading of its name",
            "We could not find its rule.",
        ),
        Assumption(
            "the interfaces' jitter",
            "10 ns",
            "The hosts' links are as fast as the bottleneck. Without jitter the flows run in step.",
            (Alternative("none", varied(("access.jitter", "0s"))),),
        ),
        Assumption(
            "the senders' own queue",
            '100 packets, as "all DT queues"',
            "Linux's own interface queue would hold 1,000.",
            (Alternative("1,000 packets", varied(("access.queue", "1000packets"))),),
        ),
        Assumption(
            "start",
            "all within 0.1 s",
            "Not stated.",
            (Alternative("one per second", varied(("flow.start", {"at": "0s", "every": "1s"}))),),
        ),
    ),
    findings=(
        Finding(
            "No rule can save 12 % on this path",
            "The queue of 100 packets is 32 times what the path holds. Half a window of 100 "
            "packets still fills the link. So the link never idles under any rule, and every "
            "transfer takes the transmission time of its bytes. Only time-outs or a limit at a "
            "host could make a difference of 12 %.",
            ("transfer",),
            bound,
        ),
        Finding(
            "New-AIMD does not shorten the queue",
            "New-AIMD halves only the base of its window and keeps the growth since the first "
            "loss. So each cut is smaller than the one before. The queue is full again sooner "
            "than after plain halving, and more packets are lost. New-AIMD differs little from "
            "our reading of AIMD-FC+.",
            ("transfer",),
            lambda finished: f"{by_count(QUEUE, finished)}; dropped: {by_count(DROPS, finished)}",
        ),
    ),
)
