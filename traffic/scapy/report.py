"""Scapy layers for the telemetry reports of `p4/headers.p4` and of the hardware bottleneck.

Telemetry Report Format Specification 2.0 (P4.org Applications Working Group, 2020): a group
header, then individual reports. Ours is RepType 1 (INT), sent beside the packet (INT-XD): fixed
main contents, the metadata of RepMdBits 1 to 5, five words of domain 0x4E41, and the packet's
first bytes from the IP header on: 40, or 60 of IPv6.

    UDP / TelemetryReport / IndividualReport / HopMetadata / FlowMetadata / IP or IPv6 / TCP

A board reports a row of a ledger without its packet, in the same domain
(fpga/rtl/management/frame_sender.sv):

    UDP / TelemetryReport / IndividualReport / LedgerRow
"""

from __future__ import annotations

from scapy.fields import (
    BitField,
    ByteEnumField,
    ByteField,
    FlagsField,
    IntField,
    LongField,
    ShortField,
    ThreeBytesField,
    XShortField,
)
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.packet import Packet, bind_layers, split_layers

DEFAULT_PORT = 5600
"""Default UDP port of reports, also in scenarios; `collect_on` changes it."""

METADATA_BITS = 0x7C00
"""RepMdBits 1 to 5: interfaces, hop latency, queue, ingress and egress timestamp."""
DOMAIN = 0x4E41
DOMAIN_BITS = 0xF800
"""DSMdBits 0 to 4: the words of `FlowMetadata`."""
INNER_IPV4, INNER_IPV6 = 4, 5
LEDGER_BITS = 0x0400
"""DSMdBits 5: the words of `LedgerRow`."""


class TelemetryReport(Packet):
    """The Telemetry Report Group Header: who reports, and the number of the report."""

    name = "Telemetry Report"
    fields_desc = [  # noqa: RUF012 (Scapy reads the class's list)
        BitField("version", 2, 4),
        BitField("hardware_id", 0, 6),
        BitField("sequence", 0, 22),
        IntField("node_id", 0),
    ]


class IndividualReport(Packet):
    """The Individual Report Header with the fixed main contents of RepType INT.

    `report_words` and `metadata_words` are lengths in 4-byte words.
    """

    name = "Individual Report"
    fields_desc = [  # noqa: RUF012
        BitField("report_type", 1, 4),
        BitField("inner_type", INNER_IPV4, 4),
        ByteField("report_words", 24),
        ByteField("metadata_words", 12),
        FlagsField("flags", 0x20, 8, ["r0", "r1", "r2", "r3", "i", "f", "q", "d"]),
        XShortField("metadata_bits", METADATA_BITS),
        XShortField("domain_id", DOMAIN),
        XShortField("domain_bits", DOMAIN_BITS),
        XShortField("domain_status", 0),
    ]


class HopMetadata(Packet):
    """Baseline metadata: ports, latency and times in nanoseconds, depth in packets."""

    name = "Hop Metadata"
    fields_desc = [  # noqa: RUF012
        ShortField("ingress_port", 0),
        ShortField("egress_port", 0),
        IntField("hop_latency_ns", 0),
        ByteField("queue_id", 0),
        ThreeBytesField("queue_depth", 0),
        LongField("ingress_timestamp_ns", 0),
        LongField("egress_timestamp_ns", 0),
    ]


class FlowMetadata(Packet):
    """Domain-specific metadata: the flow, the packet's lengths, its delay in the queue."""

    name = "Flow Metadata"
    fields_desc = [  # noqa: RUF012
        IntField("flow_id", 0),
        IntField("tcp_sequence", 0),
        ShortField("ip_length", 0),
        ShortField("frame_length", 0),
        IntField("queue_delay_ns", 0),
        IntField("enqueue_depth", 0),
    ]

    def guess_payload_class(self, payload: bytes) -> type[Packet]:
        """The packet that the report is about, by its version."""
        return IPv6 if payload[:1] and payload[0] >> 4 == 6 else IP


class LedgerRow(Packet):
    """Domain-specific metadata: an event of a packet at a board's queue. Times in picoseconds."""

    name = "Ledger Row"
    fields_desc = [  # noqa: RUF012
        ByteField("direction_id", 0),
        ByteEnumField("kind", 0, {0: "enqueue", 1: "dequeue", 2: "drop", 3: "mark"}),
        ByteField("reason", 0),
        ByteField("reserved", 0),
        LongField("number", 0),
        LongField("at_ps", 0),
        IntField("counted_bytes", 0),
        IntField("depth_packets", 0),
        LongField("depth_bytes", 0),
        LongField("sojourn_ps", 0),
    ]


def collect_on(udp_port: int) -> None:
    """Dissects UDP packets to this port, and only this one, as reports."""
    global _port
    split_layers(UDP, TelemetryReport, dport=_port)
    bind_layers(UDP, TelemetryReport, dport=udp_port, sport=udp_port)
    bind_layers(UDP, TelemetryReport, dport=udp_port)
    _port = udp_port


_port = DEFAULT_PORT
bind_layers(UDP, TelemetryReport, dport=DEFAULT_PORT)
bind_layers(TelemetryReport, IndividualReport)
bind_layers(IndividualReport, HopMetadata, report_type=1, metadata_bits=METADATA_BITS)
bind_layers(IndividualReport, LedgerRow, report_type=1, metadata_bits=0, domain_bits=LEDGER_BITS)
bind_layers(HopMetadata, FlowMetadata)
bind_layers(FlowMetadata, IP)
bind_layers(FlowMetadata, IPv6)
