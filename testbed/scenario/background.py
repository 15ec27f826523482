"""A scenario's background traffic: what a generator of packets can send in the place of its hosts.

Background is what has a rate of its own: flows whose application writes messages of one length.
Each `[[flow]]` of them becomes a stream of UDP packets with the addresses of its first connection,
one a message, sent at the instants at which the applications write (those of the scenario's own
hosts, seed for seed), whatever becomes of the packets.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from narrows.testbed import catalogue
from narrows.testbed.problems import InputError, Problem
from narrows.traffic.pktgen.profile import Stream

if TYPE_CHECKING:
    from narrows.schema.plan import Plan


@dataclass(frozen=True)
class BackgroundRequest:
    """Which traffic is asked for."""

    scenario: Path
    overrides: Sequence[str] = ()
    """`KEY=VALUE`, each sets a key of the scenario."""
    duration: str | None = None
    """How long; None: as long as the scenario."""


@dataclass(frozen=True)
class Background:
    """A scenario's traffic."""

    source: str
    title: str
    plan: Plan
    sizes: list[int]
    """The connections of each `[[flow]]`, in the plan's order."""

    def streams(self, most: int | None = None) -> list[Stream]:
        """The streams, with the first `most` messages of each connection. Raises `InputError` when
        there is none.
        """
        found = list(self._streams(most))
        if not found:
            what = "none writes messages of one length: no background traffic"
            raise InputError(self.source, [Problem("flow", what)])
        return found

    def _streams(self, most: int | None) -> Iterator[Stream]:
        written: dict[int, list[tuple[int, int]]] = {}
        text, limit = json.dumps(self.plan), {} if most is None else {"most": most}
        for flow, at_ps, length in catalogue.engine().application_messages(
            text, self.plan["duration_ps"], **limit
        ):
            written.setdefault(flow, []).append((at_ps, length))
        hosts = {host["config"]["name"]: host["config"] for host in self.plan["hosts"]}
        first = 0
        for number, size in enumerate(self.sizes):
            table = self.plan["flows"][first : first + size]
            first += size
            flows = [one["flow"]["id"] for one in table]
            messages = sorted(message for flow in flows for message in written.get(flow, ()))
            lengths = {length for _, length in messages}
            if len(lengths) != 1:
                continue
            one = table[0]
            source, destination = hosts[one["from"]], hosts[one["to"]]
            yield Stream(
                f"flow.{number} ({one['flow']['app']['kind']} x {size})",
                source["mac"],
                source["gateway_mac"],
                source["ip"],
                destination["ip"],
                one["flow"]["source"]["port"],
                one["flow"]["destination"]["port"],
                lengths.pop(),
                [at_ps for at_ps, _ in messages],
                flows,
            )


def read(request: BackgroundRequest) -> Background:
    """The traffic of a scenario's one point. Raises `InputError`."""
    from narrows.testbed.scenario.plan import make_plan
    from narrows.testbed.scenario.sweep import read_one

    source = str(request.scenario)
    duration = [] if request.duration is None else [("duration", request.duration)]
    scenario = read_one(request.scenario, request.overrides, duration).scenario
    if scenario.duration == "completion":
        raise InputError(source, [Problem("duration", "has no end: --duration", "completion")])
    sizes = [flow.count for flow in scenario.flow]
    return Background(source, scenario.title, make_plan(scenario, source), sizes)
