"""`narrows switch`: the software P4 target as a daemon with a gRPC server.

With pcap files as ports, time is virtual: it follows the input packets' stamps, and an output
packet is stamped when its last bit leaves the port. With DPDK ports, time is real
(`narrows.testbed.tools.switch.live`).
"""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from typing import TYPE_CHECKING

from narrows.schema.units import PS_PER_NS
from narrows.testbed.files import read_text
from narrows.testbed.problems import InputError, Problem
from narrows.testbed.tools.live.switch import view
from narrows.testbed.tools.switch import live, privileges, record
from narrows.testbed.tools.switch.ending import end_in_time
from narrows.testbed.tools.switch.options import SwitchOptions, by_port, wrong
from narrows.testbed.tools.switch.pcap import SPAN_DAYS, SPAN_NS
from narrows.testbed.tools.switch.stop import Stop

if TYPE_CHECKING:
    from finsy.proto import p4r

    from narrows._engine import Switch
    from narrows.switch.server.access import Access
    from narrows.switch.server.p4runtime.service import P4RuntimeService
    from narrows.switch.server.serve import Tls
    from narrows.testbed.tools.switch.pcap import Ports

LOG = logging.getLogger("narrows.switch")
POLL_S = 0.02
"""Polling interval for controllers' packets while idle."""
POLL_PACKETS = 32
GRACE_S = 0.3
"""Time limit for controllers' calls to end."""
REASONS = {
    "dropped_ingress": "by the program's ingress",
    "dropped_egress": "by the program's egress",
    "no_such_port": "for a port that does not exist",
    "no_such_group": "for a multicast group that does not exist",
    "aborted": "by an assertion or an endless loop of the program",
    "endless": "after too many rounds or copies",
    "packet_ins_policed": "above the CPU port's limit (--cpu-packets, --cpu-bytes)",
    "packet_ins_no_room": "since too many bytes waited for controllers",
    "digests_lost": "(digests) since too many waited",
    "no_program": "before a program was loaded",
}
EGRESS_PROGRAM = "egress-program"
PLAINTEXT = (
    "narrows switch: warning: %s is open to the network in plaintext: whoever reaches it controls "
    "the switch; expected 127.0.0.1, or TLS with --grpc-server-ssl and "
    "--grpc-server-with-client-auth"
)


def run(options: SwitchOptions) -> int:
    """Runs `narrows switch`. Raises `InputError`."""
    from narrows.switch.server.gnmi.service import GnmiService
    from narrows.switch.server.serve import bind

    options.check()
    user = privileges.find_user(options.user)
    live_ports = live.ports(options.live_devices(), by_port(options.delay, "--delay"))
    access = access_by(options)
    tls = read_tls(options)
    begin_log(logging.DEBUG if options.log_console else logging.INFO)
    switch, service = make_switch(options, live_ports, access)
    ledger = record.ledger(options.record, switch, user)
    privileges.gain_no_more()
    ports, running = open_ports(options, live_ports, switch)
    privileges.keep(privileges.needed(user, options.address.port))
    services = [service.add_to, GnmiService(switch, access).add_to]
    try:
        server, bound = bind(options.grpc_server_addr, services, tls)
    except OSError as error:
        ports.close()
        if running is not None:
            running.stop()
        option, what = "--grpc-server-addr", str(error)
        if tls is not None:
            option += ", --grpc-server-cert or --grpc-server-key"
            what += "; expected a free address, and a certificate with its key (PEM)"
        raise InputError(option, [Problem("", what)]) from None
    privileges.become(user)
    server.start()
    stop = Stop()
    end_in_time(stop, ports.flush)
    address = options.address.at(bound)
    LOG.info("device %d: controllers at %s", options.device_id, address)
    if tls is None and not options.address.is_local:
        print(PLAINTEXT % address, file=sys.stderr, flush=True)
    daemon = Daemon(switch, service, ports, stop)
    ledger.begin()
    try:
        if running is not None:
            with view(options.live, switch, address, LOG):
                running.serve(service, stop)
            return 0
        if daemon.wait_to_begin(options.use_files or 0.0, options.after_controller):
            daemon.forward()
        if not options.exit_at_end:
            daemon.serve_on()
    finally:
        # On a busy machine gRPC can miss the end of a call.
        server.stop(grace=GRACE_S).wait(2 * GRACE_S)
        ledger.pause()
        instrument = running.stop() if running is not None else None
        daemon.summarise()
        ports.close()
        if running is None and options.record is not None:
            switch.run_until(daemon.end_ps)
        ledger.end(instrument, LOG)
    return 0


