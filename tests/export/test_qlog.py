"""qlog files have the form and the field names of the IETF's drafts."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import narrows
from narrows.analysis.export import export
from narrows.analysis.load import Run
from tests.support.world import TWO_FLOWS, write

Fields = dict[str, type]

# draft-ietf-quic-qlog-main-schema: QlogFile, Trace, CommonFields, ReferenceTime, VantagePoint,
# Event
FILE: Fields = {"file_schema": str, "serialization_format": str}
FILE_OPTIONAL: Fields = {"title": str, "description": str, "traces": list}
TRACE: Fields = {"event_schemas": list, "events": list}
TRACE_OPTIONAL: Fields = {
    "title": str,
    "description": str,
    "common_fields": dict,
    "vantage_point": dict,
}
COMMON_OPTIONAL: Fields = {
    "tuple": str,
    "time_format": str,
    "reference_time": dict,
    "group_id": str,
}
REFERENCE: Fields = {"clock_type": str, "epoch": str}
REFERENCE_OPTIONAL: Fields = {"wall_clock_time": str}
VANTAGE: Fields = {"type": str}
VANTAGE_OPTIONAL: Fields = {"name": str, "flow": str}
EVENT: Fields = {"time": float, "name": str, "data": dict}
# draft-ietf-quic-qlog-quic-events: QUICRecoveryMetricsUpdated, QUICCongestionStateUpdated
METRICS: Fields = {
    "min_rtt": float, "smoothed_rtt": float, "latest_rtt": float, "rtt_variance": float,
    "pto_count": int, "congestion_window": int, "bytes_in_flight": int, "ssthresh": int,
    "packets_in_flight": int, "pacing_rate": int,
}  # fmt: skip
STATE: Fields = {"new": str}
STATE_OPTIONAL: Fields = {"old": str, "trigger": str}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    place = tmp_path_factory.mktemp("qlog")
    text = TWO_FLOWS.replace("[[flow]]", '[[flow]]\nname = "bulk"')
    [run] = narrows.run(write(place, text), out=place, quiet=True).runs
    return run


@pytest.fixture(scope="module")
def told(run: Run) -> dict[str, Any]:
    (path,) = export([run.path], "qlog")
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


def check(what: dict[str, Any], required: Fields, optional: Fields) -> None:
    """Every required field is there, and no field that the draft does not have."""
    assert set(required) <= set(what) <= set(required) | set(optional)
    for key, value in what.items():
        assert isinstance(value, (required | optional)[key]), key


def test_the_file_has_the_drafts_fields(told: dict[str, Any]) -> None:
    check(told, FILE, FILE_OPTIONAL)
    assert told["file_schema"] == "urn:ietf:params:qlog:file:contained"
    assert told["serialization_format"] == "application/qlog+json"
    assert [trace["common_fields"]["group_id"] for trace in told["traces"]] == ["1", "2"]
    for trace in told["traces"]:
        check(trace, TRACE, TRACE_OPTIONAL)
        check(trace["common_fields"], {}, COMMON_OPTIONAL)
        check(trace["common_fields"]["reference_time"], REFERENCE, REFERENCE_OPTIONAL)
        check(trace["vantage_point"], VANTAGE, VANTAGE_OPTIONAL)
        [schema] = trace["event_schemas"]
        assert re.fullmatch(r"urn:ietf:params:qlog:events:quic-\d\d", schema)
        assert trace["title"] == "bulk"


def test_the_events_have_the_drafts_fields(told: dict[str, Any]) -> None:
    for trace in told["traces"]:
        for event in trace["events"]:
            check(event, EVENT, {})
            if event["name"] == "quic:recovery_metrics_updated":
                check(event["data"], {}, METRICS)
                assert event["data"]
            else:
                assert event["name"] == "quic:congestion_state_updated"
                check(event["data"], STATE, STATE_OPTIONAL)


def test_the_times_are_milliseconds_in_order(run: Run, told: dict[str, Any]) -> None:
    for trace in told["traces"]:
        times = [event["time"] for event in trace["events"]]
        assert times == sorted(times)
        assert times[0] >= 0 and times[-1] <= 1000 * run.summary["duration_s"]
        assert times[-1] > 1000


def test_the_updates_add_up_to_the_flow_table(run: Run, told: dict[str, Any]) -> None:
    """The last value of each metric is the table's last; round trips are milliseconds."""
    frame = run.table("flows").collect()
    for number, trace in enumerate(told["traces"], start=1):
        rows = frame.filter(frame["flow"] == number)
        state: dict[str, float] = {}
        for event in trace["events"]:
            if event["name"] == "quic:recovery_metrics_updated":
                state |= event["data"]
        last = rows.row(-1, named=True)
        assert state["congestion_window"] == last["cwnd_bytes"]
        assert state["bytes_in_flight"] == last["in_flight_bytes"]
        assert state["smoothed_rtt"] == pytest.approx(last["srtt_ps"] / 1e9)
        least_ps = min(rows["rtt_ps"].drop_nulls())
        assert state["min_rtt"] == pytest.approx(least_ps / 1e9)
        # From the base RTT, 2 x (2 x 1 ms + 5 ms), to that behind a queue of 20 packets of 2.4 ms.
        assert 14 < state["min_rtt"] < 14 + 22 * 2.4


def test_only_changes_are_logged(told: dict[str, Any]) -> None:
    for trace in told["traces"]:
        state: dict[str, Any] = {}
        for event in trace["events"]:
            if event["name"] == "quic:recovery_metrics_updated":
                assert all(state.get(key) != value for key, value in event["data"].items())
                state |= event["data"]


def test_a_change_of_state_names_both_states(told: dict[str, Any]) -> None:
    for trace in told["traces"]:
        changes = [e["data"] for e in trace["events"] if e["name"].endswith("state_updated")]
        assert "old" not in changes[0] and changes[0]["new"] == "slow-start"
        assert [change["old"] for change in changes[1:]] == [
            change["new"] for change in changes[:-1]
        ]
        assert len(changes) > 1


def test_the_same_run_gives_the_same_file(run: Run, tmp_path: Path) -> None:
    (first,), (again,) = (export([run.path], "qlog", tmp_path / name) for name in "ab")
    assert first.read_bytes() == again.read_bytes()
