"""The columns that put our senders on a shared path in `sim`, and to losses at random.

A variant must meet the statements of its paper or RFC (`ASKED`), with the source as the note; the
other figures are shown for comparison. Access links delay packets at random by up to one packet
time. Without that, DropTail favours flows that are synchronized with it (Floyd, Jacobson 1992).
"""

from __future__ import annotations

import dataclasses
import functools
import math
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean, linear_regression
from typing import Any

from tests.support.world import RunDirectory, run
from tests.validation.table import Cell, Column

TEXT = """\
All runs are in `sim`. A figure in brackets is shown, not checked.

- *Jain*: four equal flows for 300 s (20 Mb/s, 40 ms, 1 BDP), which begin while the queue is empty.
- *Rate ~ RTT^-a*: three flows over 20 ms and three over 140 ms (40 Mb/s, a queue of 40 ms).
- *Share beside Reno*: two flows against two Reno flows (10 Mb/s, 20 ms, 2 BDP), with small windows.
- *Queued*: waiting packets per flow, with 1, 2 and 4 flows (20 Mb/s, 40 ms).
- *Window against loss*: the mean window under random losses on a round trip of 100 ms. The first
  figure is its exponent over the loss probability, which must be within 0.07. The second is its
  mean ratio to the published formula, which must be within 15 %. CUBIC's formula is for evenly
  spaced losses, so its limit is 35 %."""

HEAD = """
title = "Senders on a shared path"
duration = "{duration_s}s"
profile = "rfc"
[access]
rate = "10Gbps"
queue = "100000packets"
jitter = "{jitter}"
[telemetry]
every = 0
[record]
queue = {records_queue}
flows = "{records_flows}"
messages = false
"""
DUMBBELL = """
[bottleneck]
rate = "{rate}"
delay = "{delay}"
queue = "{queue}"
loss = {loss}
"""
TWO_ROUND_TRIPS = """
[[switch]]
name = "left"
[[switch]]
name = "right"
[[link]]
from = "left"
to = "right"
rate = "40Mbps"
delay = "10ms"
queue = "200packets"
bottleneck = true
[[host]]
name = "near"
switch = "left"
access = { rate = "10Gbps", delay = "0ms", jitter = "200us" }
[[host]]
name = "far"
switch = "left"
access = { rate = "10Gbps", delay = "60ms", jitter = "200us" }
[[host]]
name = "sink"
switch = "right"
access = { rate = "10Gbps", delay = "0ms", jitter = "200us" }
"""
RECOVERY = {"bbr": "linux", "bbr3": "linux"}
NEEDS_ECN = ("dctcp", "jersey")
QUEUE_PARAMETERS = {"ledbat": "{ target_ms = 10 }"}
"""So that what a variant aims at is less than the queue holds."""


@dataclasses.dataclass(frozen=True)
class Asked:
    """The required value of a figure, and its source."""

    least: float
    most: float
    source: str


def flows(variant: str, count: int, more: str = "") -> str:
    """Some flows alike, as a scenario has them."""
    return f"""
[[flow]]
variant = "{variant}"
recovery = "{RECOVERY.get(variant, "sack")}"
count = {count}
segment = "1000B"
window = "100000packets"
ecn = {str(variant in NEEDS_ECN).lower()}
{more}
"""


def simulate(
    parts: Sequence[str],
    duration_s: int,
    jitter: str = "400us",
    records_queue: bool = False,
    records_flows: str = "off",
    figure: Callable[[RunDirectory], Any] = lambda finished: finished.summary["flows"],
) -> Any:
    """A figure of a run, by default its flows' summaries."""
    head = HEAD.format(
        duration_s=duration_s,
        jitter=jitter,
        records_queue=str(records_queue).lower(),
        records_flows=records_flows,
    )
    with tempfile.TemporaryDirectory() as directory:
        return figure(run(Path(directory) / "sanity", head + "".join(parts)))


