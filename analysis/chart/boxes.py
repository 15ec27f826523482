"""The box of a box plot, composed of an area, lines and a point."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from narrows.analysis.chart.model import Area, Look, Mark, Trace


def box(
    x: float,
    width: float,
    percentiles: Mapping[int, float],
    mean: float,
    index: int,
    name: str,
) -> list[Mark]:
    """A box at `x`: the 25th to the 75th percentile, with a line at the 50th.

    Whiskers reach to the 5th and 95th (all in `percentiles`), and a point marks the mean. The hatch
    is that of series `index`.
    """
    left, right = x - width / 2, x + width / 2
    p5, p25, p50, p75, p95 = (percentiles[percent] for percent in (5, 25, 50, 75, 95))
    thin = Look(index, dash=0, width=0.7)
    outline = Area(
        np.array([left, right, right, left]), np.array([p25, p25, p75, p75]), thin, name, True
    )
    whiskers = [_line([x, x], ends, thin, name) for ends in ([p5, p25], [p75, p95])] + [
        _line([x - width / 4, x + width / 4], [end, end], thin, name) for end in (p5, p95)
    ]
    median = _line([left, right], [p50, p50], Look("ink", width=1.1), name)
    words = f"p5 {p5:.4g}, p25 {p25:.4g}, p50 {p50:.4g}, p75 {p75:.4g}, p95 {p95:.4g}; mean"
    point = Look("ink", line=False, marker="filled", size=2.4)
    return [
        outline, *whiskers, median,
        Trace(np.array([x]), np.array([mean]), point, name, labels=[words]),
    ]  # fmt: skip


def _line(x: list[float], y: list[float], look: Look, name: str) -> Trace:
    return Trace(np.array(x), np.array(y), look, name)
