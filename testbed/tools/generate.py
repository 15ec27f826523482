"""`narrows generate`: sends a scenario's background traffic through a DPDK port."""

from __future__ import annotations

import json
from dataclasses import dataclass

from narrows.schema import units
from narrows.testbed import engine
from narrows.testbed.problems import InputError, Problem
from narrows.testbed.scenario import background
from narrows.testbed.scenario.background import BackgroundRequest
from narrows.testbed.targets.dpdk.setup import PortOptions, setup_by
from narrows.traffic.pktgen.profile import ProfileError, Stream

FIRST_MESSAGES = 100
"""Messages of each connection that determine a stream's packet length; later ones are checked when
sent.
"""


@dataclass(frozen=True)
class GenerateRequest:
    """The packets to send, and the port."""

    traffic: BackgroundRequest
    device: str
    """The DPDK device."""
    ports: PortOptions
    count: int | None = None
    """Maximum number of packets."""


def generate(request: GenerateRequest) -> int:
    """Sends the packets. Returns 1 if one could not be sent, else 0. Raises `InputError`."""
    if request.count is not None and request.count < 1:
        raise InputError("--count", [Problem(str(request.count), "expected at least 1")])
    traffic = background.read(request.traffic)
    found = traffic.streams(FIRST_MESSAGES)
    try:
        streams = [(headers(one), one.payload_bytes, one.flows) for one in found]
    except ProfileError as error:
        raise InputError(traffic.source, [Problem("flow", str(error))]) from None
    setup = setup_by(request.ports, [request.device])
    limit = () if request.count is None else (request.count,)
    try:
        done = engine.generate(
            json.dumps(traffic.plan), streams, request.device, setup.as_text(),
            traffic.duration_ps, *limit,
        )  # fmt: skip
    except (engine.DeviceError, engine.RunError) as error:
        raise InputError("--port", [Problem("", str(error))]) from None
    except engine.PlanError as error:
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
    """A packet's headers; its payload is zeros. Raises `ProfileError`."""
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
