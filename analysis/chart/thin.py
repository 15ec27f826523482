"""Step functions and distributions with only the points that a chart can show."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from narrows.analysis.chart.model import Floats
from narrows.schema.units import PS_PER_S

Ints = npt.NDArray[np.int64]


class Thinned:
    """A step function that comes in parts, in the order of time. It keeps the first, the smallest,
    the largest and the last recorded point of each of `columns` pixel columns up to `end_ps`, so no
    peak disappears. A function of few points keeps all.
    """

    def __init__(self, end_ps: int, columns: int) -> None:
        self.end_ps, self.columns = end_ps, columns
        self.most = 4 * columns
        """Points that need no thinning."""
        self.count = 0
        self.times: list[Ints] = []
        self.values: list[Floats] = []

    def add(self, time_ps: npt.ArrayLike, value: npt.ArrayLike) -> None:
        """Adds a part."""
        times = np.asarray(time_ps, dtype=np.int64)
        values = np.asarray(value, dtype=np.float64)
        self.count += len(times)
        if len(times) > self.most:
            kept = self._kept(times, values)
            times, values = times[kept], values[kept]
        self.times.append(times)
        self.values.append(values)

    def points(self) -> tuple[Floats, Floats]:
        """The points, in s. The last value holds until `end_ps`."""
        times = np.concatenate([np.empty(0, dtype=np.int64), *self.times])
        values = np.concatenate([np.empty(0), *self.values])
        if self.count > self.most:
            kept = self._kept(times, values)
            times, values = times[kept], values[kept]
        if len(times):
            times = np.append(times, max(self.end_ps, times[-1]))
            values = np.append(values, values[-1])
        return times / PS_PER_S, values

    def _kept(self, times: Ints, values: Floats) -> Ints:
        """The points to keep: of equal ones the first smallest and the last largest."""
        end_ps, kept, start = max(self.end_ps, 1), set[int](), 0
        while start < len(times):
            column = int(times[start]) * self.columns // end_ps
            next_ps = -(-(column + 1) * end_ps // self.columns)
            end = int(np.searchsorted(times, next_ps))
            points = values[start:end]
            smallest, largest = int(points.argmin()), int(points[::-1].argmax())
            kept |= {start, start + smallest, end - 1 - largest, end - 1}
            start = end
        return np.array(sorted(kept))


def thin(
    time_ps: npt.ArrayLike, value: npt.ArrayLike, end_ps: int, columns: int
) -> tuple[Floats, Floats]:
    """A whole step function as `Thinned` shows it."""
    thinned = Thinned(end_ps, columns)
    thinned.add(time_ps, value)
    return thinned.points()


def distribution(values: Floats) -> tuple[Floats, Floats]:
    """Values with their cumulative share, from 0 up, in 250 steps. The array loses its order."""
    ranks = np.unique(np.linspace(0, values.size - 1, 250).round().astype(int))
    values.partition(ranks)
    return np.append(values[0], values[ranks]), np.append(0, ranks + 1) / values.size
