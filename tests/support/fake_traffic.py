"""A target's traffic manager as numbers in a dict, and a gRPC server in front of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from narrows.schema.plan import QueueShare
from narrows.schema.records import (
    DisciplineParameter,
    DisciplineRecord,
    DisciplineUnit,
    QueueReason,
)
from narrows.schema.switch import DisciplineConfig, QueueLimit
from narrows.switch.server.gnmi.leaves import TrafficManager
from narrows.switch.server.gnmi.service import GnmiService
from narrows.switch.server.serve import serve
from narrows.switch.server.target import PortState, QueueCounts, TargetError


def parameter(
    name: str, unit: DisciplineUnit, default: float, least: float, most: float
) -> DisciplineParameter:
    return {
        "name": name, "unit": unit, "default": default, "min": least, "max": most, "origin": "",
    }  # fmt: skip


def discipline(name: str, *parameters: DisciplineParameter) -> DisciplineRecord:
    return {
        "name": name, "title": "", "reference": "", "parameters": list(parameters), "drops": [],
        "marks": [], "is_fifo": True, "not_implemented": [],
    }  # fmt: skip


DISCIPLINES = [
    discipline("drop-tail"),
    discipline(
        "patient",
        {
            "name": "target",
            "unit": "duration",
            "default": 5e9,
            "min": 1e3,
            "max": 1e13,
            "origin": "",
        },
        {"name": "share", "unit": "number", "default": 0.5, "min": 0.0, "max": 1.0, "origin": ""},
    ),
]
"""Disciplines that no engine has, to test that the server supports any."""


def no_counts() -> QueueCounts:
    return {
        "enqueued": 0, "dequeued": 0, "drops": {"queue-full": 0, "egress-program": 0},
        "dropped_bytes": 0, "marks": {"early": 0}, "transmitted": 0, "transmitted_bytes": 0,
        "waiting_packets": 0, "waiting_bytes": 0, "depth_max_packets": 0, "depth_max_bytes": 0,
        "depth_mean_packets": None, "depth_mean_bytes": None,
    }  # fmt: skip


class FakeTraffic:
    """Ports of one queue each, whose counts are set by the test. A rate of `REFUSED_BPS` is
    refused.
    """

    REFUSED_BPS = 13

    def __init__(self, ports: tuple[int, ...] = (1, 2, 3)) -> None:
        self.state: dict[int, PortState] = {
            port: {
                **no_counts(), "port": port, "rate_bps": None, "queue": {"packets": 1000},
                "counts": "frame", "discipline": {"name": "drop-tail", "parameters": {}},
                "classes": [], "received": 0, "received_bytes": 0, "queues": [no_counts()],
            }
            for port in ports
        }  # fmt: skip

    def ports(self) -> list[int]:
        return list(self.state)

    def queues(self) -> dict[int, int]:
        return {port: len(state["queues"]) for port, state in self.state.items()}

    def port_state(self, port: int) -> PortState:
        if port not in self.state:
            raise TargetError("not-found", f"port {port}: there is no such port")
        own = self.state[port].copy()
        own["classes"] = [one.copy() for one in own["classes"]]
        own["queues"] = [one.copy() for one in own["queues"]]
        return own

    def set_rate(self, port: int, rate_bps: int) -> None:
        if rate_bps == self.REFUSED_BPS:
            raise TargetError("failed-precondition", f"port {port}: rate_bps is {rate_bps}")
        self.state[port]["rate_bps"] = rate_bps

    def set_discipline(self, port: int, discipline: DisciplineConfig) -> None:
        assert not isinstance(discipline, str)
        record = next(each for each in DISCIPLINES if each["name"] == discipline["name"])
        defaults = {each["name"]: each["default"] for each in record["parameters"]}
        parameters = defaults | discipline.get("parameters", {})
        self.state[port]["discipline"] = {"name": record["name"], "parameters": parameters}

    def set_share(self, port: int, share: QueueShare) -> None:
        one = self.state[port]["classes"][share["queue"]]
        one["weight"] = share.get("weight") or one["weight"]
        one["rate_bps"] = share.get("rate_bps") or one["rate_bps"]

    def disciplines(self) -> list[DisciplineRecord]:
        return DISCIPLINES

    def drop_reasons(self) -> list[QueueReason]:
        return [{"name": name, "meaning": ""} for name in ("queue-full", "egress-program")]

    def mark_reasons(self) -> list[QueueReason]:
        return [{"name": "early", "meaning": ""}]

    def set_queue_limit(self, port: int, limit: QueueLimit) -> None:
        self.state[port]["queue"] = limit


@contextmanager
def served(target: TrafficManager) -> Iterator[str]:
    """The address at which gNMI answers for the target."""
    server, port = serve("127.0.0.1:0", [GnmiService(target).add_to])
    try:
        yield f"127.0.0.1:{port}"
    finally:
        server.stop(None).wait()
