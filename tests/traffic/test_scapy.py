"""Reports, stamps and messages as Scapy and Wireshark read them.

The reports are those that bmv2 sent (switch/tests/golden), beside the entries and packets it had.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

import pytest
from scapy.layers.inet import IP, TCP
from scapy.layers.l2 import Ether
from scapy.packet import Packet
from scapy.utils import wrpcap

from narrows.traffic.scapy import (
    FlowMetadata,
    HopMetadata,
    IndividualReport,
    LedgerRow,
    Message,
    Stamp,
    TelemetryReport,
    collect_on,
)
from narrows.traffic.scapy.payload import of_payload
from narrows.traffic.scapy.report import DEFAULT_PORT
from tests.support.needs import programs
from tests.support.world import ROOT

GOLDEN = ROOT / "switch/tests/golden/bmv2.json"
DISSECTOR = ROOT / "traffic/wireshark/narrows.lua"
COLLECTOR = "3"
COLLECTOR_PORT = 32766
STAMP = bytes.fromhex("6e727773 00000007 0102030405060708")
MESSAGE = bytes.fromhex("6e72776d 00000050 0000000000000103 0000010000000000")


@pytest.fixture
def recording() -> Iterator[dict[str, Any]]:
    collect_on(COLLECTOR_PORT)
    yield json.loads(GOLDEN.read_text())
    collect_on(DEFAULT_PORT)


def reports(recording: dict[str, Any]) -> list[Packet]:
    frames = [Ether(bytes.fromhex(text)) for text in recording["received"][COLLECTOR]]
    return [frame for frame in frames if TelemetryReport in frame]


def test_a_boards_report_is_a_row_of_its_ledger() -> None:
    # Version 2, report 7, node 192.168.78.66; INT, no packet, 13 and 11 words, dropped; domain
    # 0x4E41, bits 0x0400; direction 1, drop, queue full.
    header = "20000007 c0a84e42 100d0b80 00004e4104000000 01020000"
    fields = "0000000000000009 00000000000f4240 00000054 00000014 0000000000000690"
    report = TelemetryReport(bytes.fromhex(header + fields + "0000000000000000"))
    row = report[LedgerRow]
    flags = int(report[IndividualReport].flags)
    assert (report.sequence, report.node_id, flags) == (7, 0xC0A84E42, 0x80)
    assert (row.direction_id, row.kind, row.reason, row.number, row.at_ps) == (1, 2, 0, 9, 10**6)
    assert (row.counted_bytes, row.depth_packets, row.depth_bytes, row.sojourn_ps) == (
        84,
        20,
        1680,
        0,
    )


def route(recording: dict[str, Any], address: str) -> int:
    """The port of the longest prefix among the recording's entries."""
    found = {}
    for entry in recording["entries"]:
        if entry["table"] == "ipv4_lpm":
            value, length = entry["matches"]["hdr.ipv4.dst_addr"]["lpm"]
            if ip_address(address) in ip_network((int(value, 16), length)):
                found[length] = int(entry["params"]["port"], 0)
    return found[max(found)]


def test_a_report_of_bmv2_dissects_to_its_last_byte_and_back(recording: dict[str, Any]) -> None:
    found = reports(recording)
    assert len(found) == 100
    assert sorted(frame[TelemetryReport].sequence for frame in found) == list(range(100))
    for frame in found:
        main, hop, flow = (frame[layer] for layer in (IndividualReport, HopMetadata, FlowMetadata))
        inner = flow[IP]
        assert (main.report_type, main.metadata_words) == (1, 12)
        # 14 words of main contents and metadata, then the packet's first 40 bytes, padded.
        assert main.report_words == 14 + (min(inner.len, 40) + 3) // 4
        assert flow.ip_length == inner.len
        assert hop.egress_port == route(recording, inner.dst)
        assert hop.egress_timestamp_ns - hop.ingress_timestamp_ns == hop.hop_latency_ns
        assert flow.queue_delay_ns <= hop.hop_latency_ns
        if TCP in inner:
            assert flow.tcp_sequence == inner[TCP].seq
        assert bytes(Ether(bytes(frame))) == frame.original


def test_layers_made_by_hand_are_the_bytes_of_the_format() -> None:
    report = TelemetryReport(sequence=5, node_id=9) / IndividualReport() / HopMetadata()
    # Version 2, 6 bits of hardware, 22 of sequence; the tracked-flow bit; lengths in words.
    assert bytes(report)[:18] == bytes.fromhex("20000005 00000009 14180c20 7c00 4e41 f800")
    assert len(report / FlowMetadata()) == 68
    assert bytes(Stamp(flow=7, sent_at_ps=0x0102030405060708)) == STAMP
    assert bytes(Message(length_bytes=80, number=259, written_at_ps=1 << 40)) == MESSAGE


def test_a_payload_is_known_by_its_magic() -> None:
    assert of_payload(STAMP + bytes(100)) == Stamp(STAMP + bytes(100))
    message = of_payload(MESSAGE)
    assert isinstance(message, Message) and message.number == 259
    assert of_payload(STAMP[:15]) is None
    assert of_payload(bytes(24)) is None


@programs("tshark")
def test_wireshark_reads_what_scapy_reads(recording: dict[str, Any], tmp_path: Path) -> None:
    def tshark(*arguments: str) -> list[list[str]]:
        command = ["tshark", "-X", f"lua_script:{DISSECTOR}", "-r", str(capture), *arguments]
        ran = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
        assert "Lua Error" not in ran.stderr, ran.stderr
        return [line.split("\t") for line in ran.stdout.splitlines()]

    def read(protocol: str, names: list[str]) -> list[list[str]]:
        fields = [text for name in names for text in ("-e", f"{protocol}.{name}")]
        return tshark(
            "-o", f"narrows_report.port:{COLLECTOR_PORT}", "-Y", protocol, "-T", "fields", *fields
        )

    capture = tmp_path / "reports.pcap"
    found = reports(recording)
    segments = [
        Ether() / IP(dst="10.0.0.2") / TCP(sport=port, dport=5001, flags="A") / payload
        for port, payload in enumerate((STAMP, MESSAGE), start=1024)
    ]
    wrpcap(str(capture), [*found, *segments])

    columns: list[tuple[type[Packet], str]] = [
        (TelemetryReport, "sequence"),
        (TelemetryReport, "node_id"),
        (HopMetadata, "queue_depth"),
        (HopMetadata, "egress_timestamp_ns"),
        (FlowMetadata, "flow_id"),
        (FlowMetadata, "queue_delay_ns"),
    ]
    expected = [[str(frame[layer].getfieldval(name)) for layer, name in columns] for frame in found]
    assert read("narrows_report", [name for _, name in columns]) == expected
    assert read("narrows_stamp", ["flow", "sent_at_ps"]) == [["7", str(0x0102030405060708)]]
    message = read("narrows_message", ["length_bytes", "number", "written_at_ps"])
    assert message == [["80", "259", str(1 << 40)]]
