"""A run on bmv2: veths connect our hosts and the collector to bmv2.

Hosts, tables and summary are those of `--target dpdk`. The summary's values of the switch come from
its reports and counters. bmv2 sends a packet at the start of its transmission, and has no cable
delay. So the hosts' access links add one interval of the shaper and the cable's delay.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, cast

import polars as pl

from narrows.schema.units import PS_PER_S
from narrows.testbed import engine
from narrows.testbed.child_process import exit_at_sigterm
from narrows.testbed.files import write_summary
from narrows.testbed.tables import write_table
from narrows.testbed.targets import ledger_from_reports as ledger
from narrows.testbed.targets.base import Tell
from narrows.testbed.targets.bmv2 import clock, shaper_accuracy
from narrows.testbed.targets.bmv2.control import RANDOM_LOSS, Begin, Control, ProgramCounts
from narrows.testbed.targets.bmv2.observations import Observations
from narrows.testbed.targets.bmv2.switch import Bmv2
from narrows.testbed.targets.dpdk.setup import af_packet
from narrows.testbed.targets.ledger_from_reports import QueueFigures
from narrows.testbed.targets.linux.namespaces import Plumbing, PlumbingError
from narrows.testbed.targets.switch_plan import SwitchPlan

if TYPE_CHECKING:
    from narrows._engine import Sockets
    from narrows.schema.plan import Limits, Plan
    from narrows.schema.run import Settings, TargetInstrument
    from narrows.schema.summary import Summary, SwitchSummary

AHEAD_NS = 50_000_000
FIRST_DEVICE = 1000
"""The kernel's hosts number their devices from 0."""


def run(
    plan_text: str, out: Path, progress: Tell, settings: Settings, sockets: Sockets | None
) -> Summary:
    """Runs a plan; see `Target.run`. Removes its processes and namespaces."""
    plan = json.loads(plan_text)
    switch_plan = SwitchPlan(plan)
    exit_at_sigterm()
    try:
        with (
            Plumbing() as plumbing,
            Bmv2(plumbing.add_switch(0, switch_plan.ports), queues=switch_plan.queues) as switch,
        ):
            ours = Run(plan, switch_plan, switch)
            summary = ours.carry_out(settings["setup"], out, progress, sockets)
    except PlumbingError as error:
        raise engine.RunError(str(error)) from None
    write_summary(out, summary)
    return summary


