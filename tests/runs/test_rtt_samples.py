"""`rtt_ps` of `flows.parquet` is the sample of the same acknowledgement."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from tests.support.world import TWO_FLOWS, run


def test_a_duplicate_ack_gives_no_round_trip_sample(tmp_path: Path) -> None:
    """NewReno without SACK times one segment per round trip; duplicates acknowledge none (Karn)."""
    text = TWO_FLOWS.replace('profile = "linux"', 'profile = "rfc"')
    text = text.replace('variant = "reno"', 'variant = "reno"\nrecovery = "newreno"')
    rows = run(tmp_path, text).table("flows").filter(pl.col("flow") == 1)
    is_duplicate = (pl.col("acked_bytes").diff() == 0) & (pl.col("phase") == "fast-recovery")
    duplicates = rows.filter(is_duplicate)
    assert len(duplicates) > 10
    assert duplicates["rtt_ps"].null_count() == len(duplicates)
    assert rows["rtt_ps"].null_count() < len(rows)
