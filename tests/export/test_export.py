"""Runs in the formats of other tools, read by those tools if they are installed."""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from narrows.analysis.export import ExportError, export
from narrows.analysis.load import Run, load
from narrows.testbed.cli.main import main
from tests.support.needs import programs
from tests.support.world import called
from tests.support.world import write as write_scenario

SCENARIO = """
title = "Two flows, captured"
duration = "3s"
[bottleneck]
rate = "5Mbps"
delay = "5ms"
queue = "20packets"
[access]
rate = "100Mbps"
delay = "1ms"
[[flow]]
variant = "reno"
[[flow]]
variant = "cubic"
start = "500ms"
[record]
capture = true
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    directory = tmp_path_factory.mktemp("export")
    source = write_scenario(directory, SCENARIO, "small")
    done = called("run", source, "--out", directory, "--no-figures")
    assert done.returncode == 0, done.stderr
    return load(directory / "small")[0]


def written(run: Run, name: str) -> Path:
    (path,) = export([run.path.parent], name)
    return path


def test_a_format_that_is_none_is_refused_with_the_nearest(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", str(run.path), "--format", "pcap"]) == 2
    assert 'did you mean "pcapng"?' in capsys.readouterr().err


def test_exports_stand_beside_the_runs_and_are_none(run: Run) -> None:
    done = called("export", str(run.path.parent), "--format", "csv")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(run.path.parent / "export" / run.name)]
    assert [found.name for found in load(run.path.parent)] == [run.name]


def test_a_table_that_was_not_recorded_is_named(run: Run, tmp_path: Path) -> None:
    shutil.copytree(run.path, tmp_path / "run")
    (tmp_path / "run" / "capture.parquet").unlink()
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    del record["files"]
    record["versions"]["narrows"] = "0.1.0"  # It wrote no digests.
    (tmp_path / "run" / "run.json").write_text(json.dumps(record))
    with pytest.raises(ExportError, match=r"run it again with --set record\.capture=true"):
        export([tmp_path / "run"], "pcapng")
    done = called("export", str(tmp_path / "run"), "--format", "pcapng")
    assert done.returncode == 2 and "record.capture=true" in done.stderr
    assert not (tmp_path / "export").exists()


def test_csv_has_every_row(run: Run) -> None:
    path = written(run, "csv")
    for name in ("queue", "flows", "packets", "capture"):
        table, text = run.table(name).collect(), pl.read_csv(path / f"{name}.csv")
        assert text.columns == table.columns and len(text) == len(table)
    queue = pl.read_csv(path / "queue.csv")
    assert queue["time_ps"].to_list() == run.table("queue").collect()["time_ps"].to_list()
    summary = pl.read_csv(path / "summary.csv")
    assert summary["rtt_ms_p95"].to_list() == [
        flow["rtt_ms"] and flow["rtt_ms"]["p95"] for flow in run.flows
    ]


def test_compressed_csv_is_the_same_csv_again(run: Run) -> None:
    plain, packed = written(run, "csv"), written(run, "csv-gz")
    for name in ("queue", "flows", "summary"):
        content = (packed / f"{name}.csv.gz").read_bytes()
        assert gzip.decompress(content) == (plain / f"{name}.csv").read_bytes()
        assert len(content) < 0.6 * len(gzip.decompress(content))
    first = (packed / "queue.csv.gz").read_bytes()
    assert (written(run, "csv-gz") / "queue.csv.gz").read_bytes() == first
    assert not list(packed.glob(".*"))


def test_sampled_csv_has_the_last_row_of_each_interval(run: Run) -> None:
    (path,) = export([run.path], "csv", sample_ps=10**11)
    rows = run.table("flows").collect().to_dicts()
    last = {(row["flow"], row["time_ps"] // 10**11): row for row in rows}
    expected = [row for row in rows if last[row["flow"], row["time_ps"] // 10**11] is row]
    assert len(rows) > 5 * len(expected)
    found = pl.read_csv(path / "flows.csv").to_dicts()
    for key in ("flow", "time_ps", "cwnd_bytes", "acked_bytes"):
        assert [row[key] for row in found] == [row[key] for row in expected]


def test_every_table_can_be_sampled(run: Run) -> None:
    whole = {path.name: pl.read_csv(path) for path in written(run, "csv").glob("*.csv")}
    (path,) = export([run.path.parent], "csv-gz", sample_ps=10**13)
    for name in ("queue.csv", "flows.csv", "packets.csv", "capture.csv"):
        sampled = pl.read_csv(path / f"{name}.gz")
        assert sampled.columns == whole[name].columns
        assert 0 < len(sampled) < len(whole[name])
    events = pl.read_csv(path / "queue.csv.gz")["event"]
    assert set(events) == set(whole["queue.csv"]["event"])
    assert len(pl.read_csv(path / "summary.csv.gz")) == len(run.flows)


@pytest.mark.parametrize(
    ("name", "interval", "message"),
    [
        ("iperf3", "10ms", "iperf3 has no rows to sample; expected --format csv or csv-gz"),
        ("csv", "10", "has no unit"),
        ("csv", "0s", "expected above zero"),
    ],
)
def test_a_sample_that_cannot_be_is_refused(
    run: Run, capsys: pytest.CaptureFixture[str], name: str, interval: str, message: str
) -> None:
    assert main(["export", str(run.path), "--format", name, "--sample", interval]) == 2
    assert message in capsys.readouterr().err


@programs("tshark")
def test_wireshark_reads_the_captures(run: Run) -> None:
    """As many segments as the senders report, in nanoseconds, with correct IPv4 checksums."""
    files = sorted(written(run, "pcapng").glob("*.pcapng"))
    assert len(files) == 4
    fields = ["frame.time_epoch", "frame.cap_len", "frame.len", "ip.src", "tcp.len", "tcp.seq_raw",
              "ip.checksum.status", "frame.packet_flags_direction", "tcp.options.timestamp.tsval",
              "_ws.malformed"]  # fmt: skip
    command = ["tshark", "-n", "-r", str(files[0]), "-o", "ip.check_checksum:TRUE", "-T", "fields"]
    for field in fields:
        command += ["-e", field]
    read = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = [dict(zip(fields, line.split("\t"), strict=True)) for line in read.stdout.splitlines()]
    first = next(flow for flow in run.flows if flow["id"] == min(f["id"] for f in run.flows))
    address = files[0].stem
    sent = [row for row in rows if row["ip.src"] == address and int(row["tcp.len"]) > 0]
    assert len(sent) == first["sent_segments"]
    assert len(sent) - len({row["tcp.seq_raw"] for row in sent}) == first["retransmits"]
    assert {int(row["frame.packet_flags_direction"], 0) for row in sent} == {2}  # outbound
    assert {row["ip.checksum.status"] for row in rows} == {"1"}  # good
    assert {row["_ws.malformed"] for row in rows} == {""}
    assert all(row["tcp.options.timestamp.tsval"] for row in rows)
    assert all(int(row["frame.cap_len"]) <= int(row["frame.len"]) for row in rows)
    host = run.table("capture").filter(pl.col("host") == 0).collect()
    times = [f"{ps // 10**12}.{ps % 10**12 // 1000:09d}" for ps in host["time_ps"].to_list()]
    assert [row["frame.time_epoch"] for row in rows] == times


def test_iperf3_json_adds_up(run: Run) -> None:
    told = json.loads(written(run, "iperf3").read_text())
    assert len(told["intervals"]) == 3 and len(told["start"]["connected"]) == 2
    sums = [sum(stream["bytes"] for stream in one["streams"]) for one in told["intervals"]]
    assert sums == [one["sum"]["bytes"] for one in told["intervals"]]
    for place, flow in enumerate(run.flows):
        streams = [one["streams"][place] for one in told["intervals"]]
        # Bytes acknowledged by the end equal those delivered, except for ACKs in flight.
        delivered = told["end"]["streams"][place]["receiver"]["bytes"]
        assert delivered == flow["delivered_bytes"]
        assert 0 <= delivered - sum(stream["bytes"] for stream in streams) <= 60_000
        assert sum(stream["retransmits"] for stream in streams) == flow["retransmits"]
    assert told["intervals"][0]["streams"][0]["rtt"] == pytest.approx(50_000, rel=0.5)


def keys(value: Any, path: str = "") -> set[str]:
    """The dotted keys of a JSON value, the elements of a list without numbers."""
    if isinstance(value, dict):
        return set().union(*(keys(part, f"{path}.{key}") for key, part in value.items()), {path})
    if isinstance(value, list):
        return set().union(*(keys(part, path) for part in value), {path})
    return {path}


@programs("iperf3")
def test_iperf3_json_has_iperf3s_names(run: Run) -> None:
    port = "52973"
    client = ["iperf3", "-c", "127.0.0.1", "-p", port, "-P", "2", "-t", "1", "-J"]
    server = subprocess.Popen(["iperf3", "-s", "-1", "-p", port], stdout=subprocess.DEVNULL)
    try:
        # Until the server listens, the client is refused and reports that in its JSON.
        for _ in range(50):
            theirs = json.loads(subprocess.run(client, capture_output=True, check=False).stdout)
            if "error" not in theirs:
                break
            time.sleep(0.1)
    finally:
        server.kill()
        server.wait()
    ours = keys(json.loads(written(run, "iperf3").read_text()))
    assert ours - keys(theirs) == set()


def test_flents_numbers(run: Run) -> None:
    told = json.loads(gzip.decompress(written(run, "flent").read_bytes()))
    results = told["results"]
    assert told["x_values"] == pytest.approx([0.2 * (n + 1) for n in range(15)])
    assert results["TCP upload::2"][0] == 0  # it starts at 0.5 s
    both = zip(results["TCP upload::1"], results["TCP upload::2"], strict=True)
    assert results["TCP upload sum"] == pytest.approx([one + other for one, other in both])
    moved = 0.2e6 / 8 * sum(results["TCP upload::1"])
    assert 0 <= run.flows[0]["delivered_bytes"] - moved <= 60_000
    assert written(run, "flent").read_bytes()[4:8] == bytes(4)  # gzip's date


FLENT = Path(sys.executable).parent / "flent"
"""flent of the same environment (PyPI), else of the system (Debian)."""
flent = str(FLENT) if FLENT.is_file() else shutil.which("flent")


@pytest.mark.skipif(flent is None, reason="no flent (pip install flent, or Debian: flent)")
@pytest.mark.parametrize("plot", ["totals", "upload_box", "tcp_cwnd"])
def test_flent_plots_the_file(run: Run, tmp_path: Path, plot: str) -> None:
    picture = tmp_path / f"{plot}.png"
    command = [str(flent), "-i", str(written(run, "flent")), "-p", plot, "-o", str(picture)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr and "ERROR" not in done.stderr, done.stderr
    assert picture.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