def dumbbell(rate: str, delay: str, queue: str, loss: float = 0.0) -> str:
    """The path's part of a scenario."""
    return DUMBBELL.format(rate=rate, delay=delay, queue=queue, loss=loss)


def goodput(flow: dict[str, Any]) -> float:
    """Of a flow's summary, in bits per second."""
    return float(flow["goodput_bps"])


KNOWS_THE_PATH = 'initial_window = 2\nstart = { every = "7ms" }'
"""Flows that begin while the queue is empty: delay-based variants measure the right base."""


def jain(variant: str) -> float:
    """Jain's index of four flows over 300 s: 20 Mb/s, 40 ms, 1 BDP."""
    path = dumbbell("20Mbps", "20ms", "1bdp")
    rates = [goodput(flow) for flow in simulate([path, flows(variant, 4, KNOWS_THE_PATH)], 300)]
    return math.fsum(rates) ** 2 / (len(rates) * math.fsum(rate * rate for rate in rates))


def round_trip_exponent(variant: str) -> float:
    """The `a` of rate ~ RTT^-a: three flows over 20 ms and three over 140 ms, 40 Mb/s, queue of
    40 ms."""
    ends = (f'from = "{name}"\nto = "sink"' for name in ("near", "far"))
    summaries = simulate([TWO_ROUND_TRIPS, *(flows(variant, 3, end) for end in ends)], 200)
    near, far = summaries[:3], summaries[3:]
    rates = sum(map(goodput, near)) / max(sum(map(goodput, far)), 1.0)
    rtts = sum(flow["rtt_ms"]["mean"] for flow in far) / sum(f["rtt_ms"]["mean"] for f in near)
    return math.log(rates) / math.log(rtts)


def share_beside_reno(variant: str) -> float:
    """The share of two flows beside two of Reno's: 10 Mb/s, 20 ms, 2 BDP (windows below 38)."""
    parameters = QUEUE_PARAMETERS.get(variant)
    more = f"params = {parameters}" if parameters else ""
    path = dumbbell("10Mbps", "10ms", "2bdp")
    summaries = simulate([path, flows(variant, 2, more), flows("reno", 2)], 200)
    rates = [goodput(flow) for flow in summaries]
    return sum(rates[:2]) / sum(rates)


def queued_per_flow(variant: str, count: int) -> float:
    """Packets that wait, per flow, from 20 to 40 s: 20 Mb/s, 40 ms, a queue without end."""
    path = dumbbell("20Mbps", "20ms", "1000packets")

    def waiting(finished: RunDirectory) -> float:
        # Little: the mean number that waits is the sum of the waits by the time.
        rows = finished.table("queue").filter(event="dequeue")
        return float(rows.filter(rows["time_ps"] > 20e12)["sojourn_ps"].sum()) / 20e12

    senders = flows(variant, count, KNOWS_THE_PATH)
    return float(simulate([path, senders], 40, "10ns", True, figure=waiting)) / count


@dataclasses.dataclass(frozen=True)
class Response:
    """A published response function."""

    window: Callable[[float], float]
    """In segments, of the loss probability."""
    source: str
    factor_error: float = 0.15
    count: int = 8
    """Flows, which share nothing but the loss probability."""
    chances: tuple[float, ...] = (1e-3, 3e-4, 1e-4, 3e-5)


def power(factor: float, exponent: float) -> Callable[[float], float]:
    """`factor / p**exponent`."""
    return lambda chance: float(factor / chance**exponent)


