"""`narrows switch`: the software P4 target as a daemon with a gRPC server.

Options are named as in `simple_switch_grpc`. With pcap files as ports time is virtual: it is that
of the packets that come in, and a packet goes out when its last bit has left the port. With DPDK
ports it is real (`narrows.testbed.tools.switch.live`).
"""

from __future__ import annotations

import argparse
import json
import logging
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

from narrows.schema import units
from narrows.testbed.files import read_text
from narrows.testbed.problems import InputError, Problem
from narrows.testbed.targets.dpdk import setup as dpdk
from narrows.testbed.tools.switch import live

LOG = logging.getLogger("narrows.switch")
PS_PER_NS = 1000
POLL_S = 0.02
"""How often controllers' packets are looked for while nothing else happens."""
POLL_PACKETS = 32
DEFAULT_QUEUE = {"packets": 64}
"""bmv2's."""
GRACE_S = 1.0
"""For controllers' calls to end."""
REASONS = {
    "dropped_ingress": "by the program's ingress",
    "dropped_egress": "by the program's egress",
    "no_such_port": "for a port that does not exist",
    "no_such_group": "for a multicast group that does not exist",
    "aborted": "by an assertion or an endless loop of the program",
    "endless": "since they came round too often",
    "no_program": "since there is no program yet",
}


def add_command(commands: Any) -> None:
    """The sub-command and its options."""
    command = commands.add_parser(
        "switch", help="the software P4 target as a switch of its own",
        description="A P4 switch under P4Runtime and gNMI, with DPDK ports or with pcap files.",
    )  # fmt: skip
    add = command.add_argument
    add("program", type=Path, nargs="?", help="what p4c-bm2-ss made (JSON); see --no-p4")
    add("--no-p4", action="store_true", help="start without a program; a controller brings it")
    add("--p4info", type=Path, metavar="FILE", help="the program's P4Info, as protobuf text")
    add("--port", action="append", default=[], metavar="PORT=DEVICE", dest="devices",
        help="a live port by its DPDK device, e.g. 1=net_memif0,role=server")  # fmt: skip
    add("--delay", action="append", default=[], metavar="PORT=TIME",
        help="of the cable at a live port, e.g. 2=10ms (none)")  # fmt: skip
    add("-i", "--interface", action="append", default=[], metavar="PORT@NAME", dest="interfaces",
        help="a live port by its network interface; with --use-files a port whose "
        "NAME_in.pcap is read and NAME_out.pcap is written")  # fmt: skip
    dpdk.add_options(command)
    add(
        "--workers", type=int, default=1, metavar="N",
        help="cores, each with a pipe of the switch, that the live ports are dealt out to (1)",
    )  # fmt: skip
    add("--queues", type=int, default=1, metavar="N",
        help="receive queues of each live port, dealt out to the workers (1)")  # fmt: skip
    add("--use-files", type=float, metavar="SECONDS",
        help="interfaces are pcap files; packets begin after this many seconds")  # fmt: skip
    add("--after-controller", action="store_true",
        help="packets begin once a controller has set the switch up and gone")  # fmt: skip
    add("--exit-at-end", action="store_true", help="end when all packets are through")
    add("--device-id", type=int, default=0, help="P4Runtime's number of the switch (0)")
    add("--grpc-server-addr", default="127.0.0.1:9559", metavar="HOST:PORT",
        help="where controllers connect (127.0.0.1:9559; port 0: any free one)")  # fmt: skip
    add("--grpc-server-ssl", action="store_true", help="TLS; needs a certificate and a key")
    add("--grpc-server-cert", type=Path, metavar="FILE", help="the server's certificate (PEM)")
    add("--grpc-server-key", type=Path, metavar="FILE", help="the server's key (PEM)")
    add("--grpc-server-cacert", type=Path, metavar="FILE", help="who signs clients (PEM)")
    add("--grpc-server-with-client-auth", action="store_true", help="clients need a certificate")
    add("--cpu-port", type=int, metavar="PORT", help="whose packets are the controllers'")
    add("--rate", action="append", default=[], metavar="PORT=RATE", help="e.g. 2=10Mbps (none)")
    add("--queue", action="append", default=[], metavar="PORT=LIMIT",
        help="e.g. 2=100packets, 2=150kB, 2=20ms (64packets)")  # fmt: skip
    add("--counts", choices=("frame", "ip", "wire"), default="frame",
        help="which bytes count against rate and queue (frame)")  # fmt: skip
    add("--timestamp-unit", choices=("us", "ns"), default="us",
        help="of the program's timestamps (us, as in bmv2)")  # fmt: skip
    add("--engine", choices=("native", "interpreter"), default="native",
        help="what runs the program (native: machine code); the results are the same")  # fmt: skip
    add("--seed", type=int, default=1, help="of the program's random numbers (1)")
    add("--log-console", action="store_true", help="say what becomes of every packet")
    command.set_defaults(command=run)


