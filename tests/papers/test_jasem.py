"""scenarios/new-aimd.toml against what its parameters imply, worked out before it was run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from narrows.testbed import engine
from narrows.testbed.scenario import plan, sweep
from tests.support.world import ROOT

SCENARIO = ROOT / "scenarios/new-aimd.toml"
FLOWS = 3


@pytest.fixture(scope="module")
def summaries(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """The first seed's summary for each variant."""
    found = {}
    for point in sweep.read(SCENARIO, [("flow.count", FLOWS)]):
        if point.scenario.seed == 1:
            out = tmp_path_factory.mktemp("run")
            made = plan.make_plan(point.scenario, str(SCENARIO))
            engine.run(json.dumps(made), str(out), None)
            loaded = json.loads(Path(out, "summary.json").read_text())
            found[str(point.values["flow.variant"])] = loaded
    return found


@pytest.mark.parametrize("variant", ["new-aimd", "aimd-fc-plus", "reno"])
def test_every_rule_ends_at_the_links_bound(
    summaries: dict[str, dict[str, Any]], variant: str
) -> None:
    """Half a 100-packet queue still fills a 3-packet pipe, so the link never idles.

    All rules take the transmission time of the bytes: 13,699 segments a flow with 54 B of headers.
    """
    segments = -(-20_000_000 // 1460)
    assert segments == 13_699
    bound_s = FLOWS * (20_000_000 + segments * 54) * 8 / 5e6
    flows = summaries[variant]["flows"]
    done_s = max(flow["start_s"] + flow["completion_s"] for flow in flows)
    done_s -= min(flow["start_s"] for flow in flows)
    assert bound_s < done_s < 1.005 * bound_s
    assert summaries[variant]["bottleneck"]["utilization"] > 0.995


def test_cutting_less_keeps_a_longer_queue_and_loses_more(
    summaries: dict[str, dict[str, Any]],
) -> None:
    """New-AIMD's cuts shrink with every event.

    So its queue is nearer to the limit than with halving, and it reaches the limit more often. The
    paper concludes the opposite.
    """
    new, reno = summaries["new-aimd"]["bottleneck"], summaries["reno"]["bottleneck"]
    assert new["queue_packets_mean"] > reno["queue_packets_mean"]
    assert new["dropped"] > 2 * reno["dropped"]
    # Halving at about 100 packets and one more in the pipe swings between 50 and 100.
    assert 65 < reno["queue_packets_mean"] < 90
    assert new["queue_packets_max"] == reno["queue_packets_max"] == 100


def test_a_flow_alone_queues_at_its_own_interface(tmp_path: Path) -> None:
    """Its access link is as slow as the bottleneck, so packets wait at the switch only because of
    the link's jitter. The exception is the last segment, 974 B with headers. It is 540 B shorter,
    and catches up with its predecessor by that transmission time.
    """
    point = sweep.read(SCENARIO, [("flow.count", 1), ("flow.variant", "reno")])[0]
    made = plan.make_plan(point.scenario, str(SCENARIO))
    summary = engine.run(json.dumps(made), str(tmp_path), None)
    delay_ms, rtt_ms = summary["bottleneck"]["queue_delay_ms"], summary["flows"][0]["rtt_ms"]
    assert delay_ms is not None
    assert rtt_ms is not None
    assert delay_ms["p99"] < 1e-4
    assert delay_ms["max"] == pytest.approx(540 * 8 / 5e3, rel=1e-3)
    assert rtt_ms["max"] > 200
