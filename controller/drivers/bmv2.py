"""Sets rates and queues of bmv2's `simple_switch` and `simple_switch_grpc` over Thrift.

bmv2's rates are in packets per second: a queue releases one packet every 1/rate seconds, whether
ACK or full segment. A rate in bits per second is converted for packets of a given size, rounded to
whole packets per second, and returned in bits. Queue depths are in packets. bmv2 accepts any port
number and cannot report a queue, so `set_*` look the port up first and `queue_state` raises.
Registers are also here, since bmv2's P4Runtime server does not serve them. Calls block for a few
hundred microseconds.

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

from narrows.controller.drivers import QueueState, drop_tail_only, kind_and_value
from narrows.controller.errors import DriverError
from narrows.schema.switch import DisciplineConfig, QueueLimit, QueueLimitPackets
from narrows.schema.units import PS_PER_S

THRIFT = thriftpy2.load(str(Path(__file__).with_suffix(".thrift")), "bmv2_thrift")
TIMEOUT_MS = 3000
MAX_DEPTH = 2**31 - 1
MAX_RATE = 2**63 - 1


class Bmv2Driver:
    """A bmv2 with its Thrift server at `host` and `port`. Rates assume packets of `packet_bytes`
    bytes.

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
        # Round half up. bmv2 reads 0 as "no limit".
        rate_pps = max((2 * rate_bps + packet_bits) // (2 * packet_bits), 1)
        if rate_bps < 1 or rate_pps > MAX_RATE:
            raise DriverError(
                f"port {port}: rate_bps = {rate_bps}: expected 1 to {MAX_RATE * packet_bits}"
            )
        self._configure(port, "set_egress_queue_rate", rate_pps)
        self._rates_pps[port] = rate_pps
        return rate_pps * packet_bits

    async def set_queue_limit(self, port: int, limit: QueueLimit) -> QueueLimitPackets:
        """Sets a port's queue limit. Bytes, and time at the rate set before, are rounded down to
        whole packets, at least one. Returns the limit in force, in packets.
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
                    f"port {port}: limit in {kind}: expected packets, bytes, or a time after a "
                    "rate was set"
                )
        if not 0 < packets <= MAX_DEPTH:
            raise DriverError(f"port {port}: {packets} packets: expected 1 to {MAX_DEPTH}")
        self._configure(port, "set_egress_queue_depth", packets)
        return {"packets": packets}

    async def set_discipline(self, port: int, discipline: DisciplineConfig) -> DisciplineConfig:
        """Accepts only drop-tail."""
        return drop_tail_only(port, discipline, "bmv2")

    def register(self, name: str, index: int) -> int:
        """Reads a register cell of at most 63 bits."""
        return int(self._call("standard", "bm_register_read", 0, name, index))

    async def queue_state(self, port: int) -> QueueState:
        """Always raises `DriverError`."""
        raise DriverError(
            f"port {port}: bmv2 does not report a queue's settings or counters; use the telemetry "
            "reports for depths and delays"
        )

    def _configure(self, port: int, call: str, value: int) -> None:
        there = sorted(one.port_num for one in self._call("standard", "bm_dev_mgr_show_ports"))
        if port not in there:
            raise DriverError(
                f"port {port}: expected one of {', '.join(map(str, there)) or 'none'}"
            )
        if (status := self._call("simple_switch", call, port, value)) != 0:
            raise DriverError(f"port {port}: {call}({value}): bmv2 answered {status}")

    def _call(self, service: str, name: str, *arguments: int | str) -> Any:
        try:
            called: Callable[..., Any] = getattr(self._clients[service], name)
            return called(*arguments)
        except (TException, OSError) as error:
            raise DriverError(f"{self.host}:{self.port}: {name}: {error}") from None
