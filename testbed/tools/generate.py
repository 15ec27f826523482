"""`narrows generate`: a scenario's background traffic from our own generator, by a DPDK port."""

from __future__ import annotations

import argparse
import json
from typing import Any

from narrows.schema import units
from narrows.testbed.catalogue import engine
from narrows.testbed.problems import InputError, Problem
from narrows.testbed.scenario import background
from narrows.testbed.targets.dpdk import setup as dpdk
from narrows.traffic.pktgen.profile import ProfileError, Stream

FIRST_MESSAGES = 100
"""Of each connection, by which a stream's length is known; later ones are checked as they come."""


def add_command(commands: Any) -> None:
    """The sub-command and its options."""
    command = commands.add_parser(
        "generate", help="send a scenario's background traffic as UDP packets by a DPDK port"
    )
    background.add_options(command.add_argument)
    command.add_argument("--port", required=True, metavar="DEVICE", dest="device",
        help="the DPDK device, e.g. net_memif0,role=client")  # fmt: skip
    command.add_argument("--count", type=int, metavar="N", help="so many packets at most")
    dpdk.add_options(command)
    command.set_defaults(command=run)


def run(options: argparse.Namespace) -> int:
    """`narrows generate`. Raises `InputError`; 1 where a packet could not be sent."""
    if options.count is not None and options.count < 1:
        raise InputError("--count", [Problem(str(options.count), "expected at least 1")])
    traffic = background.read(options)
    found = traffic.streams(FIRST_MESSAGES)
    try:
        streams = [(headers(one), one.payload_bytes, one.flows) for one in found]
    except ProfileError as error:
        raise InputError(traffic.source, [Problem("flow", str(error))]) from None
    setup = dpdk.setup_by(options, [options.device])
    limit = {} if options.count is None else {"most": options.count}
    try:
        done = engine().generate(
            json.dumps(traffic.plan), streams, options.device, setup.as_text(),
            traffic.plan["duration_ps"], **limit,
        )  # fmt: skip
    except (engine().DeviceError, engine().RunError) as error:
        raise InputError("--port", [Problem("", str(error))]) from None
    except engine().PlanError as error:
        raise InputError(traffic.source, [Problem("", str(error))]) from None
    for one, packets in zip(found, done["packets"], strict=True):
        print(f"{one.name}: {packets} packets of {one.frame_bytes} B")
    [wire] = done["instrument"]["wires"]
    late, lost = wire["departure_error_us"], wire["not_sent"] + wire["without_memory"]
    print(
        f"{wire['sent']} sent in {done['duration_s']:.3f} s, late by {late['p50']:.1f} us "
        f"(median), {late['p99']:.1f} us (99 %), {late['max']:.1f} us (max)"
    )
    if lost:
        print(f"{lost} could not be sent")
    return 1 if lost else 0


def headers(stream: Stream) -> bytes:
    """A packet's bytes before its payload, which is zeros. Raises `ProfileError`."""
    import dpkt

    _ = stream.frame_bytes
    datagram = dpkt.udp.UDP(
        sport=stream.source_port, dport=stream.destination_port,
        ulen=dpkt.udp.UDP_HDR_LEN + stream.payload_bytes, data=bytes(stream.payload_bytes),
    )  # fmt: skip
    packet = dpkt.ip.IP(
        src=units.ip_bytes(stream.source_ip), dst=units.ip_bytes(stream.destination_ip),
        p=dpkt.ip.IP_PROTO_UDP, len=dpkt.ip.IP_HDR_LEN + datagram.ulen, data=datagram,
    )  # fmt: skip
    source, destination = map(units.mac_bytes, (stream.source_mac, stream.destination_mac))
    frame = dpkt.ethernet.Ethernet(src=source, dst=destination, data=packet)
    return bytes(frame)[: -stream.payload_bytes]
