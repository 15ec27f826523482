"""Quantities and evidence from the runs of Wang et al. 2013. Rates are of payload."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import polars as pl

from narrows.analysis import metrics
from narrows.analysis.estimate import Estimate, without_extremes
from narrows.analysis.load import Run
from narrows.schema.units import parse_duration
from narrows.testbed.papers.finished_runs import FinishedRuns, Values, listed, ranking, shown
from narrows.testbed.papers.grade import Count, Distance, Margin, above, lead, least, off_target
from narrows.testbed.papers.quantity import Quantity

EVALUATED: Final = (
    "app-tcp", "bic", "cubic", "hstcp", "stcp", "htcp", "hybla", "westwood", "vegas", "veno",
    "reno",
)  # fmt: skip
"""AppTCP and the modules of Linux 2.6.18 that the paper compares it with."""
SETTLED_S: Final = 10
"""Seconds excluded from stability at the start, which is slow start."""
CLOSE: Final = 0.05
""""Quite small", as a share of the required rate; ours."""


def first_mbps(run: Run) -> float:
    """Payload of the first flow, from its start to its end."""
    return float(run.flows[0]["goodput_bps"]) / 1e6


def second_mbps(run: Run) -> float:
    """Payload rate of the second flow, from its start to its end."""
    return float(run.flows[1]["goodput_bps"]) / 1e6


def per_second(run: Run) -> tuple[list[float], list[float]]:
    """Throughput of the first flow in bins of 1 s: seconds, Mb/s."""
    rates = metrics.goodput_bps(run, metrics.PS_PER_S)
    return (rates["time_ps"] / metrics.PS_PER_S).to_list(), (rates["bps"] / 1e6).to_list()


def deviation(run: Run) -> float:
    """Standard deviation of the throughput in bins of 1 s, without the first seconds, in Mb/s."""
    return float(np.std(per_second(run)[1][SETTLED_S:]))


def settled_windows(run: Run) -> list[int]:
    """The first flow's window at each row behind the first seconds, in bytes."""
    settled_ps = pl.col("time_ps") > SETTLED_S * metrics.PS_PER_S
    rows = run.table("flows").filter(settled_ps, pl.col("flow") == run.flows[0]["id"])
    return rows.select("cwnd_bytes").collect()["cwnd_bytes"].to_list()


def settled_mbps(run: Run) -> float | None:
    """Mean throughput without the first seconds and the incomplete last one."""
    rates_mbps = per_second(run)[1][SETTLED_S:-1]
    return float(np.mean(rates_mbps)) if rates_mbps else None


def rise_s(run: Run) -> float | None:
    """The first second with 90 % of 850 Mb/s."""
    seconds, rates_mbps = per_second(run)
    return metrics.rise_time_s(seconds, rates_mbps, 850.0)


THROUGHPUT: Final = Quantity("Throughput", "Mb/s", first_mbps)
RIVAL: Final = Quantity("Throughput of the BIC flow", "Mb/s", second_mbps)
TRANSFER: Final = Quantity("Throughput of 2 GB", "Mb/s", first_mbps, over_runs=without_extremes)
DEVIATION: Final = Quantity("Standard deviation of the throughput", "Mb/s", deviation, 2)
LEAST_WINDOW: Final = Quantity(
    "Smallest window after 10 s", "KB", lambda run: min(settled_windows(run), default=0) / 1e3
)
MOST_WINDOW: Final = Quantity(
    "Largest window after 10 s", "KB", lambda run: max(settled_windows(run), default=0) / 1e3
)
SETTLED: Final = Quantity("Throughput after 10 s", "Mb/s", settled_mbps)
WINDOW_AND_DEVIATION: Final = (LEAST_WINDOW, MOST_WINDOW, DEVIATION)
RISE: Final = Quantity("Time to 765 Mb/s", "s", rise_s)


def compared(quantity: Quantity, experiment: str, finished: FinishedRuns, **point: Any) -> Values:
    """A quantity of the variants in the paper's evaluation."""
    values = finished.values(quantity, experiment, "choice.tcp", **point)
    return Values({name: values[name] for name in EVALUATED if name in values})


def extreme(
    names: set[str], quantity: Quantity, experiment: str, finished: FinishedRuns, *, last: bool,
    **point: Any,
) -> bool:  # fmt: skip
    """True if these variants are at the end of the ranking, or at its head."""
    order = ranking(compared(quantity, experiment, finished, **point))
    return set(order[-len(names) :] if last else order[: len(names)]) == names


def ranked(quantity: Quantity, experiment: str, finished: FinishedRuns, **point: Any) -> str:
    """The variants' values, best first."""
    return listed(compared(quantity, experiment, finished, **point), quantity.digits, quantity.unit)


def holds_rates(
    experiment: str, finished: FinishedRuns, quantity: Quantity = THROUGHPUT, **point: Any
) -> bool:
    """Whether every throughput is close to the required rate."""
    values = finished.values(quantity, experiment, "rate_mbps", **point)
    return all(abs(value.mean / rate - 1) <= CLOSE for rate, value in values.items())


def rate_distance(
    experiment: str, finished: FinishedRuns, quantity: Quantity = THROUGHPUT, **point: Any
) -> Distance:
    """How far the worst throughput is from its required rate."""
    values = finished.values(quantity, experiment, "rate_mbps", **point)
    return off_target((value.mean, rate) for rate, value in values.items())


