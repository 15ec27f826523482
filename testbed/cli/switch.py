"""`narrows switch`: runs the software P4 target as a stand-alone switch."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from narrows.testbed.cli.options import add_port_options, port_options, request_of


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
    add_port_options(command)
    add(
        "--workers", type=int, default=1, metavar="N",
        help="cores, each with a pipeline of the switch, that the live ports are dealt out to (1)",
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
    add("--grpc-server-clients", type=Path, metavar="FILE",
        help="what each certificate's owner may do (TOML; without it: everything)")  # fmt: skip
    add("--user", metavar="NAME", help="whose process it becomes once its ports are open")
    add("--cpu-port", type=int, metavar="PORT", help="whose packets are the controllers'")
    add("--cpu-packets", type=int, metavar="N",
        help="packets per second for controllers (live: 20000; pcap files: no limit)")  # fmt: skip
    add("--cpu-bytes", metavar="SIZE",
        help="bytes per second for controllers (live: 20MB; pcap files: no limit)")  # fmt: skip
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
    from narrows.testbed.tools.switch import daemon
    from narrows.testbed.tools.switch.options import SwitchOptions

    return daemon.run(request_of(SwitchOptions, options, ports=port_options(options)))
