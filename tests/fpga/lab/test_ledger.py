"""A ledger and its figures from a board's reports, and the verdict on a run."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any, cast

import numpy as np
import polars as pl
import pytest

from narrows.controller.drivers.fpga_counts import COUNTED, EVENTS, Counts
from narrows.controller.drivers.fpga_protocol import Direction
from narrows.controller.events import Done
from narrows.schema.tables import TABLES
from narrows.testbed.targets.fpga import ledger, verdict
from narrows.testbed.targets.fpga.clock import Reading
from narrows.testbed.targets.fpga.control import Found
from narrows.testbed.targets.fpga.run import BOARD_MAC

REPORT = struct.Struct(">II3sB8sBBBBQQIIQQ")
ENQUEUE, DEQUEUE, DROP = range(3)
MS = 10**9
LIMITS: Any = {
    "departure_error_ps": MS, "rate_error": 0.01, "poll_gap_ps": 10 * MS, "lost_packets": 0,
}  # fmt: skip
ROWS = [
    # Kind, reason, number, at, counted, packets, bytes, sojourn.
    (ENQUEUE, 0, 40, 1 * MS, 100, 1, 100, 0),
    (DEQUEUE, 0, 40, 1 * MS, 100, 0, 0, 0),
    (ENQUEUE, 0, 41, 2 * MS, 200, 1, 200, 0),
    (DROP, 0, 42, 3 * MS, 300, 1, 200, 0),
    (DROP, 2, 43, 3 * MS, 300, 1, 200, 0),
    (DEQUEUE, 0, 41, 6 * MS, 200, 0, 0, 4 * MS),
]


def reports(directory: Path, numbers: list[int] | None = None) -> ledger.Reports:
    made = b"".join(
        REPORT.pack(
            2 << 28 | number, 0, bytes.fromhex("100d0b"), 0, bytes.fromhex("00004e4104000000"),
            0, kind, reason, 0, *rest,
        )
        for number, (kind, reason, *rest) in zip(numbers or range(6), ROWS, strict=True)
    )  # fmt: skip
    path = directory / "reports"
    path.write_bytes(made + bytes(64))
    return ledger.read_reports(path)


def rows(directory: Path, **flows: Any) -> pl.DataFrame:
    known = {2: np.array(flows.get("flows", []), np.int32)}
    return ledger.queue_rows(reports(directory), {2: 0, 1: 1}, MS, {2: 40, 1: 0}, "s1", known)


def test_reports_become_the_ledger_without_random_losses(tmp_path: Path) -> None:
    made = rows(tmp_path, flows=[1, 2, 2, 1])
    assert made.columns == list(TABLES["queue"].columns)
    assert made.select("time_ps", "port", "event", "reason", "packet", "flow").rows() == [
        (0, 2, "enqueue", "", 0, 1),
        (0, 2, "dequeue", "", 0, 1),
        (1 * MS, 2, "enqueue", "", 1, 2),
        (2 * MS, 2, "drop", "queue-full", 2, 2),
        (5 * MS, 2, "dequeue", "", 1, 2),
    ]


def test_packets_without_a_seen_frame_have_no_flow(tmp_path: Path) -> None:
    assert rows(tmp_path, flows=[5])["flow"].to_list() == [5, 5, 0, 0, 0]


def test_reports_that_did_not_arrive_are_counted(tmp_path: Path) -> None:
    last = (1 << 22) - 1
    assert reports(tmp_path, [last - 1, last, 0, 1, 4, 5]).gaps == 2


def test_figures_are_averages_over_time(tmp_path: Path) -> None:
    # One packet waits 4 of 10 ms; 300 B leave of 8 kb/s x 10 ms... = 1,250 B.
    found = ledger.figures(rows(tmp_path), 10 * MS, 8 * 1250)
    assert found["utilization"] == pytest.approx(300 / 1250)
    assert found["queue_packets_mean"] == pytest.approx(0.4)
    assert (found["queue_packets_max"], found["queue_bytes_max"]) == (1, 200)
    assert found["queue_bytes_mean"] == pytest.approx(80)
    delays = found["queue_delay_ms"]
    assert delays is not None
    assert (delays["min"], delays["mean"], delays["max"]) == (0, 2, 4)


def frame(destination: bytes, ports: bytes) -> bytes:
    addresses = bytes([10, 0, 0, 1, 10, 1, 0, 1])
    ip = bytes(9) + b"\x06" + bytes(2) + addresses
    return (destination + bytes(6) + b"\x08\x00" + ip + ports).ljust(64, b"\0")


def test_the_flow_of_a_frame_is_that_of_its_ports(tmp_path: Path) -> None:
    host, ours, other = bytes(6), bytes.fromhex("27111389"), bytes.fromhex("27121389")
    path = tmp_path / "frames"
    sent = [frame(host, ours), frame(BOARD_MAC, ours), frame(host, other), frame(host, ours)]
    path.write_bytes(b"".join(sent))
    end = {"ip": "10.0.0.1", "port": 10001}, {"ip": "10.1.0.1", "port": 5001}
    plan: Any = {"flows": [{"flow": {"id": 3, "source": end[0], "destination": end[1]}}]}
    assert ledger.flows_of(path, BOARD_MAC, plan).tolist() == [3, 0, 3]
    path.write_bytes(b"")
    assert ledger.flows_of(path, BOARD_MAC, plan).tolist() == []


def counts(**changes: int) -> Counts:
    """The counts of ROWS, with changes of events."""
    packets = {"enqueue": 2, "dequeue": 2, "queue-full": 1, "random-loss": 1}
    cells = {key: (packets.get(key[1] or key[0], 0), 0) for key in COUNTED}
    events = {event: changes.get(event.name, 0) for event in EVENTS}
    return Counts(cells, {**events, Direction.LEFT: changes.get("LEFT", 2)})


def verdict_on(tmp_path: Path, found: Found | None = None, **changes: Any) -> list[str]:
    zero = Counts(dict.fromkeys(COUNTED, (0, 0)), dict.fromkeys(EVENTS, 0))
    clock = Reading(0, MS, 1000), Reading(10**9, MS + changes.pop("second", 10**12), 1000)
    wires: dict[str, Any] = {
        "sent": {"name": "senders", "sent": changes.pop("sent", 4)},
        "handed": {"name": "receivers", "received": changes.pop("received", 2)},
    }
    arrived = changes.pop("reports", 6)
    evidence = verdict.Evidence(
        found=found or Found(
            at_set_up={2: zero}, before={2: zero}, after={2: counts(**changes)},
            begin=clock[0], end=clock[1], latest_ps={2: 9 * MS},
        ),
        rows=rows(tmp_path), received={2: arrived}, gaps=0, end_ps=10**12, on_the_way_ps=0,
        bottleneck=2, wires={2: wires["sent"]}, peers={2: wires["handed"]},
    )  # fmt: skip
    return verdict.excesses(evidence, LIMITS)


def test_a_run_whose_counts_agree_is_valid(tmp_path: Path) -> None:
    assert verdict_on(tmp_path) == []


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"sent": 5}, "senders sent 5 frames and 4 arrived; expected as many"),
        ({"LEFT": 1, "received": 1}, "2 packets entered, 2 left the queue, 1 left the board"),
        ({"received": 1}, "2 frames left and receivers received 1"),
        ({"received": 3}, "2 frames left and receivers received 3"),
        ({"reports": 5}, "5 of 6 rows arrived"),
        ({"ROWS_LOST": 1}, "1 rows that no report brought; expected at most 0"),
        ({"UNDERRUNS": 2}, "2 underruns"),
        ({"LATE": 1}, "1 frames left late, one by 9000.0 us"),
        ({"second": 98 * 10**10}, "the board's clock was off by -20000 parts per million"),
    ],
)
def test_what_is_missing_or_late_voids_a_run(
    tmp_path: Path, changes: dict[str, Any], said: str
) -> None:
    [reason] = verdict_on(tmp_path, **changes)
    assert said in reason


def test_a_board_that_vanished_is_the_only_reason(tmp_path: Path) -> None:
    found = Found(lost="the board does not answer, 3.0 s after the start of the run")
    assert verdict_on(tmp_path, found) == [f"fpga: {found.lost}"]


def test_an_event_that_was_late_voids_a_run(tmp_path: Path) -> None:
    zero = Counts(dict.fromkeys(COUNTED, (0, 0)), dict.fromkeys(EVENTS, 0))
    late = Done(0, 20 * MS, 5)
    found = Found(done=[(cast("Any", {}), late)], at_set_up={2: zero}, before={2: zero})
    assert verdict_on(tmp_path, found) == ["fpga: an event was 20.0 ms late"]
