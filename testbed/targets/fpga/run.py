"""A run on a board: the hosts on the two ports of a lab, the board between them.

The board has the bottleneck in both directions, its propagation delay and its random loss. The
hosts' access links stay in the engine. Summary and ledger of the queue are of the board's reports
and counts.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import polars as pl

from narrows.controller.drivers.fpga import DIRECTION_OF
from narrows.controller.drivers.fpga_counts import RANDOM_LOSS
from narrows.schema.units import PS_PER_S, mac_bytes
from narrows.testbed import engine
from narrows.testbed.child_process import exit_at_sigterm
from narrows.testbed.files import write_summary
from narrows.testbed.tables import write_table
from narrows.testbed.targets import ledger_from_reports
from narrows.testbed.targets.base import Tell
from narrows.testbed.targets.dpdk import setup as dpdk
from narrows.testbed.targets.fpga import ledger, verdict
from narrows.testbed.targets.fpga.collector import collecting
from narrows.testbed.targets.fpga.control import Control, as_json
from narrows.testbed.targets.fpga.hosts import beside_board
from narrows.testbed.targets.fpga.lab import Lab, read
from narrows.testbed.targets.fpga.settings import FRAME_BYTES
from narrows.testbed.targets.switch_plan import SwitchPlan

if TYPE_CHECKING:
    from narrows._engine import Sockets
    from narrows.schema.plan import Plan
    from narrows.schema.run import JsonObject, Settings, TargetSummary
    from narrows.schema.summary import BottleneckSummary, Summary

BOARD_MAC: Final = mac_bytes("02:4e:42:00:00:01")
"""From fpga/rtl/board/bottleneck_board.sv."""
INTO: Final = {2: "senders", 1: "receivers"}
"""The side whose packets leave the board by a port."""


def run(
    plan_text: str, out: Path, progress: Tell, settings: Settings, sockets: Sockets | None
) -> TargetSummary:
    """Runs a plan on the lab's board; see `Target.run`."""
    exit_at_sigterm()
    lab, plan = read(Path(settings["lab"])), json.loads(plan_text)
    with tempfile.TemporaryDirectory(prefix="narrows-fpga-") as directory:
        ours = Run(lab, plan, Path(directory))
        hosts = ours.carry_out(out, progress, sockets)
        summary = ours.with_board(hosts, out)
    write_summary(out, summary)
    return summary


