"""The options of `narrows switch`: parsing, consistency checks, ports.

Options are named as in `simple_switch_grpc`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from narrows.schema import budgets, units
from narrows.testbed.problems import InputError, Problem
from narrows.testbed.targets.dpdk.setup import PortOptions, af_packet
from narrows.testbed.tools.switch.address import Address, read_address

DEFAULT_QUEUE = {"packets": 64}
"""bmv2's."""
MOST_PORT = 510
"""Highest port number; 511 means drop."""


@dataclass(frozen=True)
class SwitchOptions:
    """The options. A `Sequence[str]` has `PORT=VALUE` texts, `interfaces` `PORT@NAME`."""

    program: Path | None
    no_p4: bool
    p4info: Path | None
    devices: Sequence[str]
    delay: Sequence[str]
    interfaces: Sequence[str]
    ports: PortOptions
    workers: int
    queues: int
    use_files: float | None
    after_controller: bool
    exit_at_end: bool
    device_id: int
    grpc_server_addr: str
    grpc_server_ssl: bool
    grpc_server_cert: Path | None
    grpc_server_key: Path | None
    grpc_server_cacert: Path | None
    grpc_server_with_client_auth: bool
    grpc_server_clients: Path | None
    user: str | None
    cpu_port: int | None
    cpu_packets: int | None
    cpu_bytes: str | None
    rate: Sequence[str]
    queue: Sequence[str]
    counts: str
    timestamp_unit: str
    engine: str
    seed: int
    log_console: bool
    record: Path | None
    """The directory of the ledger; None for no ledger."""
    live: int | None
    """The TCP port of the live view; 0 for any that is free, None for no view."""

    def check(self) -> None:
        """Raises `InputError` for options that contradict one another."""
        for option, what in self._contradictions():
            raise wrong(option, what)
        read_address(self.grpc_server_addr)
        for option, file in (
            ("--grpc-server-cert", self.grpc_server_cert),
            ("--grpc-server-key", self.grpc_server_key),
            ("--grpc-server-cacert", self.grpc_server_cacert),
            ("--grpc-server-clients", self.grpc_server_clients),
        ):
            if file is not None and not file.is_file():
                raise wrong(option, "no such file", str(file))
        for option, number in (("--seed", self.seed), ("--device-id", self.device_id)):
            if not 0 <= number < 1 << 64:
                raise wrong(option, "expected 0 to 2^64 - 1", str(number))

    def _contradictions(self) -> Iterator[tuple[str, str]]:
        if self.program is None and not self.no_p4:
            yield "switch", "expected a program (JSON), or --no-p4"
        if self.program is not None and self.no_p4:
            yield "--no-p4", "expected no program with it"
        if self.p4info is not None and self.program is None:
            yield "--p4info", "expected a program (JSON) with it"
        is_live = bool(self.devices) or (self.interfaces and self.use_files is None)
        if self.devices and self.use_files is not None:
            yield "--use-files", "expected no --port with it"
        for given, option in (
            (self.log_console, "--log-console"),
            (self.after_controller, "--after-controller"),
            (self.exit_at_end, "--exit-at-end"),
        ):
            if given and is_live:
                yield option, "is for pcap files; expected --use-files SECONDS"
        yield from self._live_view_contradictions(bool(is_live))
        yield from self._tls_contradictions()

    def _live_view_contradictions(self, is_live: bool) -> Iterator[tuple[str, str]]:
        if self.live is None:
            return
        if not is_live:
            yield "--live", "expected a live port; with pcap files time is virtual"
        if self.grpc_server_ssl:
            yield "--live", "expected no --grpc-server-ssl: the page is a controller in plaintext"

    def _tls_contradictions(self) -> Iterator[tuple[str, str]]:
        """Half of the options would start the server in plaintext, or open to any client."""
        for given, option in (
            (self.grpc_server_cert, "--grpc-server-cert"),
            (self.grpc_server_key, "--grpc-server-key"),
            (self.grpc_server_cacert, "--grpc-server-cacert"),
            (self.grpc_server_with_client_auth, "--grpc-server-with-client-auth"),
        ):
            if given and not self.grpc_server_ssl:
                yield option, "expected --grpc-server-ssl with it"
        if self.grpc_server_cacert and not self.grpc_server_with_client_auth:
            yield "--grpc-server-cacert", "expected --grpc-server-with-client-auth with it"
        if self.grpc_server_clients and not self.grpc_server_with_client_auth:
            yield "--grpc-server-clients", "expected --grpc-server-with-client-auth with it"
        if self.grpc_server_ssl and not (self.grpc_server_cert and self.grpc_server_key):
            yield "--grpc-server-ssl", "expected --grpc-server-cert and --grpc-server-key"
        if self.grpc_server_with_client_auth and not self.grpc_server_cacert:
            yield "--grpc-server-with-client-auth", "expected --grpc-server-cacert"

    @property
    def address(self) -> Address:
        """Where controllers connect. Raises `InputError`."""
        return read_address(self.grpc_server_addr)

    def cpu_limit(self, is_live: bool) -> dict[str, int]:
        """What the CPU port passes on at most. With pcap files time is virtual and controllers
        keep up: there is no limit unless one is given. Raises `InputError`.
        """
        if self.cpu_port is None:
            for given, option in ((self.cpu_packets, "packets"), (self.cpu_bytes, "bytes")):
                if given is not None:
                    raise wrong(f"--cpu-{option}", "expected --cpu-port with it")
        found = dict[str, int]()
        if is_live:
            found["packets_per_s"] = budgets.CPU_PACKETS_PER_S
            found["bytes_per_s"] = budgets.CPU_BYTES_PER_S
        if self.cpu_packets is not None:
            if self.cpu_packets < 0:
                raise wrong("--cpu-packets", "expected packets per second", str(self.cpu_packets))
            found["packets_per_s"] = self.cpu_packets
        if self.cpu_bytes is not None:
            try:
                found["bytes_per_s"] = units.parse_size(self.cpu_bytes)
            except ValueError as error:
                raise wrong("--cpu-bytes", str(error), self.cpu_bytes) from None
        return found

    def interface_names(self) -> dict[int, str]:
        """Ports and the names of their interfaces or files. Raises `InputError`."""
        names: dict[int, str] = {}
        for text in self.interfaces:
            number, found, name = text.partition("@")
            if not found or not name:
                raise wrong("--interface", "expected PORT@NAME", text)
            port = port_number(number, "--interface")
            if port in names:
                raise wrong("--interface", f"port {port} is repeated", text)
            names[port] = name
        return names

    def live_devices(self) -> dict[int, str]:
        """Live ports and their DPDK devices; none with pcap files. Raises `InputError`."""
        if self.use_files is not None:
            return {}
        names = self.interface_names()
        found = by_port(self.devices, "--port")
        for port in set(found) & set(names):
            raise wrong("--port", f"port {port} is also an --interface")
        return found | {port: af_packet(port, name) for port, name in names.items()}

    def config(self, ports: set[int], pipelines: dict[int, int]) -> dict[str, Any]:
        """The configuration of the engine's switch with these ports. `pipelines` has each live
        port's.

        Raises `InputError`.
        """
        rates = {port: parse_rate(text) for port, text in by_port(self.rate, "--rate").items()}
        queues = {port: parse_limit(text) for port, text in by_port(self.queue, "--queue").items()}
        numbers = set(ports)
        if self.cpu_port is not None:
            cpu_port = port_number(str(self.cpu_port), "--cpu-port")
            if cpu_port in numbers:
                raise wrong("--cpu-port", "is also an interface", str(cpu_port))
            numbers.add(cpu_port)
        for option, given in (("--rate", rates), ("--queue", queues)):
            for port in set(given) - numbers:
                raise wrong(option, "expected the port of an --interface", str(port))
        switch = {
            "ports": [
                {
                    "port": port,
                    "rate_bps": rates.get(port),
                    "queue": queues.get(port, DEFAULT_QUEUE),
                    "counts": self.counts,
                    "pipeline": pipelines.get(port, 0),
                }
                for port in sorted(numbers)
            ],
            "timestamp_unit": self.timestamp_unit,
            "engine": self.engine,
            "record_queue": self.record is not None,
        }
        limit = self.cpu_limit(bool(self.live_devices()))
        return {"switch": switch, "cpu_port": self.cpu_port, "cpu_limit": limit}