def rates(
    experiment: str, finished: FinishedRuns, quantity: Quantity = THROUGHPUT, **point: Any
) -> str:
    """Required and actual rate."""
    values = finished.values(quantity, experiment, "rate_mbps", **point)
    pairs = [f"{rate} → {shown(value, 1)}" for rate, value in values.items()]
    return f"required → actual: {', '.join(pairs)} Mb/s"


def by_delay(tcp: str, finished: FinishedRuns) -> dict[str, Estimate]:
    """Throughput against the bottleneck's delay."""
    return finished.values(THROUGHPUT, "round-trip", "bottleneck.delay", tcp=tcp)


def falls(tcp: str, finished: FinishedRuns) -> bool:
    """Whether the throughput at the longest round trip is below that at the shortest."""
    values = list(by_delay(tcp, finished).values())
    return values[-1].high < values[0].low


def falling(finished: FinishedRuns) -> list[str]:
    """The variants whose throughput falls with the round trip, AppTCP aside."""
    return [
        tcp
        for tcp in finished.swept("round-trip", "choice.tcp")
        if tcp in EVALUATED[1:] and falls(tcp, finished)
    ]


def round_trips(tcp: str, finished: FinishedRuns) -> str:
    """Throughput at each round trip."""
    values = by_delay(tcp, finished).items()
    return ", ".join(
        f"{2 * parse_duration(delay) / metrics.PS_PER_MS:g} ms: {shown(value)}"
        for delay, value in values
    )


def best_at_every_loss(finished: FinishedRuns) -> bool:
    """Whether AppTCP is first of the evaluated variants at every loss probability."""
    return all(
        extreme({"app-tcp"}, THROUGHPUT, "loss", finished, last=False, loss=loss)
        for loss in finished.swept("loss", "bottleneck.loss")
    )


def kept_at_1e_4(tcp: str, finished: FinishedRuns) -> float:
    """Throughput at a loss of 1e-4 in percent of that without losses."""
    values = finished.values(THROUGHPUT, "loss", "bottleneck.loss", tcp=tcp)
    return 100 * values[1e-4].mean / values[0.0].mean if 1e-4 in values else float("nan")


def beside_bic(tcp: str, finished: FinishedRuns) -> tuple[Estimate, Estimate]:
    """Throughput of a variant and of the competing BIC flow."""
    own = finished.value(THROUGHPUT, "friendliness", tcp=tcp)
    return own, finished.value(RIVAL, "friendliness", tcp=tcp)


def beside_margin(tcp: str, finished: FinishedRuns, *, rival: bool = False) -> Margin:
    """How much a variant has above BIC, or, with `rival`, BIC above the variant."""
    own, other = (each.mean for each in beside_bic(tcp, finished))
    return above(other, own) if rival else above(own, other)


def shares(finished: FinishedRuns, *names: str) -> str:
    """Throughput of each variant and of the competing BIC flow."""
    pairs = ((name, beside_bic(name, finished)) for name in names)
    return "; ".join(
        f"{name} {shown(own)} and BIC {shown(rival)} Mb/s" for name, (own, rival) in pairs
    )


def by_path(tcp: str, finished: FinishedRuns) -> str:
    """A variant's throughput over each of the paths."""
    values = ((path, finished.value(THROUGHPUT, "dynamic", tcp=tcp, **path)) for path in PATHS)
    return ", ".join(f"{path['path']} {shown(value)} Mb/s" for path, value in values)


def deviation_mb_per_s(tcp: str, finished: FinishedRuns, path: str) -> Estimate:
    """The stability in megabytes a second, a unit that fits the figure's values."""
    value = finished.value(DEVIATION, "dynamic", tcp=tcp, path=path)
    return Estimate(value.mean / 8, value.half_width / 8, value.runs)


def held_window(tcp: str, finished: FinishedRuns) -> str:
    """The window after the first seconds over each path, and the variation of the throughput."""
    values = [
        [finished.value(each, "dynamic", tcp=tcp, **path) for each in WINDOW_AND_DEVIATION]
        for path in PATHS
    ]
    return "; ".join(
        f"{path['path']}: window {shown(least)} to {shown(most)} KB, "
        f"standard deviation {shown(deviation, 1)} Mb/s"
        for path, (least, most, deviation) in zip(PATHS, values, strict=True)
    )


def app_first_vegas_last(finished: FinishedRuns, **path: object) -> bool:
    """Whether AppTCP's transfers are the fastest and Vegas's the slowest."""
    first = extreme({"app-tcp"}, TRANSFER, "transfer", finished, last=False, **path)
    return first and extreme({"vegas"}, TRANSFER, "transfer", finished, last=True, **path)


def transfer_margin(finished: FinishedRuns, **path: object) -> Margin:
    """How far AppTCP is before the others and Vegas behind them, the less of both."""
    values = compared(TRANSFER, "transfer", finished, **path)
    return least([lead(values, {"app-tcp"}), lead(values, {"vegas"}, last=True)])


def less_stable_count(finished: FinishedRuns) -> Count:
    """How many variants vary more over 139 ms than over 20 ms."""
    far = compared(DEVIATION, "dynamic", finished, path="international")
    near = compared(DEVIATION, "dynamic", finished, path="national")
    worse = [name for name in near if far[name].mean > near[name].mean]
    return Count(len(worse), len(near), "variants")


def less_stable_abroad(finished: FinishedRuns) -> bool:
    """Whether most variants vary more over 139 ms than over 20 ms."""
    worse = less_stable_count(finished)
    return worse.count > worse.total / 2


Point = dict[str, Any]
FAR: Final[Point] = {"path": "international"}
NEAR: Final[Point] = {"path": "national"}
PATHS: Final = (FAR, NEAR)
