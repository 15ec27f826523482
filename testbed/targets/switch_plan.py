"""A plan's only switch, for foreign switches: its ports, their hosts, its packets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from narrows.controller.matches import Exact, Ternary
from narrows.controller.stages import TELEMETRY
from narrows.controller.state import TableEntry
from narrows.controller.switch import IP_TABLES, REPORT
from narrows.testbed import catalogue
from narrows.testbed.engine import PlanError
from narrows.testbed.scenario.packets import (
    COUNTED_BYTES,
    IP_BYTES,
    TCP_BYTES,
    UDP_ROOM_BYTES,
    ip_version,
    planned_payload_bytes,
)

if TYPE_CHECKING:
    from narrows.schema.flow import FlowConfig
    from narrows.schema.plan import Plan
    from narrows.schema.switch import PortConfig


STAMP_BYTES = 12
"""The timestamps option with its padding."""


class SwitchPlan:
    """A plan with one switch. Raises `PlanError` for another network."""

    def __init__(self, plan: Plan) -> None:
        names = [switch["name"] for switch in plan["switches"]]
        if len(names) != 1:
            raise PlanError(f"the target is one switch; the scenario has {', '.join(names)}")
        [self.switch] = plan["switches"]
        self.name: str = self.switch["name"]
        self.ports: dict[int, PortConfig] = {
            one["port"]: one for one in self.switch["config"]["ports"]
        }
        self.port: int = plan["bottleneck"]["port"]
        """The bottleneck."""
        self.counts: str = self.ports[self.port]["counts"]
        self.packet_bytes = max(full_length(flow["flow"], self.counts) for flow in plan["flows"])
        """The longest full segment of the scenario, in bytes that count against the rate."""
        self.groups = dict[str, int]()
        """The ports with groups of hosts."""
        self.collector: int | None = None
        for cable in plan["cables"]:
            if "group" in cable["b"]:
                self.groups[cable["b"]["group"]] = cable["a"]["port"]
            else:
                self.collector = cable["a"]["port"]
        self._entries = [TableEntry.from_json(entry) for entry in self.switch["entries"]]

    @property
    def queues(self) -> int:
        """The most queues that a port has."""
        return max(len(port.get("classes", ())) or 1 for port in self.ports.values())

    @property
    def every(self) -> int:
        """Telemetry ratio of the bottleneck: one report per so many packets; 0: none."""
        params = self._params(TELEMETRY.table, self.port)
        return params["every"] if params and self.collector is not None else 0

    @property
    def udp_port(self) -> int:
        """The collector's."""
        assert self.collector is not None
        params = self._params(f"{REPORT}.collector", self.collector)
        assert params is not None
        return params["udp_port"]

    def flows_to(self, port: int) -> frozenset[str]:
        """The lines of flow-table entries for packets that leave through a port."""
        lines = set[str]()
        for tables in IP_TABLES.values():
            there = {
                getattr(entry.matches[tables.destination], "value", None)
                for entry in self._entries
                if entry.table == tables.routes and entry.params["port"] == port
            }
            for entry in self._entries:
                if entry.table == tables.flows:
                    match = entry.matches[tables.destination]
                    assert isinstance(match, Ternary)
                    if match.value in there:
                        lines.add(str(entry))
        return frozenset(lines)

    def _params(self, table: str, port: int) -> Mapping[str, int] | None:
        """The parameter of a port's entry in a table; None without an entry."""
        for entry in self._entries:
            if entry.table == table and Exact(port) in entry.matches.values():
                return entry.params
        return None


def full_length(flow: FlowConfig, counts: str) -> int:
    """The bytes of a flow's full segment, or of its equal datagrams, that count against a rate."""
    profile, app = catalogue.profile(flow["profile"]), flow["app"]
    stamped = profile["timestamps"] if flow["timestamps"] is None else flow["timestamps"]
    payload = planned_payload_bytes(flow)
    headers = COUNTED_BYTES["frame"] + IP_BYTES[ip_version(flow)] + TCP_BYTES
    if sender := catalogue.sender(flow["variant"]):
        message = min(payload, app["size_bytes"]) if "size_bytes" in app else payload
        frame = headers - UDP_ROOM_BYTES + sender["header_bytes"] + message
    else:
        frame = headers + STAMP_BYTES * bool(stamped) + payload
    return {"ip": frame - 14, "frame": frame, "wire": max(frame + 4, 64) + 20}[counts]
