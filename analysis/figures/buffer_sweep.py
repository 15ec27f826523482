"""Link use, queueing delay and loss against the buffer size in multiples of the BDP.

After Appenzeller, Keslassy and McKeown (Sizing Router Buffers, SIGCOMM 2004).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from narrows.analysis import metrics
from narrows.analysis.chart.model import Axis, Chart, Panel, from_zero
from narrows.analysis.figures import against
from narrows.analysis.figures.base import (
    Figure,
    Results,
    number,
    point_label,
    seeds_note,
)
from narrows.analysis.load import Run
from narrows.analysis.of_summary import follow

BUFFER: Final = "bottleneck.queue"

MEASURES: Final[tuple[tuple[Axis, against.Measure], ...]] = (
    (Axis("Link use (%)", high=100.0, pad=(0.05, 0.05), shared="row"), metrics.link_use_percent),
    (from_zero("Queueing delay (ms)", shared="row"), metrics.mean_queue_delay_ms),
    (from_zero("Loss (%)", shared="row"), metrics.loss_percent),
)


def chart(results: Results) -> Chart | None:
    """A row of panels per measure, a column per point, a line per series; None without a sweep."""
    swept = results.valid.where(lambda run: buffer_bdp(run) is not None)
    if not swept.runs or BUFFER not in swept.keys:
        return None
    facets = swept.facets(swept.series_key, BUFFER)
    sizes = sorted({size for run in swept.runs if (size := buffer_bdp(run)) is not None})
    return Chart(
        [
            Panel(
                against.lines(swept, among, measure, _places),
                point_label(point) or axis.label.split(" (")[0],
                y=axis,
            )
            for axis, measure in MEASURES
            for point, among in facets
        ],
        Axis("Buffer (multiples of the BDP)", pad=(0.03, 0.03), log=True,
             ticks=[(size, f"{size:.2g}") for size in _apart(sizes)]),
        columns=len(facets),
        height_in=1.3,
        note=seeds_note(results, "mean and range of {count} seeds"),
    )  # fmt: skip


def _places(
    _: Results, among: Results, __: int, series: Any
) -> Iterator[tuple[float, tuple[Run, ...]]]:
    for value in among.values(BUFFER):
        runs = among.of_series(series).matching({BUFFER: value}).runs
        sizes = [size for run in runs if (size := buffer_bdp(run)) is not None]
        if sizes:
            yield float(np.mean(sizes)), runs


def buffer_bdp(run: Run) -> float | None:
    """The bottleneck's limit in multiples of its rate times the minimum round trip of any flow.

    A limit in packets counts with the mean length of the packets in the fullest queue. None if the
    scenario sets no limit or no rate, or if no round trip was measured.
    """
    limit = run.scenario.get("bottleneck", {}).get("queue")
    size, rate_bps = number(limit), run.summary["bottleneck"]["rate_bps"]
    least = [follow(flow, ("rtt_ms", "min")) for flow in run.flows]
    known_ms = [float(rtt_ms) for rtt_ms in least if rtt_ms is not None]
    if size is None or not rate_bps or not known_ms:
        return None
    text, bottleneck = str(limit), run.summary["bottleneck"]
    bdp_bytes = float(rate_bps) * min(known_ms) / 8e3
    if text.endswith("bdp"):
        return size
    if text.endswith("packets"):
        most = bottleneck["queue_packets_max"]
        most_bytes = bottleneck["queue_bytes_max"]
        return size * most_bytes / most / bdp_bytes if most and most_bytes is not None else None
    if text.endswith("B"):
        return size / bdp_bytes
    return size * 1e3 / min(known_ms)


def _apart(sizes: list[float]) -> list[float]:
    """The sizes that are at least a third above the one before."""
    kept: list[float] = []
    for size in sizes:
        if not kept or size > 1.33 * kept[-1]:
            kept.append(size)
    return kept


FIGURE = Figure(
    name="buffer_sweep",
    title="Buffer size",
    caption="Use of the bottleneck, mean queueing delay and loss against the buffer's size. The "
    "bandwidth-delay product (BDP) is the rate times the least round trip that a flow of the run "
    "saw.",
    needs=(),
    wants="a sweep over bottleneck.queue",
    chart=chart,
)
