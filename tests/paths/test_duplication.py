"""Duplication by the P4 program in whole runs: its share, the ledger, conservation, refusals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from scapy.layers.inet import TCP
from scapy.layers.l2 import Ether

from narrows.testbed.problems import InputError
from narrows.testbed.scenario.plan import make_plan
from narrows.testbed.scenario.sweep import read
from narrows.testbed.targets import TARGETS
from tests.paths.test_impairments import BULK, DUMBBELL, UDP, ran
from tests.support.world import RunDirectory, run, write

SHARE = 'duplicate = "10%"\n'
MOST = 1 - 2**-32
EVENT = """
[[event]]
at = "5s"
set = { bottleneck = { duplicate = "20%" } }
"""
SENT = 6_250
"""Datagrams of 1,000 bytes in 10 s at 5 Mb/s."""


def deviation(trials: int, p: float) -> float:
    """The standard deviation of a binomial."""
    return float((trials * p * (1 - p)) ** 0.5)


def bottleneck(done: RunDirectory) -> pl.DataFrame:
    """The bottleneck's rows of the ledger."""
    return done.table("queue").filter(port=2)


def duplicated(done: RunDirectory) -> int:
    """The packets that the switch sent twice, by its own count."""
    return int(done.summary["switches"]["s1"].get("duplicated", 0))


def test_the_ledger_has_both_copies_with_their_fates(tmp_path: Path) -> None:
    """At 90 % of the rate before duplication, so that the queue of 10 packets refuses some."""
    fast = UDP.replace("5Mbps", "9Mbps")
    done = ran(tmp_path, SHARE, fast, bottleneck__queue="10packets")
    rows, counts = bottleneck(done), done.summary["bottleneck"]
    arrivals = rows.filter(pl.col("event").is_in(["enqueue", "drop"]))
    copies = arrivals.filter(reason="duplicate")
    [flow] = done.summary["flows"]
    assert set(copies["event"]) == {"enqueue"}
    assert set(rows.filter(event="drop")["reason"]) == {"queue-full"}
    # Sent and duplicated packets are the queued and the dropped ones.
    assert arrivals["packet"].n_unique() == len(arrivals) == counts["arrived"]
    in_flight = flow["sent_segments"] + duplicated(done) - counts["arrived"]
    assert 0 <= in_flight <= 2
    assert counts["arrived"] == counts["dequeued"] + counts["queued"] + counts["dropped"]
    assert counts["dropped"] > 50
    # A refused copy has the reason of its drop.
    assert 0 < duplicated(done) - len(copies) <= counts["dropped"]
    # A copy arrives with its packet, which has the number before.
    earlier = arrivals.select(pl.col("packet") + 1, "flow", "length_bytes", "time_ps")
    assert len(copies.join(earlier, on=earlier.columns)) == len(copies)
    assert flow["datagrams"]["duplicates"] > 0


def test_the_share_is_the_probability(tmp_path: Path) -> None:
    """Ten seeds: each within 4.5 standard deviations, their mean within 4."""
    shares = []
    for seed in range(10):
        done = ran(tmp_path / str(seed), SHARE, seed=seed, record__queue=False)
        received = done.summary["bottleneck"]["arrived"] - duplicated(done)
        assert SENT - 2 <= received <= SENT + 1
        shares.append(duplicated(done) / received)
        assert abs(shares[-1] - 0.1) < 4.5 * deviation(SENT, 0.1) / SENT
    assert len(set(shares)) > 5
    assert abs(sum(shares) / 10 - 0.1) < 4 * deviation(10 * SENT, 0.1) / (10 * SENT)


def test_a_run_with_duplication_follows_from_its_seed(tmp_path: Path) -> None:
    first, again, other = (
        bottleneck(ran(tmp_path / str(number), SHARE, seed=seed))
        for number, seed in enumerate((1, 1, 2))
    )
    assert first.equals(again)
    assert not first.equals(other)


def test_lost_packets_are_not_duplicated(tmp_path: Path) -> None:
    done = ran(tmp_path, f'loss = "30%"\nduplicate = {MOST}\n')
    lost = done.summary["switches"]["s1"]["dropped_ingress"]
    assert abs(lost - 0.3 * SENT) < 4.5 * deviation(SENT, 0.3)
    assert done.summary["bottleneck"]["arrived"] == 2 * duplicated(done)
    assert SENT - 2 <= lost + duplicated(done) <= SENT + 1


def test_the_link_duplicates_what_the_program_did(tmp_path: Path) -> None:
    """A share is the program's, so its copies enter the link as packets of their own."""
    done = ran(tmp_path, SHARE + 'jitter = { time = "1ms" }\n')
    [link] = [one for one in done.summary["links"] if one["direction"] == "out"]
    assert link["duplicated"] == 0 < duplicated(done)
    assert link["received"] == done.summary["bottleneck"]["dequeued"]


@pytest.mark.parametrize("discipline", ["codel", "p4-codel", "fq-codel", "p4-dualpi2"])
def test_tcp_completes_under_duplication(tmp_path: Path, discipline: str) -> None:
    keys = f'{SHARE}discipline = "{discipline}"\n'
    flow = BULK + "\necn = true"
    done = ran(tmp_path, keys, flow, duration="completion")
    [flow_summary] = done.summary["flows"]
    assert done.summary["valid"]
    assert flow_summary["delivered_bytes"] == 3_000_000
    # Each packet, and each copy, left or was dropped once.
    rows = bottleneck(done)
    left, dropped = (set(rows.filter(event=event)["packet"]) for event in ("dequeue", "drop"))
    arrived = set(rows["packet"])
    assert arrived == left | dropped
    assert len(arrived) == done.summary["bottleneck"]["arrived"]
    copies = rows.filter(reason="duplicate")
    refused = rows.filter(event="drop", reason="queue-full")
    assert 0 <= duplicated(done) - len(copies) <= len(refused)
    assert abs(duplicated(done) - 0.1 * (len(arrived) - duplicated(done))) < 4.5 * deviation(
        len(arrived), 0.1
    )


