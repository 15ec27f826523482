"""A scenario's background traffic, for packet generators that replace its hosts.

Background traffic is open-loop: flows with an application that writes messages of one length. Each
such `[[flow]]` becomes a stream of UDP packets with the addresses of its first connection. A
message is one packet, sent when the scenario's hosts would write it (for the same seed),
independent of losses.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from narrows.testbed.problems import InputError, Problem
from narrows.traffic.pktgen.profile import Stream

if TYPE_CHECKING:
    from narrows.schema.plan import Plan


@dataclass(frozen=True)
class BackgroundRequest:
    """The arguments that select the traffic."""

    scenario: Path
    overrides: Sequence[str] = ()
    """`KEY=VALUE`, each sets a key of the scenario."""
    duration: str | None = None
    """Duration; None means the scenario's."""


@dataclass(frozen=True)
class Background:
    """A scenario's background traffic."""

    source: str
    title: str
    plan: Plan
    sizes: list[int]
    """The connections of each `[[flow]]`, in the plan's order."""
    duration_ps: int

    def streams(self, most: int | None = None) -> list[Stream]:
        """The streams, with the first `most` messages of each connection. Raises `InputError` if
        there are none.
        """
        found = list(self._streams(most))
        if not found:
            what = "no flow writes messages of one length, so there is no background traffic"
            raise InputError(self.source, [Problem("flow", what)])
        return found

    def _streams(self, most: int | None) -> Iterator[Stream]:
        from narrows.testbed import engine

        written: dict[int, list[tuple[int, int]]] = {}
        text, limit = json.dumps(self.plan), {} if most is None else {"most": most}
        messages = engine.application_messages(text, self.duration_ps, **limit)
        for flow, at_ps, length in messages:
            written.setdefault(flow, []).append((at_ps, length))
        hosts = {host["config"]["name"]: host["config"] for host in self.plan["hosts"]}
        first = 0
        for number, size in enumerate(self.sizes):
            table = self.plan["flows"][first : first + size]
            first += size
            flows = [one["flow"]["id"] for one in table]
            of_stream = sorted(message for flow in flows for message in written.get(flow, ()))
            lengths = {length for _, length in of_stream}
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
                [at_ps for at_ps, _ in of_stream],
                flows,
            )


def read(request: BackgroundRequest) -> Background:
    """The traffic of a scenario's only point. Raises `InputError`."""
    from narrows.testbed.scenario.plan import make_plan
    from narrows.testbed.scenario.sweep import read_one

    source = str(request.scenario)
    duration = [] if request.duration is None else [("duration", request.duration)]
    scenario = read_one(request.scenario, request.overrides, duration).scenario
    if scenario.duration == "completion":
        raise InputError(source, [Problem("duration", "expected --duration", "completion")])
    if scenario.ip_version != 4:
        what = "packet generators send IPv4 only; expected 4"
        raise InputError(source, [Problem("ip_version", what, scenario.ip_version)])
    sizes = [flow.count for flow in scenario.flow]
    return Background(source, scenario.title, make_plan(scenario, source), sizes, scenario.duration)
