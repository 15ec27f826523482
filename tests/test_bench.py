"""The benchmark's regression check."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bench import agree, disciplines, run
from bench.peers import Dumbbell, Peer
from bench.sections import peers


def results(calibration: float, **rates: float) -> dict[str, Any]:
    runs = {name: {"packets_per_s": rate} for name, rate in rates.items()}
    return {"sections": {"runs": {"calibration_steps_per_s": calibration, "found": runs}}}


def test_a_slower_machine_is_no_regression() -> None:
    assert run.slower(results(100.0, a=1000.0), results(20.0, a=200.0)) == []


@pytest.mark.parametrize(("rate", "lines"), [(700.0, 0), (600.0, 1)])
def test_a_rate_that_falls_by_a_third_is_one(rate: float, lines: int) -> None:
    found = run.slower(results(100.0, a=1000.0, b=5.0), results(100.0, a=rate, b=5.0))
    assert len(found) == lines
    assert all(line.startswith("runs: a: 0.60") for line in found)


def test_the_committed_results_can_be_compared_with() -> None:
    committed = json.loads(run.RESULTS.read_text())
    assert len(run.rates(committed)) > 15
    assert run.slower(committed, committed) == []


def test_peers_are_compared_by_their_best_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    rates = iter([10, 90, 30, 45])  # ours, the peer, ours, the peer

    def measured(*_: object) -> dict[str, Any]:
        return {"packets_per_s": next(rates)}

    monkeypatch.setattr(peers, "once", measured)
    others: dict[str, Peer] = {"peer": measured, "other": lambda _: "not installed"}
    case = Dumbbell(5, 10**8, 167, 1), dict[str, Any](), others
    assert peers.compare(case, 2) == {
        "ours": {"packets_per_s": 30},
        "peer": {"packets_per_s": 90, "ours_to_it": 0.33},
        "other": None,
    }


def agreed(goodput_bps: float, delay_ms: float, invalid_reason: str | None = None) -> agree.Result:
    bottleneck = {"queue_delay_ms": {"mean": delay_ms}}
    summary = {
        "aggregate_goodput_bps": goodput_bps,
        "bottleneck": bottleneck,
        "invalid_reason": invalid_reason,
    }
    return agree.Result(summary, {})


def test_the_conclusion_of_the_agreement_leaves_out_void_runs() -> None:
    runs = {
        "sim": [agreed(100.0, 10.0), agreed(100.0, 10.0)],
        "dpdk": [agreed(99.0, 10.2), agreed(1.0, 1.0, "late")],
    }
    assert agree.conclusion({agree.CASES[0]: runs}) == (
        "On `dpdk` 1 of 2 runs were valid: goodput within 1.0 % of `sim`, "
        "mean queueing delay within 2.0 %."
    )


def costs(instructions: float, *rates: float) -> dict[str, dict[str, disciplines.Cost]]:
    """CoDel's cost, where DropTail takes 1,000 instructions a packet, at a rate of 1."""
    base = disciplines.Cost([1.0, 1.0], [1.0, 1.0], 1000.0)
    codel = disciplines.Cost([*rates], [1.0, 1.0], instructions)
    return {"losses": {"drop-tail": base, "codel": codel, "pie": base, "fq-codel": base}}


@pytest.mark.parametrize(("instructions", "held"), [(1110.0, True), (1113.0, False)])
def test_a_discipline_is_judged_by_its_instructions(instructions: float, held: bool) -> None:
    """A tenth fewer packets is 1,111 instructions for 1,000. The machine's noise is no matter."""
    worse = disciplines.too_slow(costs(instructions, 0.5, 0.4))
    assert worse == [] if held else worse[0].startswith("losses: codel has 0.898")
    assert "| losses | `codel` | 0.500 (0.500, 0.400) |" in disciplines.table(
        costs(instructions, 0.5, 0.4)
    )


def test_the_fastest_rounds_are_compared() -> None:
    cost = disciplines.Cost([90.0, 48.0, 70.0, 95.0], [80.0, 100.0, 100.0, 50.0])
    assert cost.ratio == pytest.approx(0.95)
    assert cost.halves == pytest.approx([0.9, 0.95])
    assert disciplines.Cost([9.0], [10.0]).halves == [0.9]


def test_a_count_of_callgrind_is_its_total() -> None:
    assert disciplines.total("events: Ir\nfn=(1) a\n3 4\ntotals: 12345\n") == 12345


@pytest.mark.parametrize(
    ("rates", "verdict"),
    [
        ((1.0, 0.98), "All bounds hold."),
        ((0.7, 1.2), "All bounds hold by instructions; rates spread too far to tell."),
        ((0.86, 0.88), "All bounds hold by instructions, not all by rates."),
        ((), "All bounds hold by instructions; rates are missing."),
    ],
)
def test_the_page_says_what_the_bounds_rest_on(rates: tuple[float, ...], verdict: str) -> None:
    assert verdict in disciplines.page(costs(1010.0, *rates), "a command").splitlines()
