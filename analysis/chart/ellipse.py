"""The contour of a set of points at one standard deviation."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from narrows.analysis.chart.model import Area, Look

_CORNERS = 60


def ellipse(points: npt.NDArray[np.float64], index: int, name: str) -> list[Area]:
    """The contour at one standard deviation of the normal distribution with the points' moments.

    `points` has a row (x, y) each. None for fewer than three points, whose spread is undefined.
    """
    if len(points) < 3:
        return []
    values, vectors = np.linalg.eigh(np.cov(points.T))
    angles = np.linspace(0, 2 * np.pi, _CORNERS, endpoint=False)
    circle = np.stack([np.cos(angles), np.sin(angles)])
    x, y = vectors @ (np.sqrt(np.maximum(values, 0.0))[:, None] * circle)
    centre = points.mean(axis=0)
    return [Area(centre[0] + x, centre[1] + y, Look(index, width=0.9), name)]
