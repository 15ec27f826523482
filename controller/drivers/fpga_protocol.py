"""The management protocol of the hardware bottleneck: datagrams that read and write registers.

A request and its answer are one UDP datagram each, of 20 bytes in network byte order: the magic
number, the version, the operation, a tag, an address, a status, a value. The answer has the tag of
its request and 0x80 added to the operation. docs/guide/hardware-bottleneck.md lists the registers.
"""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import Final, NamedTuple

PORT: Final = 0x4E42
"""The UDP port of requests."""
_LAYOUT: Final = struct.Struct(">HBBIHBBQ")
_MAGIC: Final = 0x4E42
_VERSION: Final = 1
_ANSWER: Final = 0x80


class Operation(IntEnum):
    """What a request asks for."""

    READ = 1
    WRITE = 2


class Status(IntEnum):
    """What became of a request. All but OK changed nothing."""

    OK = 0
    OPERATION = 1
    """The operation is neither a read nor a write."""
    ADDRESS = 2
    """No register has this address."""
    READ_ONLY = 3
    RANGE = 4
    """The register does not take this value."""
    BUSY = 5
    """A commit is pending."""
    LATE = 6
    """The instant of the commit has passed."""


class Board(IntEnum):
    """Registers of a board."""

    IDENTITY = 0x00
    VERSION = 0x01
    NOW = 0x02
    """Picoseconds since the start."""
    LAYOUT = 0x03
    """A byte each: what it can (bit 0 is CoDel); ports; packets and memory (log2) of direction 0;
    those of direction 1."""
    LINE_RATE = 0x04
    PERIOD_PS = 0x05
    FAULTS = 0x06
    """Sticky bits; a one clears its fault."""
    ANSWERED = 0x07
    MALFORMED = 0x08
    MISSED = 0x09
    REPORTED = 0x0A
    OWN_MAC = 0x0B
    OWN_IP = 0x0C
    REPORT_ENABLE = 0x10
    """Bit 0 and 1: the ledger of direction 0 and 1 is reported."""
    COLLECTOR_MAC = 0x11
    COLLECTOR_IP = 0x12
    COLLECTOR_PORT = 0x13


class Direction(IntEnum):
    """Registers of a direction, from its base. Settings take effect with a commit."""

    RATE = 0x00
    BASIS = 0x01
    LIMIT_KIND = 0x02
    LIMIT = 0x03
    ECN_ENABLE = 0x04
    ECN_PACKETS = 0x05
    ECN_BYTES = 0x06
    ECN_TIME = 0x07
    LOSS_THRESHOLD = 0x08
    LOSS_STATE_0 = 0x09
    LOSS_STATE_1 = 0x0A
    LOSS_STATE_2 = 0x0B
    LOSS_STATE_3 = 0x0C
    LOSS_SET_STATE = 0x0D
    DELAY = 0x0E
    CODEL = 0x14
    """Bit 0: CoDel is in force; bit 1: it marks what it can instead of dropping it."""
    CODEL_TARGET = 0x15
    CODEL_INTERVAL = 0x16
    CODEL_MTU = 0x17
    COMMIT = 0x10
    """When the settings take effect together, in ps, or 0 for now; reads as 0 when done."""
    CANCEL = 0x11
    GENERATION = 0x12
    """Commits that took effect, modulo 65,536."""
    ERRORED = 0x20
    RUNTS = 0x21
    GIANTS = 0x22
    ROWS_LOST = 0x23
    LEFT = 0x24
    LATE = 0x25
    UNDERRUNS = 0x26
    LATEST_PS = 0x27
    COUNTS = 0x80
    """Counts of the ledger: + 8 * kind + reason, packets; 32 more, their bytes; + 64 + n, dequeued
    packets whose waiting time has n significant bits.
    """


DIRECTIONS: Final = (0x0100, 0x0200)
"""The base of each direction's registers."""


class Answer(NamedTuple):
    """The answer to a request."""

    tag: int
    operation: int
    address: int
    status: int
    value: int


def request(operation: int, tag: int, address: int, value: int = 0) -> bytes:
    """The datagram of a request."""
    return _LAYOUT.pack(_MAGIC, _VERSION, operation, tag, address, 0, 0, value)


def answer(datagram: bytes) -> Answer | None:
    """An answer, or None if the datagram is none."""
    if len(datagram) != _LAYOUT.size:
        return None
    magic, version, operation, tag, address, status, _, value = _LAYOUT.unpack(datagram)
    if (magic, version) != (_MAGIC, _VERSION) or not operation & _ANSWER:
        return None
    return Answer(tag, operation & ~_ANSWER, address, status, value)


class LedgerRow(NamedTuple):
    """A row of a ledger, as a report brings it."""

    sequence: int
    direction: int
    kind: int
    reason: int
    number: int
    at_ps: int
    counted: int
    packets: int
    bytes: int
    sojourn_ps: int


_REPORT: Final = struct.Struct(">II3sB8sBBBBQQIIQQ")
_INDIVIDUAL: Final = bytes.fromhex("100d0b")
_METADATA: Final = bytes.fromhex("00004e4104000000")


def ledger_row(datagram: bytes) -> LedgerRow | None:
    """The row of a Telemetry Report 2.0, or None if the datagram is not a board's report."""
    if len(datagram) != _REPORT.size:
        return None
    group, _, individual, _, metadata, direction, kind, reason, _, *rest = _REPORT.unpack(datagram)
    if group >> 28 != 2 or (individual, metadata) != (_INDIVIDUAL, _METADATA):
        return None
    return LedgerRow(group & 0x3FFFFF, direction, kind, reason, *rest)
