"""The testbed's packet formats as Scapy layers, and packet tests for any target.

Importing it is enough for Scapy to dissect reports, stamps and messages (`load_layers`).
"""

from __future__ import annotations

from narrows.traffic.scapy.payload import Message, Stamp
from narrows.traffic.scapy.report import (
    FlowMetadata,
    HopMetadata,
    IndividualReport,
    LedgerRow,
    TelemetryReport,
    collect_on,
)

__all__ = [
    "FlowMetadata",
    "HopMetadata",
    "IndividualReport",
    "LedgerRow",
    "Message",
    "Stamp",
    "TelemetryReport",
    "collect_on",
]
