"""Messages of whole runs: what `messages.parquet` holds, against arithmetic written out here."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from tests.support.world import ROOT, run

CVE = (ROOT / "scenarios/cve.toml").read_text()

FRAME_BITS = (80 + 20 + 20 + 14) * 8
"""An update in a segment of its own: TCP and IPv4 without options, Ethernet."""


def test_an_update_alone_takes_its_transmission_and_propagation(tmp_path: Path) -> None:
    done = run(tmp_path, CVE, flow__count=1, access__jitter="0s", duration="10s")
    messages = done.table("messages")
    # 10 s / 50 ms are 200; the flow begins within the first interval.
    assert messages["message"].to_list() == list(range(len(messages)))
    assert len(messages) in (199, 200)
    assert set(messages["length_bytes"]) == {80}
    assert set(messages["written_ps"].diff().drop_nulls()) == {50 * 10**9}
    # Access 10 Mb/s and 1 ms, twice; bottleneck 2 Mb/s and 50 ms: 52.7504 ms. The first few
    # wait for the handshake.
    expected_ps = FRAME_BITS * (100_000 + 500_000 + 100_000) + 52 * 10**9
    assert expected_ps == 52_750_400_000
    settled = messages.filter(pl.col("message") >= 10)
    assert set(settled["read_ps"] - settled["written_ps"]) == {expected_ps}


def test_the_summary_counts_what_the_table_holds(tmp_path: Path) -> None:
    done = run(tmp_path, CVE, flow__count=100, duration="10s")
    messages = done.table("messages")
    for flow in done.summary["flows"]:
        own = messages.filter(pl.col("flow") == flow["id"])
        assert flow["messages"]["read"] == len(own)
        # Of the updates readable at one instant, the last one counts.
        assert flow["messages"]["superseded"] == len(own) - own["read_ps"].n_unique()
        assert not flow["messages"]["garbled"]
    # 2.14 Mb/s through 2 Mb/s: updates wait, and arrive together.
    assert sum(flow["messages"]["superseded"] for flow in done.summary["flows"]) > 1_000


def test_a_run_is_a_function_of_its_seed(tmp_path: Path) -> None:
    telnet = CVE.replace(
        '"cve", size = "80B", interval = "50ms"', '"telnet", size = "552B", interval = "0.1s"'
    )
    first, again, other = (
        run(tmp_path / str(n), telnet, flow__count=3, duration="5s", seed=seed).table("messages")
        for n, seed in enumerate((1, 1, 2))
    )
    assert first.equals(again)
    assert not first.equals(other)
    assert len(set(first.filter(pl.col("message") == 0)["written_ps"])) == 3


def test_a_bulk_transfer_has_no_messages(tmp_path: Path) -> None:
    bulk = CVE.replace('"cve", size = "80B", interval = "50ms"', '"bulk"')
    done = run(tmp_path, bulk, flow__count=1, duration="5s")
    assert len(done.table("messages")) == 0
    assert "messages" not in done.summary["flows"][0]