def bic_window(chance: float) -> float:
    """Between losses at even distances: 16 segments a round trip, then the search, then 4/20.

    The sum of a period's windows is 1/p, as in the paper's analysis, with the steps of Linux. From
    W = 819/1024 M on 16 a round trip until 64 are missing to M, the window at a loss; then a
    quarter of what is missing, until that is 4; then 0.2.
    """
    given_up = 1 - 819 / 1024
    search, slow = math.log(64 / 4) / math.log(4 / 3), 4 / 0.2
    # What is missing, summed up over the search: 60 = a quarter of it.
    missing = 60 * 4 + slow * 2
    # Of M^2, M and 1 in the sum; in the first phase what is missing falls from given_up M to 64.
    square = given_up / 16 * (1 - given_up / 2)
    linear = given_up / 16 * -32 - 64 / 16 * (1 - given_up / 2) + search + slow
    rest = 64 * 32 / 16 - missing - 1 / chance
    most = (math.sqrt(linear**2 - 4 * square * rest) - linear) / (2 * square)
    return 1 / chance / ((given_up * most - 64) / 16 + search + slow)


ROUND_TRIP_S = 0.1
EXPONENT_ERROR = 0.07


def mean_window(variant: str, response: Response, chance: float) -> float:
    """In segments, from the rate from 50 to 150 s on 100 ms, packets lost by chance."""
    start = max(2, int(response.window(chance)))
    more = f"delayed_ack = false\ninitial_ssthresh = {start}"
    path = dumbbell("40Gbps", "50ms", "100000packets", chance)

    def window(finished: RunDirectory) -> float:
        rows = finished.table("flows")
        late = rows.filter(rows["time_ps"] >= 50e12).partition_by("flow")
        rates = [
            (flow["acked_bytes"][-1] - flow["acked_bytes"][0])
            / (flow["time_ps"][-1] - flow["time_ps"][0])
            for flow in late
        ]
        return fmean(rates) * 1e12 * ROUND_TRIP_S / 1000

    senders = flows(variant, response.count, more)
    return float(simulate([path, senders], 150, "0s", records_flows="1s", figure=window))


def exponent(chances: Sequence[float], windows: Sequence[float]) -> float:
    """Of the window over the loss probability."""
    logs = [[math.log(x) for x in xs] for xs in (chances, windows)]
    return linear_regression(*logs).slope


RESPONSES = {
    "reno": Response(
        power(1.31, 0.5),
        "1.31/p^0.5 for losses at random: Mathis, Semke, Mahdavi, Ott 1997, table 1",
    ),
    "cubic": Response(
        power(1.054 * ROUND_TRIP_S**0.75, 0.75),
        "1.054 RTT^0.75/p^0.75: RFC 9438 section 5.1", 0.35,
        chances=(1e-4, 3e-5, 1e-5),
    ),
    "hstcp": Response(power(0.12, 0.835), "0.12/p^0.835: RFC 3649 section 5"),
    "scalable": Response(
        # The window's logarithm drifts neither way: ln(1.02) a round trip, ln(8/7) a loss.
        power(math.log(1.02) / math.log(8 / 7), 1.0),
        "a/b/p for small a, b (Kelly 2003); ln(1.02)/ln(8/7)/p for Linux's a = 0.02 and b = 1/8",
        count=1, chances=(3e-3, 1e-3, 3e-4, 1e-4),
    ),
    "bic": Response(
        bic_window,
        "The rounds between evenly spaced losses (Xu, Harfoush, Rhee 2004), with Linux's steps",
        count=4, chances=(1e-4, 3e-5, 1e-5),
    ),
}  # fmt: skip

_CHIU_JAIN = "Above 0.95: additive increase and multiplicative decrease converge (Chiu, Jain 1989)"
_BAND = "Any of its band is an equilibrium (Hasegawa, Murata, Miyahara 2000): with half the"
_LAKSHMAN = "1 <= a < 2 for additive increase (Lakshman, Madhow 1997)"
_AS_RENO = "Designed to grow like Reno, on average, while the window is small"
_BACKGROUND = "It reacts to delay, so it yields to flows that fill the queue"
_NO_BIAS = "Designed to be independent of the round trip"
_BASE = "alpha to beta packets a flow: 2 to 4 in Linux's, 1 to 3 in ns-2's (Brakmo, Peterson 1995)"