def test_receivers_report_duplicates_to_senders(tmp_path: Path) -> None:
    """A second copy of a data segment is answered at once, with its bytes as the first SACK block:
    below the cumulative ACK, or within the second block (RFC 2883 section 4).
    """
    keys = SHARE.replace("10%", "2%")
    done = ran(tmp_path, keys, BULK, duration="completion", profile="linux", record__capture=True)
    copies = bottleneck(done).filter(reason="duplicate").filter(pl.col("length_bytes") > 1000)
    sent = done.table("capture").filter(direction="sent")
    reports = 0
    for frame in sent["bytes"]:
        tcp = Ether(frame)[TCP]
        edges = dict(tcp.options).get("SAck", ())
        if edges:
            within = edges[2] <= edges[0] and edges[1] <= edges[3] if len(edges) > 2 else False
            reports += within or edges[1] <= tcp.ack
    assert reports == len(copies) > 20


def test_an_event_turns_duplication_on(tmp_path: Path) -> None:
    done = ran(tmp_path, "", events=EVENT)
    copies = bottleneck(done).filter(reason="duplicate")
    assert (copies["time_ps"] >= 5 * 10**12).all()
    assert abs(len(copies) - 0.2 * SENT / 2) < 4.5 * deviation(SENT // 2, 0.2)


def test_every_link_of_a_topology_can_duplicate(tmp_path: Path) -> None:
    """A parking lot's two links: each doubles what it carries."""
    text = DUMBBELL.replace("[bottleneck]", "[parking_lot]\nlinks = 2")
    text = text.replace("KEYS", f"duplicate = {MOST}").replace("FLOW", UDP)
    done = run(tmp_path, text, flow__0__app__rate="1Mbps")
    there = done.table("queue").filter(event="enqueue")
    by_switch = dict(there.group_by("switch").len().iter_rows())
    assert by_switch["s2"] == pytest.approx(2 * by_switch["s1"], abs=8)
    assert by_switch["s1"] == pytest.approx(2 * SENT / 5, abs=4)


def test_a_plan_without_duplication_has_no_group(tmp_path: Path) -> None:
    def groups(keys: str, events: str = "") -> Any:
        text = DUMBBELL.replace("KEYS", keys).replace("FLOW", UDP) + events
        [point] = read(write(tmp_path, text))
        [switch] = make_plan(point.scenario, str(tmp_path / "s.toml"))["switches"]
        return switch["multicast_groups"]

    twice = [{"id": 3, "replicas": [{"port": 2, "rid": 0}, {"port": 2, "rid": 1}]}]
    assert groups("") == groups('duplicate = { probability = "10%" }') == []
    assert groups(SHARE) == groups("", EVENT) == json.loads(json.dumps(twice))


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("duplicate = 1.5\n", "bottleneck.duplicate = 1.5"),
        ("duplicate = 1\n", "bottleneck.duplicate = 1"),
        ("duplicate = -0.1\n", "bottleneck.duplicate = -0.1"),
        ('duplicate = "150%"\n', "bottleneck.duplicate = "),
        ("duplicate = { probability = 1.5 }\n", "bottleneck.duplicate.probability"),
        ("duplicate = { share = 0.5 }\n", "bottleneck.duplicate.share"),
    ],
)
def test_bad_shares_name_their_key(tmp_path: Path, keys: str, expected: str) -> None:
    with pytest.raises(InputError, match=expected):
        ran(tmp_path, keys)


def test_an_event_at_an_unknown_link_is_refused(tmp_path: Path) -> None:
    elsewhere = EVENT.replace("bottleneck = {", 'link."s1->s9" = {')
    with pytest.raises(InputError, match="s1->s9"):
        ran(tmp_path, "", events=elsewhere)


def checked(directory: Path, target: str, keys: str, events: str = "") -> None:
    """The target's check of the dumbbell."""
    text = DUMBBELL.replace("KEYS", keys).replace("FLOW", UDP) + events
    source = write(directory, text)
    [point] = read(source)
    TARGETS[target].check(point.scenario, str(source), {})


@pytest.mark.parametrize("target", ["tofino", "fpga"])
def test_targets_without_the_stage_refuse_it(tmp_path: Path, target: str) -> None:
    with pytest.raises(InputError, match=rf"bottleneck.duplicate.*--target {target}"):
        checked(tmp_path, target, SHARE)
    with pytest.raises(InputError, match=rf"event.0.set.bottleneck.duplicate.*--target {target}"):
        checked(tmp_path, target, "", EVENT)


def test_bmv2_does_not_duplicate_for_dualpi2(tmp_path: Path) -> None:
    """There a copy of each scalable packet takes a turn in the classic queue, and that of a
    duplicate would be missing.
    """
    checked(tmp_path, "bmv2", SHARE)
    coupled = 'discipline = "p4-dualpi2"\n'
    with pytest.raises(InputError, match=r"bottleneck.duplicate.*p4-dualpi2"):
        checked(tmp_path, "bmv2", SHARE + coupled)
    with pytest.raises(InputError, match=r"event.0.set.bottleneck.duplicate.*p4-dualpi2"):
        checked(tmp_path, "bmv2", coupled, EVENT)
