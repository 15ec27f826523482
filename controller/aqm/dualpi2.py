"""DualPI2 in the P4 program (`p4/aqm/dualpi2.p4`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from narrows.controller.aqm.record import (
    DROPS,
    LONGEST_PS,
    MARKS,
    MOST_32,
    MOST_40,
    NS_PER_S,
    PortDiscipline,
    fixed,
    flag,
    parameter,
    whole_ns,
)
from narrows.controller.matches import Exact
from narrows.controller.objects import CloneSession, Replica
from narrows.controller.stages import REPORT_SESSION, PortStage
from narrows.controller.state import SwitchState, TableEntry

if TYPE_CHECKING:
    from narrows.schema.switch import QueueConfig

MOST_WEIGHT: Final = 100
SEPARATE: Final = "NarrowsIngress.classify_scalable.scalable"
"""The table that chooses between a port's two queues."""
PORT: Final = "meta.egress_port"


def encode(parameters: Mapping[str, float], rate_bps: int) -> dict[str, int]:
    """See `PortDiscipline`."""
    target, update, spread = (whole_ns(parameters[name]) for name in ("target", "update", "range"))
    alpha, coupling = parameters["alpha"] / NS_PER_S, parameters["coupling"]
    return {
        "dualpi2_target": target,
        "dualpi2_update": update,
        "dualpi2_alpha": fixed(alpha, 48, MOST_40),
        "dualpi2_beta": fixed(parameters["beta"] / NS_PER_S, 48, MOST_40),
        "dualpi2_idle_fall": fixed(alpha * target / update, 48, MOST_32),
        "dualpi2_coupling": fixed(coupling, 16, 2**24 - 1),
        "dualpi2_min_th": whole_ns(parameters["min-th"]),
        "dualpi2_range": spread,
        "dualpi2_ramp_slope": fixed(1 / spread, 32, MOST_40) if spread else 0,
        "dualpi2_min_packets": min(int(parameters["min-packets"]), 2**24 - 1),
        "dualpi2_most_classic": fixed(min(1 / coupling**2, 1) if coupling else 1, 32, MOST_40),
    }


def at_ingress(parameters: Mapping[str, float]) -> Sequence[PortStage]:
    """The stage that sends a port's packets to its two queues."""
    constants = {"scalable_any_ect": int(parameters["any-ect"]), "scalable_copies": 0}
    return (PortStage(SEPARATE, "separate", None, constants=constants),)


def with_copies(state: SwitchState) -> SwitchState:
    """The state for a switch that sends each of a port's queues at the port's rate. A copy of each
    scalable packet takes a turn in the classic queue, so that the two share the rate.
    """
    entries, sessions = list[TableEntry](), list(state.clone_sessions)
    for entry in state.entries:
        port = entry.matches.get(PORT)
        if entry.table == SEPARATE and isinstance(port, Exact):
            session = CloneSession(REPORT_SESSION + 1 + port.value, (Replica(port.value),))
            sessions.append(session)
            entry = replace(entry, params={**entry.params, "scalable_copies": session.id})
        entries.append(entry)
    return replace(state, entries=tuple(entries), clone_sessions=tuple(sessions))


def queues(parameters: Mapping[str, float]) -> list[QueueConfig]:
    """The traffic manager's two queues, the scalable one first. With a share of 0 the classic one
    waits for the other to be empty.
    """
    share = Fraction(parameters["classic-share"]).limit_denominator(MOST_WEIGHT)
    if share == 0:
        return [{}, {}]
    scalable = max(share.denominator - share.numerator, 1)
    return [{"weight": scalable}, {"weight": share.numerator}]


DUALPI2: Final = PortDiscipline(
    {
        "name": "p4-dualpi2",
        "title": "DualPI2 in the P4 program: queues by code point at ingress, coupled drops and "
        "marks after them",
        "reference": "RFC 9332; Papagianni, De Schepper, PI2 for P4, EuroP4 2019",
        "parameters": [
            parameter(
                "target", "duration", 1.5e10, 1e3, LONGEST_PS,
                "queueing delay that the controller aims at, in whole nanoseconds; "
                "15 ms: RFC 9332 fig. 2",
            ),
            parameter(
                "update", "duration", 1.6e10, 1e8, 1e13,
                "time between updates, in whole nanoseconds; 16 ms: RFC 9332 A.1 "
                "(fig. 2: min(target, RTT_max/3) is 15 ms)",
            ),
            parameter(
                "alpha", "number", 0.16, 0.0, 1000.0,
                "weight of the distance from the target, in Hz; "
                "0.1 update / RTT_max^2 with 16 ms and 100 ms: RFC 9332 A.1",
            ),
            parameter(
                "beta", "number", 3.2, 0.0, 1000.0,
                "weight of the change since the last update, in Hz; "
                "3.2: RFC 9332 A.1 (fig. 2: 0.3 / RTT_max is 3)",
            ),
            parameter(
                "coupling", "number", 2.0, 0.0, 100.0,
                "scalable probability over the base probability; 2: RFC 9332 fig. 2",
            ),
            parameter(
                "min-th", "duration", 8e8, 0.0, LONGEST_PS,
                "delay of the scalable queue at which its ramp begins; 800 us: RFC 9332 fig. 2",
            ),
            parameter(
                "range", "duration", 4e8, 0.0, LONGEST_PS,
                "length of the ramp, 0 is a step; 400 us: RFC 9332 fig. 2",
            ),
            parameter(
                "min-packets", "count", 1.0, 1.0, 1e7,
                "scalable packets up to which the ramp is off; 1: Th_len of RFC 9332 fig. 2",
            ),
            parameter(
                "classic-share", "number", 0.1, 0.0, 1.0,
                "share of the rate for the classic queue while both wait, a ratio of weights up to "
                "100; 10 %: Linux (RFC 9332 section 4.2.2: small, such as 1/16)",
            ),
            flag(
                "any-ect", 0.0,
                "ECT(0) goes to the scalable queue too, as DCTCP sends it; off: RFC 9332, any_ect "
                "of Linux's sch_dualpi2",
            ),
        ],
        "drops": [DROPS],
        "marks": [MARKS],
        "is_fifo": False,
        "not_implemented": [
            "updates while no packet leaves",
            "on bmv2, a share of the classic queue, and one rate at each moment "
            "(docs/guide/bmv2.md)",
            "one limit for both queues: each has the port's",
            "a share of the classic queue that counts from where both queues wait: the two take "
            "turns by weight (deficit round robin)",
            "the direction of the ACKs, which has the DropTail queue alone",
        ],
    },
    "dualpi2",
    "couple",
    encode,
    frozenset({"dualpi2_target", "dualpi2_update", "dualpi2_min_th", "dualpi2_range"}),
    {
        "dualpi2_alpha": MOST_40, "dualpi2_beta": MOST_40, "dualpi2_idle_fall": MOST_32,
        "dualpi2_ramp_slope": MOST_40,
    },
    at_ingress,
    queues,
)  # fmt: skip