def claims(names: str, least: float, most: float, source: str) -> dict[str, Asked]:
    """The same of several variants."""
    return {name: Asked(least, most, source) for name in names.split()}


AIMD = "reno aimd-fc aimd-fc-plus dctcp"
JAIN = (
    claims(f"{AIMD} new-aimd cubic hstcp westwood veno", 0.95, 1, _CHIU_JAIN)
    | claims("bic htcp hybla illinois yeah compound ledbat", 0.95, 1, _CHIU_JAIN)
    | claims("vegas", 0.889, 1, f"{_BAND} flows at 2 and half at 4 packets 0.889")
    | claims("vegas-ns2", 0.75, 1, f"{_BAND} flows at 1 and half at 3 packets 0.75")
    | claims("bbr bbr3", 0.95, 1, "Equal round trips get equal shares (draft-ietf-ccwg-bbr)")
)
ROUND_TRIPS = (
    claims(f"{AIMD} hstcp bic", 1, 2, _LAKSHMAN)
    | claims("cubic", 0.25, 1, "From -0.25 for equal losses to -1 for equal windows (RFC 9438)")
    | claims("hybla", -1, 0.5, f"{_NO_BIAS} (Caini, Firrincieli 2004)")
    | claims("htcp", -0.5, 0.5, f"{_NO_BIAS} (Leith, Shorten 2004)")
    | claims("bbr bbr3", -1, 0, "Long round trips get more (Hock, Bless, Zitterbart 2017)")
)
BESIDE_RENO = (
    claims("reno cubic hstcp bic htcp compound dctcp yeah", 0.4, 0.6, _AS_RENO)
    | claims("vegas vegas-ns2 ledbat", 0, 0.25, _BACKGROUND)
)  # fmt: skip
QUEUED = {"vegas": Asked(2, 4, _BASE), "vegas-ns2": Asked(1, 3, _BASE)}


def judged(
    figure: Callable[[str], float], wanted: dict[str, Asked], digits: int
) -> Callable[[str], Cell | None]:
    """The cell that shows a figure, and checks it against its requirement."""

    def cell(variant: str) -> Cell | None:
        value, wish = figure(variant), wanted.get(variant)
        if wish is None:
            return Cell(f"({value:.{digits}f})")
        return Cell(f"{value:.{digits}f}", wish.least <= value <= wish.most, wish.source)

    return cell


def queued(variant: str) -> Cell | None:
    """The packets that one, two and four flows keep in the queue."""
    if variant not in QUEUED:
        return None
    wish, found = QUEUED[variant], [queued_per_flow(variant, count) for count in (1, 2, 4)]
    is_kept = all(wish.least <= packets <= wish.most for packets in found)
    return Cell(", ".join(f"{packets:.2f}" for packets in found), is_kept, wish.source)


def response(variant: str) -> Cell | None:
    """The window over the loss probability."""
    if variant not in RESPONSES:
        return None
    published = RESPONSES[variant]
    chances, wanted = published.chances, [published.window(chance) for chance in published.chances]
    windows = [mean_window(variant, published, chance) for chance in chances]
    slope = exponent(chances, windows)
    ratio = fmean(window / wish for window, wish in zip(windows, wanted, strict=True))
    is_near = abs(slope - exponent(chances, wanted)) <= EXPONENT_ERROR
    is_near &= abs(ratio - 1) <= published.factor_error
    return Cell(f"p^{slope:.3f}, {ratio:.2f} of it", is_near, published.source)


COLUMNS: Sequence[Column] = (
    Column("Jain, 4 alike", judged(functools.cache(jain), JAIN, 3)),
    Column("rate ~ RTT^-a", judged(functools.cache(round_trip_exponent), ROUND_TRIPS, 2)),
    Column("share beside Reno", judged(functools.cache(share_beside_reno), BESIDE_RENO, 2)),
    Column("queued per flow (1, 2, 4)", functools.cache(queued)),
    Column("window against loss", functools.cache(response)),
)
