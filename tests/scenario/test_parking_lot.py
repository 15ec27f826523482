"""A parking lot from five lines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from narrows.testbed.problems import InputError
from narrows.testbed.scenario import sweep
from narrows.testbed.scenario.plan import lay_out, make_plan
from tests.support.world import run, write

LOT = """
title = "Three links in a row"
duration = "3s"
[parking_lot]
links = 3
rate = "5Mbps"
delay = "5ms"
queue = "20packets"
[[flow]]
variant = "reno"
name = "long"
[[flow]]
variant = "reno"
link = 2
"""


def layout(tmp_path: Path, text: str) -> Any:
    return lay_out(sweep.read(write(tmp_path, text))[0].scenario)


def test_a_flow_passes_all_links_or_one(tmp_path: Path) -> None:
    laid = layout(tmp_path, LOT)
    numbers = [
        [placed.flow.id for placed in laid.flows_through(laid.links[name][0])]
        for name in ("s1->s2", "s2->s3", "s3->s4")
    ]
    assert numbers == [[1], [1, 2], [1]]
    # 3 x 5 ms there and back.
    assert laid.base_rtt_ps(laid.bottleneck) == 30 * 10**9


def test_the_long_flow_loses_against_the_short_one(tmp_path: Path) -> None:
    long, short = run(tmp_path, LOT).summary["flows"]
    assert short["goodput_bps"] > long["goodput_bps"] > 0
    assert long["rtt_ms"]["min"] > 30 > short["rtt_ms"]["min"] > 10


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("link = 2", "link = 4", "flow.1.link = 4: expected a link from 1 to 3"),
        ("link = 2", 'from = "s1"', "a parking lot places its own"),
        ("[[flow]]", '[bottleneck]\nrate = "5Mbps"\ndelay = "1ms"\n[[flow]]', "another topology"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path: Path, old: str, new: str, says: str) -> None:
    source = write(tmp_path, LOT.replace(old, new, 1))
    with pytest.raises(InputError) as refused:
        make_plan(sweep.read(source)[0].scenario, str(source))
    assert says in str(refused.value)