def run(options: argparse.Namespace) -> int:
    """`narrows switch`. Raises `InputError`."""
    from narrows.switch.server.gnmi.service import GnmiService
    from narrows.switch.server.p4runtime.service import P4RuntimeService
    from narrows.switch.server.serve import Tls, serve
    from narrows.switch.server.target import TargetError
    from narrows.testbed.catalogue import engine
    from narrows.testbed.tools.switch.pcap import Ports

    check_options(options)
    names = interfaces(options)
    live_ports = live.ports(devices(options, names), settings(options.delay, "--delay"))
    tls = None
    if options.grpc_server_ssl:
        authority = options.grpc_server_cacert if options.grpc_server_with_client_auth else None
        tls = Tls(options.grpc_server_cert, options.grpc_server_key, authority)
    level = logging.DEBUG if options.log_console else logging.INFO
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(logging.Formatter("%(message)s"))
    LOG.addHandler(handler)
    LOG.setLevel(level)
    LOG.propagate = False
    numbers = set(names) | {number for number, _, _ in live_ports}
    pipes = live.pipes(live_ports, options.workers)
    switch = engine().Switch(json.dumps(config(options, numbers, pipes)), options.seed)
    switch.collect_log(options.log_console)
    try:
        forwarding = load(switch, options)
        service = P4RuntimeService(switch, options.device_id, forwarding)
    except TargetError as error:
        raise InputError(str(options.program), [Problem("", error.message)]) from None
    ports = Ports({} if live_ports else names)
    running = live.Live(switch, live_ports, options, LOG) if live_ports else None
    gnmi = GnmiService(switch)
    try:
        server, bound = serve(options.grpc_server_addr, [service.add_to, gnmi.add_to], tls)
    except OSError as error:
        ports.close()
        if running is not None:
            running.stop()
        raise InputError("--grpc-server-addr", [Problem("", str(error))]) from None
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    host = options.grpc_server_addr.rpartition(":")[0]
    LOG.info("device %d: controllers at %s:%d", options.device_id, host, bound)
    daemon = Daemon(switch, service, ports, stop)
    try:
        if running is not None:
            running.serve(service, stop)
            return 0
        if daemon.wait_to_begin(options.use_files or 0.0, options.after_controller):
            daemon.forward()
        if not options.exit_at_end:
            daemon.serve_on()
    finally:
        # Where the machine is busy gRPC has been seen to miss the end of a call.
        server.stop(grace=GRACE_S).wait(3 * GRACE_S)
        if running is not None:
            running.stop()
        daemon.summarise()
        ports.close()
    return 0


