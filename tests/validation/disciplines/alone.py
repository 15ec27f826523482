"""The columns with the tests of a queue discipline alone, on given arrivals."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from narrows.controller import aqm
from narrows.testbed import catalogue
from tests.validation.named import by_file_or_name
from tests.validation.table import Cell, Column

TEXT = """\
Tests of each discipline of the traffic manager alone, on given arrivals.

- *Arithmetic*: numbers by hand.
- *Pseudocode*: of RFC 8289, and of RFC 9332 as tables, written out in the tests.
- *ns-2, ns-3*: recordings with the same arrivals and random numbers (`queueing/tests/recordings`).
  RED has the average, the `max_p` and the drops of ns-2 2.35 on each packet. PIE drops what ns-3
  3.37 drops. CoDel, FQ-CoDel and COBALT keep the bounds of the table after the next.

Property tests run each discipline of the list (`queueing/tests/properties.rs`). Packets are
conserved. None is dropped or marked without a reason of the discipline's record. The order is kept,
by flow where a discipline says so. A port never idles while packets wait."""

ROWS = [name for name in map(str, catalogue.names("disciplines")) if not aqm.is_stage(name)]

SHARED = {
    "a_round_robin_shares_bytes_not_packets": ("drr", "fq-codel"),
    "a_new_flow_is_served_before_a_standing_queue": ("drr", "fq-codel"),
    "the_fattest_flow_makes_room": ("drr", "fq-codel"),
    "a_step_marks_what_exceeds_its_threshold": ("ecn-threshold",),
    "a_ramp_marks_ever_more": ("ecn-threshold",),
    "departures_are_lindleys": ("drop-tail",),
    "the_ledger_is_conserved": ("drop-tail",),
}
"""Tests that bear no discipline's name, and whose they are."""
SHARED_IN = ("queueing/tests/fair.rs", "switch/tests/traffic_manager.rs")


def with_shared(named: Callable[[str], Cell | None]) -> Callable[[str], Cell | None]:
    """The cell with a row's tests and those that it shares."""

    def cell(row: str) -> Cell | None:
        own = [f"`{test}`" for test, rows in SHARED.items() if row in rows]
        found = named(row)
        return Cell(", ".join([*([found.text] if found else []), *own])) if found or own else None

    return cell


def columns() -> Sequence[Column]:
    """Each oracle."""
    arithmetic = by_file_or_name(
        ROWS, "queueing/src/disciplines/*.rs", "switch/tests/ack_filter.rs"
    )
    pseudocode = ("queueing/tests/codel.rs", "queueing/tests/dualpi2*.rs")
    recordings = ("queueing/tests/ns3.rs", "queueing/tests/red.rs")
    return [
        Column("arithmetic", with_shared(arithmetic)),
        Column("pseudocode", by_file_or_name(ROWS, *pseudocode)),
        Column("ns-2, ns-3", by_file_or_name(ROWS, *recordings)),
    ]