class Run:
    """A run, its collected files in `directory`."""

    def __init__(self, lab: Lab, plan: Plan, directory: Path) -> None:
        self.lab, self.plan, self.directory = lab, plan, directory
        self.switch_plan = SwitchPlan(plan)
        self.ports = tuple(sorted(self.switch_plan.groups.values()))
        self.seen = {
            port: interface
            for port, side in INTO.items()
            if (interface := lab.sides[side].interface) is not None
        }
        """The interfaces whose frames leave the board by a port, where the kernel has them."""

    def carry_out(self, out: Path, progress: Tell, sockets: Sockets | None) -> Summary:
        """Runs the hosts with the board between them; returns their summary. Raises `DriverError`
        if the board does not answer before that.
        """
        groups = {port: group for group, port in self.switch_plan.groups.items()}
        sides = dict(zip((1, 2), self.lab.sides.values(), strict=True))
        devices = {groups[port]: side.device(port) for port, side in sides.items()}
        setup = dpdk.setup(devices.values()).as_text()
        with ExitStack() as stack:
            report_port = stack.enter_context(
                collecting(self.lab.interface, self.directory, self.seen)
            )
            control = Control(self.lab, self.plan, report_port, self.ports)
            self.control = stack.enter_context(control)
            assert control.settings is not None
            hosts = beside_board(self.plan, control.settings.hosts_delay_ps)
            summary: Summary = engine.run_real_time(
                json.dumps(hosts), str(out), setup, control.watched(progress),
                devices=devices, meet=control.meet, sockets=sockets,
            )  # fmt: skip
        return summary

    def with_board(self, summary: Summary, out: Path) -> TargetSummary:
        """The hosts' summary with the board's figures; writes the ledger."""
        found, end_ps = self.control.found, round(summary["duration_s"] * PS_PER_S)
        found.done = [(event, done) for event, done in found.done if done.done_ps <= end_ps]
        reports = ledger.read_reports(self.directory / "reports")
        wires = {wire["name"]: wire for wire in summary["instrument"]["wires"]}
        ends = {port: wires[group] for group, port in self.switch_plan.groups.items()}
        flows = self.flows({port: ends[3 - port]["sent"] for port in self.ports})
        first = {port: counts.arrived for port, counts in found.before.items()}
        whole = ledger.queue_rows(
            reports, DIRECTION_OF, found.begin_ps, first, self.switch_plan.name, flows
        )
        # A slow board's clock may be behind the start when the first packet comes.
        of_run = (pl.col("packet") >= 0) & (pl.col("time_ps") <= end_ps)
        rows = whole.filter(of_run).with_columns(pl.col("time_ps").clip(lower_bound=0))
        recorded = [port for port in self.ports if self.switch_plan.ports[port]["record"]]
        if self.plan["record"]["queue"]:
            write_table(rows.filter(pl.col("port").is_in(recorded)), out / "queue.parquet")
        assert self.control.settings is not None
        evidence = verdict.Evidence(
            found=found,
            rows=whole,
            received={
                port: int((reports.rows["direction"] == DIRECTION_OF[port]).sum())
                for port in self.ports
            },
            gaps=reports.gaps,
            end_ps=end_ps,
            on_the_way_ps=self.control.settings.ports[0].delay_ps
            + 8 * FRAME_BYTES * PS_PER_S // self.slowest_bps,
            bottleneck=self.switch_plan.port,
            wires={port: ends[3 - port] for port in self.ports},
            peers=ends,
        )
        reasons = verdict.excesses(evidence, self.plan["instrument"])
        about = verdict.instrument(evidence, self.switch_plan.port in flows)
        return self.whole(verdict.voided(summary, reasons), evidence, rows, about)

    @property
    def slowest_bps(self) -> int:
        """The bottleneck's lowest rate in the run."""
        port, found = self.switch_plan.port, self.control.found
        rates = [one["in_force_bps"] for one in found.set if one["port"] == port]
        rates += [event.get("rate_bps") for event, _ in found.done if event.get("port") == port]
        return int(min(filter(None, rates)))

    def flows(self, sent: Mapping[int, int]) -> dict[int, ledger.Flows]:
        """The flow of each packet that arrived for a port, from the frames that were seen. `sent`
        are the hosts' frames for each port: the last ones that were seen, if they are all that
        arrived.
        """
        found = self.control.found
        known = {}
        for port in self.seen:
            flows = ledger.flows_of(self.directory / f"frames-{port}", BOARD_MAC, self.plan)
            after = found.after.get(port)
            # Without an answer at the end the frames of a sound cable are those that arrived.
            arrived = after.since(found.before[port]).arrived if after else sent[port]
            if arrived == sent[port] <= len(flows):
                known[port] = flows[len(flows) - sent[port] :]
        return known

    def whole(
        self,
        summary: Summary,
        evidence: verdict.Evidence,
        rows: pl.DataFrame,
        about: JsonObject,
    ) -> TargetSummary:
        """The summary of the run with the queues of its ports."""
        found, counts, end_ps = evidence.found, evidence.counts, evidence.end_ps
        queues = {port: self.queue_summary(port, rows, end_ps) for port in self.ports}
        reverse = self.plan["reverse"]
        lost = sum(one.cells[RANDOM_LOSS][0] for one in counts.values())
        received = sum(one.arrived for one in counts.values())
        made: Mapping[str, object] = {
            **summary,
            "bottleneck": queues[self.switch_plan.port],
            **({"reverse": queues[reverse["port"]]} if reverse else {}),
            "switches": {self.switch_plan.name: {"received": received, "dropped_ingress": lost}},
            "instrument": {**summary["instrument"], "switch": about},
            "switch": as_json(found),
        }
        return cast("TargetSummary", made)

    def queue_summary(self, port: int, rows: pl.DataFrame, end_ps: int) -> BottleneckSummary:
        """A port's queue in the summary, from its rows until the end of the run."""
        found = self.control.found
        own = rows.filter(pl.col("port") == port)
        first_bps = next(one["in_force_bps"] for one in found.set if one["port"] == port)
        events = [event for event, _ in found.done]
        done = [done for _, done in found.done]
        rates = ledger_from_reports.rates(first_bps, port, events, done)
        bits = ledger_from_reports.capacity_bits(rates, end_ps)
        enqueued, dequeued = (
            sum(ledger.counted(own, kind).values()) for kind in ("enqueue", "dequeue")
        )
        drops, marks = (ledger.counted(own, kind) for kind in ("drop", "mark"))
        summary = ledger_from_reports.bottleneck_summary(
            self.switch_plan,
            rates[-1][1],
            ledger.figures(own, end_ps, bits),
            arrived=enqueued + sum(drops.values()),
            dequeued=dequeued,
            queued=enqueued - dequeued,
            drops=drops,
        )
        found_there: BottleneckSummary = {**summary, "port": port}
        if marks:
            found_there["marks"] = marks
        return found_there
