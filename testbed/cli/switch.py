"""`narrows switch`: runs the software P4 target as a stand-alone switch."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from narrows.testbed.cli.options import add_port_options, port_options, request_of


def add_command(commands: Any) -> None:
    """The sub-command and its options."""
    command = commands.add_parser(
        "switch", help="run the P4 software switch alone",
        description="A P4 switch under P4Runtime and gNMI, with DPDK ports or with pcap files.",
    )  # fmt: skip
    add = command.add_argument
    add("program", type=Path, nargs="?", help="the JSON that p4c-bm2-ss compiled; or --no-p4")
    add("--no-p4", action="store_true", help="start without a program; a controller pushes one")
    add("--p4info", type=Path, metavar="FILE", help="the program's P4Info, as protobuf text")
    add("--port", action="append", default=[], metavar="PORT=DEVICE", dest="devices",
        help="a live port on a DPDK device, e.g. 1=net_memif0,role=server")  # fmt: skip
    add("--delay", action="append", default=[], metavar="PORT=TIME",
        help="propagation delay behind a live port, e.g. 2=10ms (default: none)")  # fmt: skip
    add("-i", "--interface", action="append", default=[], metavar="PORT@NAME", dest="interfaces",
        help="a live port on a network interface; with --use-files a port whose "
        "NAME_in.pcap is read and NAME_out.pcap is written")  # fmt: skip
    add_port_options(command)
    add(
        "--workers", type=int, default=1, metavar="N",
        help="cores, each with a pipeline; live ports are assigned to them in turn (default: 1)",
    )  # fmt: skip
    add("--queues", type=int, default=1, metavar="N",
        help="receive queues of each live port, assigned to the workers (default: 1)")  # fmt: skip
    add("--use-files", type=float, metavar="SECONDS",
        help="use pcap files as interfaces; packets begin after this many seconds")  # fmt: skip
    add("--after-controller", action="store_true",
        help="hold packets until a controller has set up the switch and disconnected")  # fmt: skip
    add("--exit-at-end", action="store_true", help="exit when all packets have left")
    add("--device-id", type=int, default=0, help="the switch's P4Runtime device id (default: 0)")
    add("--grpc-server-addr", default="127.0.0.1:9559", metavar="HOST:PORT",
        help="address for controllers (default: 127.0.0.1:9559; port 0: any)")  # fmt: skip
    add("--grpc-server-ssl", action="store_true", help="use TLS; needs a certificate and a key")
    add("--grpc-server-cert", type=Path, metavar="FILE", help="the server's certificate (PEM)")
    add("--grpc-server-key", type=Path, metavar="FILE", help="the server's key (PEM)")
    add("--grpc-server-cacert", type=Path, metavar="FILE",
        help="the authority that signs clients' certificates (PEM)")  # fmt: skip
    add("--grpc-server-with-client-auth", action="store_true",
        help="require a certificate of clients")  # fmt: skip
    add("--grpc-server-clients", type=Path, metavar="FILE",
        help="what each certificate's owner may do (TOML; default: everything)")  # fmt: skip
    add("--user", metavar="NAME", help="run as this user once the ports are open")
    add("--cpu-port", type=int, metavar="PORT", help="the port whose packets go to controllers")
    add("--cpu-packets", type=int, metavar="N",
        help="packets per second to controllers (default: 20000; pcap files: all)")  # fmt: skip
    add("--cpu-bytes", metavar="SIZE",
        help="bytes per second to controllers (default: 20MB; pcap files: all)")  # fmt: skip
    add("--rate", action="append", default=[], metavar="PORT=RATE",
        help="a port's rate, e.g. 2=10Mbps (default: none)")  # fmt: skip
    add("--queue", action="append", default=[], metavar="PORT=LIMIT",
        help="a port's queue limit, e.g. 2=150kB or 2=20ms (default: 64packets)")  # fmt: skip
    add("--counts", choices=("frame", "ip", "wire"), default="frame",
        help="the bytes that count against rate and queue (default: frame)")  # fmt: skip
    add("--timestamp-unit", choices=("us", "ns"), default="us",
        help="unit of the program's timestamps (default: us, as in bmv2)")  # fmt: skip
    add("--engine", choices=("native", "interpreter"), default="native",
        help="run the program as machine code (default) or interpreted; same results")  # fmt: skip
    add("--seed", type=int, default=1, help="seed of the program's random numbers (default: 1)")
    add("--record", type=Path, metavar="DIR",
        help="write every port's ledger there: queue.parquet and summary.json")  # fmt: skip
    add("--live", type=int, nargs="?", const=0, metavar="PORT",
        help="a page for a browser on this machine, with queues, rates and sliders, at this TCP "
        "port (any free one)")  # fmt: skip
    add("--log-console", action="store_true", help="log what happens to every packet")
    command.set_defaults(command=run)


def run(options: argparse.Namespace) -> int:
    """`narrows switch`. Raises `InputError`."""
    from narrows.testbed.tools.switch import daemon
    from narrows.testbed.tools.switch.options import SwitchOptions

    return daemon.run(request_of(SwitchOptions, options, ports=port_options(options)))