def by_port(texts: Sequence[str], option: str) -> dict[int, str]:
    """`PORT=VALUE` texts by port. Raises `InputError` that names the option."""
    found = dict[int, str]()
    for text in texts:
        number, given, value = text.partition("=")
        if not given:
            raise wrong(option, "expected PORT=VALUE", text)
        port = port_number(number, option)
        if port in found:
            raise wrong(option, f"port {port} is repeated", text)
        found[port] = value
    return found


def port_number(text: str, option: str) -> int:
    """A port. Raises `InputError` that names the option."""
    if not text.isdecimal() or int(text) > MOST_PORT:
        raise wrong(option, f"expected a port from 0 to {MOST_PORT}", text)
    return int(text)


def parse_rate(text: str) -> int:
    """A rate in bits per second. Raises `InputError`."""
    try:
        return units.parse_rate(text)
    except ValueError as error:
        raise wrong("--rate", str(error), text) from None


def parse_limit(text: str) -> dict[str, int]:
    """A queue limit in the engine's format. Raises `InputError`."""
    try:
        limit = units.parse_queue(text)
    except ValueError as error:
        raise wrong("--queue", str(error), text) from None
    if limit.unit == "bdp":
        raise wrong("--queue", "expected packets, bytes or a time", text)
    return {"time_ps" if limit.unit == "ps" else limit.unit: int(limit.amount)}


def wrong(option: str, what: str, value: str = "") -> InputError:
    """Builds the error for an option."""
    return InputError(option, [Problem(value, what)])
