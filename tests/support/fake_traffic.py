"""A target's traffic manager as numbers in a dict, and a gRPC server in front of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from narrows.switch.server.gnmi.leaves import TrafficManager
from narrows.switch.server.gnmi.service import GnmiService
from narrows.switch.server.serve import serve
from narrows.switch.server.target import TargetError


class FakeTraffic:
    """Ports whose counts are set by the test. A rate of `REFUSED_BPS` is refused."""

    REFUSED_BPS = 13

    def __init__(self, ports: tuple[int, ...] = (1, 2, 3)) -> None:
        self.state: dict[int, dict[str, Any]] = {
            port: {
                "port": port, "rate_bps": None, "queue": {"packets": 1000}, "counts": "frame",
                "enqueued": 0, "dequeued": 0, "drops": {"queue-full": 0, "egress-program": 0},
                "transmitted": 0, "transmitted_bytes": 0, "received": 0, "received_bytes": 0,
                "waiting_packets": 0, "waiting_bytes": 0, "depth_max_packets": 0,
                "depth_max_bytes": 0,
            }
            for port in ports
        }  # fmt: skip

    def ports(self) -> list[int]:
        return list(self.state)

    def port_state(self, port: int) -> dict[str, Any]:
        if port not in self.state:
            raise TargetError("not-found", f"port {port}: there is no such port")
        return dict(self.state[port])

    def set_rate(self, port: int, rate_bps: int) -> None:
        if rate_bps == self.REFUSED_BPS:
            raise TargetError("failed-precondition", f"port {port}: rate_bps is {rate_bps}")
        self.state[port]["rate_bps"] = rate_bps

    def set_queue_limit(self, port: int, limit: dict[str, int]) -> None:
        self.state[port]["queue"] = limit


@contextmanager
def served(target: TrafficManager) -> Iterator[str]:
    """The address at which gNMI answers for the target."""
    server, port = serve("127.0.0.1:0", [GnmiService(target).add_to])
    try:
        yield f"127.0.0.1:{port}"
    finally:
        server.stop(None).wait()
