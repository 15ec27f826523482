"""Rates and queues of bmv2's `simple_switch` and `simple_switch_grpc`, by Thrift.

bmv2 counts packets, not bits: a queue lets one packet out every 1/rate, be it an ACK or a full
segment. A rate in bits per second is one of packets of a given size, to the nearest packet per
second; what is returned is that rate in bits again. A queue's depth is in packets too. bmv2 takes
any port number and tells nothing back, so ports are looked up before, and `queue_state` has no
answer. Registers are here as well: bmv2's P4Runtime server does not serve them. Calls block for
the few hundred microseconds that they take.

Source of names and types: bmv2's targets/simple_switch/thrift/simple_switch.thrift and
thrift_src/standard.thrift. The server has no access control and listens on every address.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import thriftpy2
from thriftpy2.protocol import TBinaryProtocolFactory
from thriftpy2.protocol.multiplex import TMultiplexedProtocolFactory
from thriftpy2.rpc import make_client
from thriftpy2.thrift import TException
from thriftpy2.transport import TTransportException

from narrows.controller.drivers import DriverError, QueueState, drop_tail_only, kind_and_value
from narrows.schema.switch import DisciplineConfig, QueueLimit, QueueLimitPackets

THRIFT = thriftpy2.load(str(Path(__file__).with_suffix(".thrift")), "bmv2_thrift")
TIMEOUT_MS = 3000
MAX_DEPTH = 2**31 - 1
MAX_RATE = 2**63 - 1
PS_PER_S = 10**12


class Bmv2Driver:
    """A bmv2 whose Thrift server is at `host` and `port`, for packets of `packet_bytes` bytes.

    A context manager; connecting and all methods raise `DriverError`.
    """

    def __init__(self, host: str, port: int, packet_bytes: int) -> None:
        if packet_bytes < 1:
            raise DriverError(f"packet_bytes = {packet_bytes}: expected at least 1")
        self.host, self.port, self.packet_bytes = host, port, packet_bytes
        self._clients: dict[str, Any] = {}
        self._rates_pps: dict[int, int] = {}

    def __enter__(self) -> Self:
        services = {"standard": THRIFT.Standard, "simple_switch": THRIFT.SimpleSwitch}
        try:
            for name, service in services.items():
                protocol = TMultiplexedProtocolFactory(TBinaryProtocolFactory(), name)
                self._clients[name] = make_client(
                    service, self.host, self.port, proto_factory=protocol, timeout=TIMEOUT_MS
                )
        except (TTransportException, OSError) as error:
            self.close()
            raise DriverError(f"{self.host}:{self.port}: no Thrift server: {error}") from None
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the connections."""
        for client in self._clients.values():
            client.close()
        self._clients = {}

    async def set_rate(self, port: int, rate_bps: int) -> int:
        """Sets a port's rate in bits per second; returns the rate in force, a whole number of
        packets per second.
        """
        packet_bits = 8 * self.packet_bytes
        # To the nearest, halves up; bmv2 takes 0 for no limit.
        rate_pps = max((2 * rate_bps + packet_bits) // (2 * packet_bits), 1)
        if rate_bps < 1 or rate_pps > MAX_RATE:
            raise DriverError(
                f"port {port}: rate_bps = {rate_bps}: expected 1 to {MAX_RATE * packet_bits}"
            )
        self._configure(port, "set_egress_queue_rate", rate_pps)
        self._rates_pps[port] = rate_pps
        return rate_pps * packet_bits

    async def set_queue_limit(self, port: int, limit: QueueLimit) -> QueueLimitPackets:
        """Sets a port's queue limit; bytes are as many whole packets, at least one, and so is a
        time at the rate that was set before. Returns the limit in force, in packets.
        """
        kind, value = kind_and_value(limit)
        match kind:
            case "packets":
                packets = value
            case "bytes":
                packets = max(value // self.packet_bytes, 1) if value > 0 else 0
            case "time_ps" if port in self._rates_pps:
                packets = max(value * self._rates_pps[port] // PS_PER_S, 1) if value > 0 else 0
            case _:
                raise DriverError(
                    f"port {port}: limit in {kind}: bmv2 has packets, bytes, or a time once a rate "
                    "was set"
                )
        if not 0 < packets <= MAX_DEPTH:
            raise DriverError(f"port {port}: {packets} packets: expected 1 to {MAX_DEPTH}")
        self._configure(port, "set_egress_queue_depth", packets)
        return {"packets": packets}

    async def set_discipline(self, port: int, discipline: DisciplineConfig) -> DisciplineConfig:
        """Accepts drop-tail, which bmv2's queues are."""
        return drop_tail_only(port, discipline, "bmv2")

    def register(self, name: str, index: int) -> int:
        """A register's cell, of 63 bits at most."""
        return int(self._call("standard", "bm_register_read", 0, name, index))

    async def queue_state(self, port: int) -> QueueState:
        """Always a `DriverError`."""
        raise DriverError(
            f"port {port}: bmv2 tells neither a queue's settings nor what it has done; "
            "the telemetry reports have its depths and delays"
        )

    def _configure(self, port: int, call: str, value: int) -> None:
        there = sorted(one.port_num for one in self._call("standard", "bm_dev_mgr_show_ports"))
        if port not in there:
            raise DriverError(f"port {port}: there are {', '.join(map(str, there)) or 'none'}")
        if (status := self._call("simple_switch", call, port, value)) != 0:
            raise DriverError(f"port {port}: {call}({value}): bmv2 answered {status}")

    def _call(self, service: str, name: str, *arguments: int | str) -> Any:
        try:
            called: Callable[..., Any] = getattr(self._clients[service], name)
            return called(*arguments)
        except (TException, OSError) as error:
            raise DriverError(f"{self.host}:{self.port}: {name}: {error}") from None