def access_by(options: SwitchOptions) -> Access:
    """Which controllers may do what. Raises `InputError`."""
    from narrows.switch.server.access import OPEN

    if options.grpc_server_clients is None:
        return OPEN
    from narrows.testbed.tools.switch.clients import read_access

    return read_access(options.grpc_server_clients)


def read_tls(options: SwitchOptions) -> Tls | None:
    """The server's certificate and key, read while the process may. Raises `InputError`."""
    from narrows.switch.server.serve import Tls

    if not options.grpc_server_ssl:
        return None
    certificate, key = options.grpc_server_cert, options.grpc_server_key
    assert certificate and key, "the options were checked"
    try:
        return Tls.read(certificate, key, options.grpc_server_cacert)
    except OSError as error:
        what = f"cannot be read ({error.strerror})"
        raise wrong("--grpc-server-ssl", what, str(error.filename)) from None


def make_switch(
    options: SwitchOptions, live_ports: list[live.Port], access: Access
) -> tuple[Switch, P4RuntimeService]:
    """The switch with its program, and its P4Runtime service. Raises `InputError`."""
    from narrows.switch.server.p4runtime.service import P4RuntimeService
    from narrows.switch.server.target import TargetError
    from narrows.testbed import engine

    numbers = set(options.interface_names()) | {number for number, _, _ in live_ports}
    pipelines = live.pipelines(live_ports, options.workers)
    switch = engine.Switch(json.dumps(options.config(numbers, pipelines)), options.seed)
    switch.collect_log(options.log_console)
    try:
        forwarding = load(switch, options)
        return switch, P4RuntimeService(switch, options.device_id, forwarding, access)
    except TargetError as error:
        raise InputError(str(options.program), [Problem("", error.message)]) from None


def open_ports(
    options: SwitchOptions, live_ports: list[live.Port], switch: Switch
) -> tuple[Ports, live.Live | None]:
    """The pcap files or the live ports. Raises `InputError`."""
    from narrows.testbed.tools.switch.pcap import Ports

    if not live_ports:
        return Ports(options.interface_names()), None
    # memif's sockets have mode 0600.
    before = os.umask(0o177)
    try:
        return Ports({}), live.Live(switch, live_ports, options, LOG)
    finally:
        os.umask(before)


def begin_log(level: int) -> None:
    """Has the switch's log on standard output."""
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(logging.Formatter("%(message)s"))
    LOG.addHandler(handler)
    LOG.setLevel(level)
    LOG.propagate = False


