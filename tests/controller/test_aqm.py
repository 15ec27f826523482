"""The entries of the P4 program's disciplines, and their conversion to another unit of time."""

from __future__ import annotations

from narrows.controller import aqm
from narrows.controller.state import SwitchState, TableEntry

CODEL = {"target": 5e9, "interval": 1e11, "ecn": 1.0}
MATCHES = {"codel_target": 5_000_000, "codel_interval": 100_000_000, "mark_instead": 1}


def entry(parameters: dict[str, float]) -> TableEntry:
    """CoDel's entry at port 2."""
    ((stage, value),) = aqm.stages("p4-codel", parameters).items()
    return stage.entry(2, value)


def test_codel_is_set_in_nanoseconds() -> None:
    assert entry(CODEL).table == "NarrowsEgress.codel.codel"
    assert entry(CODEL).params == MATCHES


def test_longer_ticks_convert_the_durations_only() -> None:
    other = TableEntry("t", {}, "a", {"codel_target": 5000})
    converted, same = aqm.in_longer_ticks(SwitchState((entry(CODEL), other)), 1000).entries
    assert converted.params == {
        "codel_target": 5000,
        "codel_interval": 100_000,
        "mark_instead": 1,
    }
    assert converted.key == entry(CODEL).key
    assert same == other


def test_a_duration_has_at_least_one_tick() -> None:
    short = entry(CODEL | {"target": 5e5})
    (converted,) = aqm.in_longer_ticks(SwitchState((short,)), 1000).entries
    assert converted.params["codel_target"] == 1


def test_an_unknown_name_is_the_traffic_managers() -> None:
    assert not aqm.is_stage("codel")
    assert aqm.stages("codel", {}) == {}