class Daemon:
    """Packets from files through the switch, while controllers come and go."""

    def __init__(self, switch: Any, service: Any, ports: Any, stop: threading.Event) -> None:
        self.switch = switch
        self.service = service
        self.ports = ports
        self.stop = stop
        self.base_ns = 0
        self.sent: dict[int, int] = {}
        self._done: dict[str, int] = switch.statistics()
        self._full = dict.fromkeys(switch.ports(), 0)

    def wait_to_begin(self, seconds: float, after_controller: bool) -> bool:
        """Waits as the options say; false when the switch is to stop before."""
        begin, arbitration = time.monotonic() + seconds, self.service.arbitration
        while not self.stop.is_set():
            self.service.poll(time.monotonic_ns())
            gone = arbitration.primaries_gone > 0 and arbitration.connected() == 0
            if time.monotonic() >= begin and (gone or not after_controller):
                return True
            self.stop.wait(POLL_S)
        return False

    def forward(self) -> None:
        """All packets of the files, in their order."""
        LOG.info("packets begin")
        for number, (time_ns, port, frame) in enumerate(self.ports.arrivals()):
            if self.stop.is_set():
                return
            if number == 0:
                self.base_ns = time_ns
            now_ps = (time_ns - self.base_ns) * PS_PER_NS
            LOG.debug("%s port %d: %d bytes in", shown(time_ns), port, len(frame))
            self.switch.handle_packet(port, frame, now_ps)
            self.write(self.switch.run_until(now_ps))
            if number % POLL_PACKETS == 0:
                self.service.poll(time.monotonic_ns())
        self.drain()
        self.ports.flush()
        LOG.info("packets are through")

    def drain(self) -> None:
        """Goes on until nothing waits."""
        self.write(self.switch.run_until(self.switch.now_ps()))
        while (due := self.switch.poll_timeout_ps()) is not None and not self.stop.is_set():
            self.write(self.switch.run_until(due))
        self.service.poll(time.monotonic_ns())

    def serve_on(self) -> None:
        """What controllers send goes out, until the switch is to stop."""
        while not self.stop.wait(POLL_S):
            self.drain()
            self.ports.flush()

    def write(self, sent: list[tuple[int, int, int, bytes]]) -> None:
        """Packets that left, and in the log what did not."""
        for port, _, end_ps, frame in sent:
            time_ns = self.base_ns + end_ps // PS_PER_NS
            self.ports.write(port, time_ns, frame)
            self.sent[port] = self.sent.get(port, 0) + 1
            LOG.debug("%s port %d: %d bytes out", shown(time_ns), port, len(frame))
        if LOG.isEnabledFor(logging.DEBUG):
            self.log_drops()

    def log_drops(self) -> None:
        """What was dropped since the last call, and what the program logged."""
        now = shown(self.base_ns + self.switch.now_ps() // PS_PER_NS)
        done = self.switch.statistics()
        for key, reason in REASONS.items():
            if done[key] > self._done[key]:
                LOG.debug("%s dropped %s: %d", now, reason, done[key] - self._done[key])
        self._done = done
        for port, before in self._full.items():
            full = self.switch.port_state(port)["dropped_queue_full"]
            if full > before:
                LOG.debug(
                    "%s port %d: dropped since its queue is full: %d", now, port, full - before
                )
                self._full[port] = full
        for line in self.switch.take_log():
            LOG.debug("%s program: %s", now, line)

    def summarise(self) -> None:
        """What the switch did."""
        done = self.switch.statistics()
        LOG.info("received %d", done["received"])
        for port, count in sorted(self.sent.items()):
            LOG.info("sent from port %d: %d", port, count)
        for key, reason in REASONS.items():
            if done[key]:
                LOG.info("dropped %s: %d", reason, done[key])
        for port in self.switch.ports():
            if full := self.switch.port_state(port)["dropped_queue_full"]:
                LOG.info("dropped at port %d since its queue was full: %d", port, full)


def shown(time_ns: int) -> str:
    """Seconds with nine digits."""
    return f"{time_ns // 10**9}.{time_ns % 10**9:09d}"


def wrong(option: str, what: str, value: str = "") -> InputError:
    """What is wrong with an option."""
    return InputError(option, [Problem(value, what)])


def check_options(options: argparse.Namespace) -> None:
    """Options that contradict one another."""
    if options.program is None and not options.no_p4:
        raise wrong("switch", "expected a program (JSON), or --no-p4")
    if options.program is not None and options.no_p4:
        raise wrong("--no-p4", "a program is given too")
    if options.p4info is not None and options.program is None:
        raise wrong("--p4info", "expected a program (JSON) with it")
    is_live = bool(options.devices) or (options.interfaces and options.use_files is None)
    if options.devices and options.use_files is not None:
        raise wrong("--use-files", "expected no --port with it")
    for given, option in (
        (options.log_console, "--log-console"),
        (options.after_controller, "--after-controller"),
        (options.exit_at_end, "--exit-at-end"),
    ):
        if given and is_live:
            raise wrong(option, "is for pcap files; expected --use-files SECONDS")
    if options.grpc_server_ssl and not (options.grpc_server_cert and options.grpc_server_key):
        raise wrong("--grpc-server-ssl", "expected --grpc-server-cert and --grpc-server-key")
    if options.grpc_server_with_client_auth and not options.grpc_server_cacert:
        raise wrong("--grpc-server-with-client-auth", "expected --grpc-server-cacert")
    for option, file in (
        ("--grpc-server-cert", options.grpc_server_cert),
        ("--grpc-server-key", options.grpc_server_key),
        ("--grpc-server-cacert", options.grpc_server_cacert),
    ):
        if file is not None and not file.is_file():
            raise wrong(option, "no such file", str(file))
    for option, number in (("--seed", options.seed), ("--device-id", options.device_id)):
        if not 0 <= number < 1 << 64:
            raise wrong(option, "expected 0 to 2^64 - 1", str(number))


def port_number(text: str, option: str) -> int:
    """A port: 0 to 510, since 511 means drop."""
    if not text.isdecimal() or int(text) > 510:
        raise wrong(option, "expected a port from 0 to 510", text)
    return int(text)


def interfaces(options: argparse.Namespace) -> dict[int, str]:
    """Ports and the names of their files."""
    names: dict[int, str] = {}
    for text in options.interfaces:
        number, found, name = text.partition("@")
        if not found or not name:
            raise wrong("--interface", "expected PORT@NAME", text)
        port = port_number(number, "--interface")
        if port in names:
            raise wrong("--interface", f"port {port} is there twice", text)
        names[port] = name
    return names


def devices(options: argparse.Namespace, names: dict[int, str]) -> dict[int, str]:
    """Live ports and their DPDK devices; none with pcap files."""
    if options.use_files is not None:
        return {}
    found = settings(options.devices, "--port")
    for port in set(found) & set(names):
        raise wrong("--port", f"port {port} is an --interface too")
    return found | {port: dpdk.af_packet(port, name) for port, name in names.items()}


def settings(texts: list[str], option: str) -> dict[int, str]:
    """`PORT=VALUE` options by port."""
    found = dict[int, str]()
    for text in texts:
        number, given, value = text.partition("=")
        if not given:
            raise wrong(option, "expected PORT=VALUE", text)
        port = port_number(number, option)
        if port in found:
            raise wrong(option, f"port {port} is there twice", text)
        found[port] = value
    return found


def config(options: argparse.Namespace, ports: set[int], pipes: dict[int, int]) -> dict[str, Any]:
    """What the engine's switch with these ports is made of, those of a pipe but the first by it."""
    rates: dict[int, int] = {}
    queues: dict[int, dict[str, int]] = {}
    for port, text in settings(options.rate, "--rate").items():
        try:
            rates[port] = units.parse_rate(text)
        except ValueError as error:
            raise wrong("--rate", str(error), text) from None
    for port, text in settings(options.queue, "--queue").items():
        try:
            limit = units.parse_queue(text)
        except ValueError as error:
            raise wrong("--queue", str(error), text) from None
        if limit.unit == "bdp":
            raise wrong("--queue", "expected packets, bytes or a time", text)
        queues[port] = {"time_ps" if limit.unit == "ps" else limit.unit: int(limit.amount)}
    numbers = set(ports)
    if options.cpu_port is not None:
        cpu_port = port_number(str(options.cpu_port), "--cpu-port")
        if cpu_port in numbers:
            raise wrong("--cpu-port", "is an interface too", str(cpu_port))
        numbers.add(cpu_port)
    for option, given in (("--rate", rates), ("--queue", queues)):
        for port in set(given) - numbers:
            raise wrong(option, "there is no such interface", str(port))
    switch = {
        "ports": [
            {
                "port": port,
                "rate_bps": rates.get(port),
                "queue": queues.get(port, DEFAULT_QUEUE),
                "counts": options.counts,
                "pipeline": pipes.get(port, 0),
            }
            for port in sorted(numbers)
        ],
        "timestamp_unit": options.timestamp_unit,
        "engine": options.engine,
    }
    return {"switch": switch, "cpu_port": options.cpu_port}


def load(switch: Any, options: argparse.Namespace) -> Any:
    """Loads the program; returns the forwarding pipeline configuration where a P4Info came
    with it. Raises `InputError`, or `TargetError` for what the switch refuses.
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
