"""A scenario's alternative spellings, and the errors for wrong ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from narrows.testbed.problems import InputError
from narrows.testbed.scenario import sweep
from narrows.testbed.scenario.plan import make_plan
from tests.support.world import TWO_FLOWS, narrows, write

DELAY = 'delay = "5ms"\nqueue'


def plan(tmp_path: Path, text: str) -> Any:
    source = write(tmp_path, text)
    return make_plan(sweep.read(source)[0].scenario, str(source))


def problem(tmp_path: Path, text: str) -> str:
    with pytest.raises(InputError) as caught:
        plan(tmp_path, text)
    return str(caught.value)


def test_an_rtt_stands_for_the_bottlenecks_delay(tmp_path: Path) -> None:
    assert DELAY in TWO_FLOWS
    # 2 x (2 x 1 ms + 5 ms) = 14 ms.
    other = 'rtt = "14ms"' + TWO_FLOWS.replace(DELAY, "queue")
    assert plan(tmp_path, other) == plan(tmp_path, TWO_FLOWS)


def test_an_rtt_and_a_delay_must_agree(tmp_path: Path) -> None:
    plan(tmp_path, 'rtt = "14ms"' + TWO_FLOWS)
    assert "rtt: disagrees with bottleneck.delay" in problem(tmp_path, 'rtt = "15ms"' + TWO_FLOWS)


def test_an_rtt_below_the_access_links_is_refused(tmp_path: Path) -> None:
    text = 'rtt = "3ms"' + TWO_FLOWS.replace(DELAY, "queue")
    assert "rtt: is below 4 x access.delay; expected at least 4ms" in problem(tmp_path, text)


@pytest.mark.parametrize(
    ("threshold", "packets"), [("20", 20), ('"20packets"', 20), ('"30280B"', 20), ('"5ms"', 2)]
)
def test_a_marking_threshold_may_be_bytes_or_time(
    tmp_path: Path, threshold: str, packets: int
) -> None:
    # 5 ms at 5 Mb/s are 3125 bytes: two packets of 1514.
    text = TWO_FLOWS.replace("[access]", f"ecn_threshold = {threshold}\n[access]")
    assert f'"ecn_threshold": "{packets:#x}"' in json.dumps(plan(tmp_path, text))


def test_a_threshold_in_an_event_takes_the_rate_of_then(tmp_path: Path) -> None:
    text = TWO_FLOWS.replace("[access]", "ecn_threshold = 9\n[access]") + (
        '[[event]]\nat = "1s"\nset.bottleneck.rate = "10Mbps"\n'
        '[[event]]\nat = "2s"\nset.bottleneck.ecn_threshold = "5ms"\n'
    )
    assert '"ecn_threshold": "0x4"' in json.dumps(plan(tmp_path, text)["events"])


def test_a_key_in_the_wrong_table_is_sent_to_its_own(tmp_path: Path) -> None:
    rtt = TWO_FLOWS.replace(DELAY, 'rtt = "14ms"\nqueue')
    assert "bottleneck.rtt: belongs to the whole scenario; write rtt above the first [table]" in (
        problem(tmp_path, rtt)
    )
    count = TWO_FLOWS.replace("[access]", "[access]\nvariant = 'reno'")
    assert "access.variant: is an unknown key here; it belongs to [flow]" in problem(
        tmp_path, count
    )


@pytest.mark.parametrize("value", ["5s", "5 s", "50Mb/s", "1%", ".5s"])
def test_a_quantity_without_quotes_is_named(tmp_path: Path, value: str) -> None:
    said = problem(tmp_path, f"duration = {value}  # unquoted\n")
    assert f'line 1: a quantity stands in quotes; expected duration = "{value}"' in said


@pytest.mark.parametrize(
    "text", ["x = " + "[" * 5000 + "]" * 5000, ".".join("a" * 5000) + " = 1", "x = " + "[" * 30]
)
def test_a_deep_file_is_refused(tmp_path: Path, text: str) -> None:
    assert "nested too deeply" in problem(tmp_path, text) or "not valid TOML" in problem(
        tmp_path, text
    )


def test_a_file_without_end_is_refused() -> None:
    with pytest.raises(InputError, match="has more than 10 MB"):
        sweep.read(Path("/dev/zero"))


@pytest.mark.parametrize("name", ["..", ".hidden"])
def test_results_stay_inside_their_directory(tmp_path: Path, name: str) -> None:
    source = write(tmp_path, TWO_FLOWS, name)
    ran = narrows("run", source, "--out", tmp_path / "out/results", "--no-figures")
    assert ran.returncode == 2
    assert "expected a name that does not begin with a dot" in ran.stderr
    assert not (tmp_path / "out").exists()
