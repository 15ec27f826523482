"""Fairness and convergence of flows' rates."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import polars as pl

from narrows.analysis.load import Run
from narrows.analysis.metrics.base import end_s
from narrows.schema.units import PS_PER_S


def variation(values: npt.ArrayLike) -> float:
    """Coefficient of variation: standard deviation over mean, 0 where the mean is 0.

    Applied to a flow's goodput in 1-s bins, it is the smoothness of RFC 5166.
    """
    numbers = np.asarray(values, dtype=np.float64)
    mean = float(np.mean(numbers)) if numbers.size else 0.0
    return float(np.std(numbers) / mean) if mean else 0.0


def alive(run: Run, rates: pl.DataFrame, *, together: bool = False) -> pl.DataFrame:
    """The rows of `goodput_bps` with the middle of their bin in the flow's lifetime.

    The lifetime ends when the flow's last byte is acknowledged. With `together`, the bin must lie
    in the lifetime of every flow.
    """
    lives = {
        int(flow["id"]): (
            float(flow["start_s"]) * PS_PER_S,
            (end_s(flow) or float(run.summary["duration_s"])) * PS_PER_S,
        )
        for flow in run.flows
    }
    if together and lives:
        starts, ends = zip(*lives.values(), strict=True)
        lives = dict.fromkeys(lives, (max(starts), min(ends)))
    frame = pl.DataFrame(
        {
            "flow": list(lives),
            "from_ps": [start for start, _ in lives.values()],
            "to_ps": [end for _, end in lives.values()],
        },
        schema={"flow": pl.Int64, "from_ps": pl.Float64, "to_ps": pl.Float64},
    )
    return (
        rates.join(frame, on="flow", how="inner", maintain_order="left")
        .filter(pl.col("time_ps").is_between(pl.col("from_ps"), pl.col("to_ps")))
        .select(rates.columns)
    )


def jain(rates: Iterable[float]) -> float:
    """Jain's fairness index, (sum x)^2 / (n sum x^2): 1/n to 1; 1 where all rates are 0.

    Jain, Chiu, Hawe, "A quantitative measure of fairness", DEC-TR-301, 1984. Raises `ValueError`
    without rates.
    """
    numbers = np.asarray(list(rates), dtype=np.float64)
    if not numbers.size:
        raise ValueError("Jain's index of no rates: expected at least one")
    squares = float(np.sum(numbers**2))
    return float(np.sum(numbers)) ** 2 / (numbers.size * squares) if squares else 1.0


def jain_over_time(goodput: pl.DataFrame) -> pl.DataFrame:
    """Jain's index in each bin of `goodput_bps`: `time_ps`, `flows` (how many), `jain`."""
    return (
        goodput.group_by("time_ps", maintain_order=True)
        .agg(total=pl.col("bps").sum(), squares=(pl.col("bps") ** 2).sum(), flows=pl.len())
        .sort("time_ps")
        .select(
            "time_ps",
            pl.col("flows").cast(pl.Int64),
            jain=pl.when(pl.col("squares") > 0)
            .then(pl.col("total") ** 2 / (pl.col("flows") * pl.col("squares")))
            .otherwise(1.0),
        )
    )


def convergence_time_s(goodput: pl.DataFrame, delta: float = 0.7) -> float | None:
    """When shares become delta-fair and remain so; None if they never do.

    Two flows are delta-fair when their shares lie between (1 - delta)/2 and (1 + delta)/2 (Bansal
    et al. 2001, RFC 5166); for n flows we take (1 -+ delta)/n. In s, the middle of the first such
    bin of `goodput_bps`.
    """
    shares = goodput.pivot(on="flow", index="time_ps", values="bps").sort("time_ps").fill_null(0.0)
    rates = shares.drop("time_ps").to_numpy()
    totals = rates.sum(axis=1, keepdims=True)
    relative = np.divide(rates, totals, out=np.zeros_like(rates), where=totals > 0)
    flows = rates.shape[1]
    fair = np.all(np.abs(relative - 1 / flows) <= delta / flows + 1e-12, axis=1)
    unfair = np.flatnonzero(~fair)
    first = int(unfair[-1]) + 1 if unfair.size else 0
    return float(shares["time_ps"][first] / PS_PER_S) if first < len(fair) else None