class Run:
    """A run with a running switch."""

    def __init__(self, plan: Plan, switch_plan: SwitchPlan, switch: Bmv2) -> None:
        self.plan, self.switch_plan = plan, switch_plan
        self.outside = switch.namespace.outside
        self.control = Control(switch, switch_plan)
        self.begin = Begin()

    def carry_out(self, setup: str, out: Path, progress: Tell, sockets: Sockets | None) -> Summary:
        """See `run`."""
        observed = Observations(self.switch_plan, self.control.set_up())
        path, sampler = self._probes()
        before = path.read() if path else None
        counted = self.control.counts()
        with self.control.events(self.plan["events"], self.begin) as done, clock.sampling(sampler):
            summary: Summary = engine.run_real_time(
                json.dumps(self._hosts_plan(observed)), str(out), setup, progress,
                devices=self._devices(), meet=self._meet, sockets=sockets,
            )  # fmt: skip
        observed.counts = self.control.counts().since(counted)
        observed.end_ps = round(summary["duration_s"] * PS_PER_S)
        observed.handle_events(self.plan["events"], done)
        wires = summary["instrument"]["wires"]
        observed.handed_over = sum(
            one["sent"] for one in wires if one["name"] in self.switch_plan.groups
        )
        figures = None
        if path and before:
            observed.clock = clock.Clock(before, path.read())
            if sampler:
                observed.to_the_wire_us = sampler.to_the_wire_us(observed.clock)
            if self.plan["record"]["packets"]:
                figures = self._read_reports(out, observed, observed.clock)
        return with_switch(summary, observed, figures, self.plan["instrument"])

    def _probes(self) -> tuple[clock.Path | None, clock.Sampler | None]:
        """The clock reader of bmv2; None if the plan records no reports."""
        switch_plan = self.switch_plan
        if not switch_plan.every or switch_plan.collector is None:
            return None, None
        behind = {group for group, port in switch_plan.groups.items() if port == switch_plan.port}
        host = next(host for host in self.plan["hosts"] if host["group"] in behind)
        into = next(
            (port for port in switch_plan.groups.values() if port != switch_plan.port),
            switch_plan.port,
        )
        collector = self.outside[switch_plan.collector]
        path = clock.Path(self.outside[into], collector, host["config"]["ip"])
        return path, clock.Sampler(collector, switch_plan.udp_port)

    def _devices(self) -> dict[str, str]:
        """The devices of hosts and collector, by wire name."""
        ends = dict(self.switch_plan.groups)
        if self.switch_plan.collector is not None:
            ends[f"collector at {self.switch_plan.name}"] = self.switch_plan.collector
        numbered = enumerate(ends.items(), FIRST_DEVICE)
        return {name: af_packet(n, self.outside[port]) for n, (name, port) in numbered}

    def _hosts_plan(self, observed: Observations) -> Plan:
        """The plan for the hosts: without events, which the controller runs, and with the
        transmission and cable delay added to the access links.
        """
        cables = []
        for cable in self.plan["cables"]:
            shaped = observed.shaped.get(cable["a"]["port"])
            line_ps = PS_PER_S // shaped.packets_per_s if shaped else 0
            cables.append(cable | {"arrival_ps": cable["delay_ps"] + line_ps})
        return self.plan | {"events": [], "cables": cables}

    def _meet(self, rate: int) -> tuple[int, int]:
        at_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW) + AHEAD_NS
        self.begin.begin(at_ns)
        return at_ns, rate

    def _read_reports(self, out: Path, observed: Observations, read: clock.Clock) -> QueueFigures:
        """Completes the tables, and returns the bottleneck's figures."""
        packets = on_run_clock(out, read, self.begin.at_ns)
        observed.handle_report_numbers(packets["report"].to_list())
        ledger_out = out if self.plan["record"]["queue"] else None
        figures, left = ledger.bottleneck(
            packets, self.switch_plan, observed.capacity_bits, observed.end_ps, ledger_out
        )
        if self.switch_plan.every == 1:
            observed.left = len(left)
        # A packet that the program drops after the queue took its turn, and has no report. Nor has
        # the copy of a scalable packet.
        complete = not observed.dropped_after_queue and self.switch_plan.queues == 1
        if self.switch_plan.every == 1 and complete:
            steady = left.filter(pl.col("egress_ns") < observed.steady_ps // 1000)
            observed.accuracy = shaper_accuracy.shaper_accuracy(
                steady, observed.shaped[self.switch_plan.port]
            )
        return figures


def on_run_clock(out: Path, read: clock.Clock, begin_ns: int) -> pl.DataFrame:
    """Converts the stamps of `packets.parquet` to nanoseconds of the run's clock; returns the
    table.
    """
    path = out / "packets.parquet"
    stamps = [
        pl.col(name) * clock.US_NS + read.offset_ns(begin_ns)
        for name in ("ingress_ns", "egress_ns")
    ]
    spans = [pl.col(name) * clock.US_NS for name in ("queue_delay_ns", "hop_latency_ns")]
    packets = pl.read_parquet(path).with_columns(*stamps, *spans)
    write_table(packets, path)
    return packets


def with_switch(
    summary: Summary, observed: Observations, figures: QueueFigures | None, limits: Limits
) -> Summary:
    """The hosts' summary with the switch's figures, and the verdict on both."""
    switch_plan, counts = observed.switch_plan, observed.counts
    assert isinstance(counts, ProgramCounts)
    lost = counts.dropped.get(RANDOM_LOSS, 0)
    arrived = counts.to_bottleneck - lost + counts.duplicated[switch_plan.port]
    sent = counts.dequeued[switch_plan.port]
    after_queue = observed.dropped_after_queue
    left = sent if observed.left is None else observed.left
    drops = {
        "queue-full": max(arrived - sent - after_queue, 0),
        "egress-program": after_queue,
    }
    excesses = observed.excesses(limits)
    counted: SwitchSummary = {
        "received": counts.taken,
        "dropped_ingress": sum(counts.dropped.values()),
    }
    if duplicated := sum(counts.duplicated.values()):
        counted["duplicated"] = duplicated
    reasons = [one for one in (summary["invalid_reason"], *excesses) if one]
    return summary | {
        "valid": not reasons,
        "invalid_reason": "; ".join(reasons) or None,
        "bottleneck": ledger.bottleneck_summary(
            switch_plan,
            observed.rates[-1][1],
            figures or ledger.NO_FIGURES,
            arrived=arrived,
            dequeued=left + after_queue,
            queued=sent - left,
            drops=drops,
            marks={"egress-program": counts.marked[switch_plan.port]},
        ),
        "switches": {switch_plan.name: counted},
        "instrument": cast(
            "TargetInstrument", {**summary["instrument"], "switch": observed.as_json()}
        ),
    }
