"""A run on bmv2: our hosts and the collector at one end of veths, bmv2 at the other.

Hosts, tables and summary are those of `--target dpdk`; what the summary says of the switch comes
from its reports and counters. bmv2 sends a packet when its transmission begins, and has no cables:
what a packet takes from there to its hosts, an interval of the shaper and the cable's delay, is
added where it comes to them.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import polars as pl

from narrows.testbed import catalogue
from narrows.testbed.child_process import exit_at_sigterm
from narrows.testbed.files import write_summary
from narrows.testbed.targets import reported_ledger as reported
from narrows.testbed.targets.base import Json, Progress
from narrows.testbed.targets.bmv2 import clock, ledger
from narrows.testbed.targets.bmv2.control import RANDOM_LOSS, Begin, Control, Counts
from narrows.testbed.targets.bmv2.judge import Found
from narrows.testbed.targets.bmv2.switch import Bmv2
from narrows.testbed.targets.dpdk.setup import af_packet
from narrows.testbed.targets.linux.namespaces import Plumbing, PlumbingError
from narrows.testbed.targets.one_switch import Wiring

AHEAD_NS = 50_000_000
FIRST_DEVICE = 1000
"""The kernel's hosts number theirs from 0."""
PS_PER_S = 10**12


def run(plan_text: str, out: Path, progress: Progress, settings: Json, sockets: Any) -> Json:
    """Runs a plan; see `Target.run`. Leaves no process and no namespace behind."""
    engine, plan = catalogue.engine(), json.loads(plan_text)
    wiring = Wiring(engine, plan)
    exit_at_sigterm()
    try:
        with Plumbing() as plumbing, Bmv2(plumbing.add_switch(0, wiring.ports)) as switch:
            ours = Run(engine, plan, wiring, switch)
            summary = ours.carry_out(settings["setup"], out, progress, sockets)
    except PlumbingError as error:
        raise engine.RunError(str(error)) from None
    write_summary(out, summary)
    return summary


class Run:
    """A run with a switch that stands."""

    def __init__(self, engine: Any, plan: Json, wiring: Wiring, switch: Bmv2) -> None:
        self.engine, self.plan, self.wiring = engine, plan, wiring
        self.outside = switch.namespace.outside
        self.control = Control(switch, wiring)
        self.begin = Begin()

    def carry_out(self, setup: str, out: Path, progress: Progress, sockets: Any) -> Json:
        """See `run`."""
        found = Found(self.wiring, self.control.set_up())
        path, sampler = self._probes()
        before = path.read() if path else None
        counted = self.control.counts()
        with self.control.events(self.plan["events"], self.begin) as done, clock.sampling(sampler):
            summary: Json = self.engine.run_real_time(
                json.dumps(self._hosts_plan(found)), str(out), setup, progress,
                devices=self._devices(), meet=self._meet, sockets=sockets,
            )  # fmt: skip
        found.counts = self.control.counts().since(counted)
        found.end_ps = round(summary["duration_s"] * PS_PER_S)
        found.handle_events(self.plan["events"], done)
        wires = summary["instrument"]["wires"]
        found.handed_over = sum(one["sent"] for one in wires if one["name"] in self.wiring.groups)
        figures = None
        if path and before:
            found.clock = clock.Clock(before, path.read())
            if sampler:
                found.to_the_wire_us = sampler.to_the_wire_us(found.clock)
            if self.plan["record"]["packets"]:
                figures = self._read_reports(out, found, found.clock)
        return joined(summary, found, figures, self.plan["instrument"])

    def _probes(self) -> tuple[clock.Path | None, clock.Sampler | None]:
        """How to read bmv2's clock; not at all where nothing is reported."""
        wiring = self.wiring
        if not wiring.every or wiring.collector is None:
            return None, None
        behind = {group for group, port in wiring.groups.items() if port == wiring.port}
        host = next(host for host in self.plan["hosts"] if host["group"] in behind)
        into = next((port for port in wiring.groups.values() if port != wiring.port), wiring.port)
        collector = self.outside[wiring.collector]
        path = clock.Path(self.outside[into], collector, host["config"]["ip"])
        return path, clock.Sampler(collector, wiring.udp_port)

    def _devices(self) -> dict[str, str]:
        """The devices of hosts and collector by the names of their wires."""
        ends = dict(self.wiring.groups)
        if self.wiring.collector is not None:
            ends[f"collector at {self.wiring.name}"] = self.wiring.collector
        numbered = enumerate(ends.items(), FIRST_DEVICE)
        return {name: af_packet(n, self.outside[port]) for n, (name, port) in numbered}

    def _hosts_plan(self, found: Found) -> Json:
        """The plan for the hosts: events are the controller's, and what a line and a cable take is
        added at their end.
        """
        cables = []
        for cable in self.plan["cables"]:
            shaped = found.shaped.get(cable["a"]["port"])
            line_ps = PS_PER_S // shaped.packets_per_s if shaped else 0
            cables.append(cable | {"arrival_ps": cable["delay_ps"] + line_ps})
        return self.plan | {"events": [], "cables": cables}

    def _meet(self, rate: int) -> tuple[int, int]:
        at_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW) + AHEAD_NS
        self.begin.begin(at_ns)
        return at_ns, rate

    def _read_reports(self, out: Path, found: Found, read: clock.Clock) -> Json:
        """Puts the tables in order, and returns the bottleneck's figures."""
        packets = ledger.to_run_time(out, read, self.begin.at_ns)
        found.handle_report_numbers(packets["report"].to_list())
        ledger_out = out if self.plan["record"]["queue"] else None
        figures, left = reported.bottleneck(
            packets, self.wiring, found.capacity_bits, found.end_ps, ledger_out
        )
        if self.wiring.every == 1:
            found.left = len(left)
            steady = left.filter(pl.col("egress_ns") < found.steady_ps // 1000)
            found.kept = ledger.kept(steady, found.shaped[self.wiring.port])
        return figures


def joined(summary: Json, found: Found, figures: Json | None, limits: Json) -> Json:
    """The hosts' summary with what the switch did, and the verdict on both."""
    wiring, counts = found.wiring, found.counts
    assert isinstance(counts, Counts)
    lost = counts.dropped.get(RANDOM_LOSS, 0)
    arrived = counts.to_bottleneck - lost
    enqueued = counts.dequeued[wiring.port]
    left = enqueued if found.left is None else found.left
    full = max(arrived - enqueued, 0)
    excesses = found.excesses(limits)
    reasons = [one for one in (summary["invalid_reason"], *excesses) if one]
    return summary | {
        "valid": not reasons,
        "invalid_reason": "; ".join(reasons) or None,
        "bottleneck": {
            "switch": wiring.name,
            "port": wiring.port,
            "rate_bps": found.rates[-1][1],
            **(figures or reported.NO_FIGURES),
            "arrived": arrived,
            "enqueued": enqueued,
            "dequeued": left,
            "queued": enqueued - left,
            "dropped": full,
            "drops": {"queue_full": full} if full else {},
        },
        "switches": {
            wiring.name: {
                "received": counts.taken,
                "dropped_ingress": sum(counts.dropped.values()),
            }
        },
        "instrument": summary["instrument"] | {"switch": found.as_json()},
    }