class Daemon:
    """Sends packets from files through the switch, while controllers connect and disconnect."""

    def __init__(self, switch: Switch, service: P4RuntimeService, ports: Ports, stop: Stop) -> None:
        self.switch = switch
        self.service = service
        self.ports = ports
        self.stop = stop
        self.base_ns = 0
        self.sent: dict[int, int] = {}
        self.end_ps = 0
        """When the last packet of the files has left."""
        self._done: dict[str, int] = switch.statistics()
        self._dropped = {port: self.queue_drops(port) for port in switch.ports()}

    def wait_to_begin(self, seconds: float, after_controller: bool) -> bool:
        """Waits as the options request; returns false if the switch must stop first."""
        begin, arbitration = time.monotonic() + seconds, self.service.arbitration
        while not self.stop.is_set():
            self.service.poll(time.monotonic_ns())
            gone = arbitration.primaries_gone > 0 and arbitration.connected() == 0
            if time.monotonic() >= begin and (gone or not after_controller):
                return True
            self.stop.wait(POLL_S)
        return False

    def forward(self) -> None:
        """Processes all packets of the files, in order. Raises `InputError`."""
        LOG.info("packets begin")
        for number, (time_ns, port, frame) in enumerate(self.ports.arrivals()):
            if self.stop.is_set():
                return
            if number == 0:
                self.base_ns = time_ns
            if time_ns - self.base_ns > SPAN_NS:
                what = f"packets more than {SPAN_DAYS} days apart: expected fewer"
                raise InputError("--use-files", [Problem("", what)])
            now_ps = (time_ns - self.base_ns) * PS_PER_NS
            LOG.debug("%s port %d: %d bytes in", shown(time_ns), port, len(frame))
            self.switch.handle_packet(port, frame, now_ps)
            self.write(self.switch.run_until(now_ps))
            if number % POLL_PACKETS == 0:
                self.service.poll(time.monotonic_ns())
        self.drain()
        self.ports.flush()
        LOG.info("all packets processed")

    def drain(self) -> None:
        """Continues until all queues are empty."""
        self.write(self.switch.run_until(self.switch.now_ps()))
        while (due := self.switch.poll_timeout_ps()) is not None and not self.stop.is_set():
            self.write(self.switch.run_until(due))
        self.service.poll(time.monotonic_ns())

    def serve_on(self) -> None:
        """Processes controllers' packets until the switch must stop."""
        while not self.stop.wait(POLL_S):
            self.drain()
            self.ports.flush()

    def write(self, sent: list[tuple[int, int, int, bytes]]) -> None:
        """Writes departed packets, and logs dropped ones."""
        for port, _, end_ps, frame in sent:
            time_ns = self.base_ns + end_ps // PS_PER_NS
            self.ports.write(port, time_ns, frame)
            self.sent[port] = self.sent.get(port, 0) + 1
            self.end_ps = max(self.end_ps, end_ps)
            LOG.debug("%s port %d: %d bytes out", shown(time_ns), port, len(frame))
        if LOG.isEnabledFor(logging.DEBUG):
            self.log_drops()

    def log_drops(self) -> None:
        """Logs drops since the last call, and the program's log messages."""
        now = shown(self.base_ns + self.switch.now_ps() // PS_PER_NS)
        done = self.switch.statistics()
        for key, reason in REASONS.items():
            if done[key] > self._done[key]:
                LOG.debug("%s dropped %s: %d", now, reason, done[key] - self._done[key])
        self._done = done
        for port, before in self._dropped.items():
            drops = self.queue_drops(port)
            for reason, count in drops.items():
                if count > before[reason]:
                    LOG.debug(
                        "%s port %d: dropped, %s: %d", now, port, reason, count - before[reason]
                    )
            self._dropped[port] = drops
        for line in self.switch.take_log():
            LOG.debug("%s program: %s", now, line)

    def summarise(self) -> None:
        """Logs the switch's counters."""
        done = self.switch.statistics()
        LOG.info("received %d", done["received"])
        for port, count in sorted(self.sent.items()):
            LOG.info("sent from port %d: %d", port, count)
        for key, reason in REASONS.items():
            if done[key]:
                LOG.info("dropped %s: %d", reason, done[key])
        for port in self.switch.ports():
            for reason, count in self.queue_drops(port).items():
                if count:
                    LOG.info("dropped at port %d, %s: %d", port, reason, count)

    def queue_drops(self, port: int) -> dict[str, int]:
        """Packets dropped by a port's queues, by reason; `REASONS` has those of egress."""
        drops = self.switch.port_state(port)["drops"]
        return {reason: count for reason, count in drops.items() if reason != EGRESS_PROGRAM}


def shown(time_ns: int) -> str:
    """Seconds with nine digits."""
    return f"{time_ns // 10**9}.{time_ns % 10**9:09d}"


def load(switch: Switch, options: SwitchOptions) -> p4r.ForwardingPipelineConfig | None:
    """Loads the program; returns the forwarding pipeline configuration if a P4Info is given. Raises
    `InputError`, or `TargetError` if the switch refuses the program.
    """
    from finsy.proto import p4r
    from google.protobuf import text_format

    if options.program is None:
        return None
    text = read_text(options.program)
    switch.load(text)
    if options.p4info is None:
        return None
    forwarding = p4r.ForwardingPipelineConfig(p4_device_config=text.encode())
    try:
        text_format.Parse(read_text(options.p4info), forwarding.p4info)
    except text_format.ParseError as error:
        raise wrong(str(options.p4info), f"not a P4Info in text: {error}") from None
    return forwarding
