"""Shared parts of the metrics: array types, percentiles, and the rows of each flow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import polars as pl

if TYPE_CHECKING:
    from narrows.schema.summary import FlowSummary

Floats = npt.NDArray[np.float64]


"""A one-dimensional array of numbers."""


Ints = npt.NDArray[np.int64]


"""A one-dimensional array of whole numbers."""


def percentile(values: npt.ArrayLike, percent: float, *, keep: bool = True) -> float:
    """The smallest value that at least `percent` % of all values do not exceed.

    The nearest-rank percentile: always a value that occurred, never one between two. Without
    `keep`, an array of numbers may lose its order, and is not copied. Raises `ValueError` without
    values.
    """
    numbers = np.asarray(values, dtype=np.float64)
    if not numbers.size:
        raise ValueError(f"percentile {percent} of no values: expected at least one")
    return float(np.percentile(numbers, percent, method="inverted_cdf", overwrite_input=not keep))


def together(arrays: Sequence[Floats]) -> Floats:
    """The numbers of all arrays; a single array is not copied."""
    return arrays[0] if len(arrays) == 1 else np.concatenate([np.empty(0), *arrays])


def by_flow(rows: pl.DataFrame) -> list[tuple[int, pl.DataFrame]]:
    """The rows of a table for each flow that has any, in the order of the flows' ids."""
    flows = rows.partition_by("flow", maintain_order=True, as_dict=True)
    return sorted(
        ((int(str(key[0])), part) for key, part in flows.items()), key=lambda item: item[0]
    )


def end_s(flow: FlowSummary) -> float | None:
    """When the last byte of a summary's flow was acknowledged, in s of the run; None if it never
    was.
    """
    taken = flow["completion_s"]
    return None if taken is None else float(flow["start_s"]) + float(taken)
