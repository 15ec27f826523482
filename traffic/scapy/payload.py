"""Scapy layers for our hosts' payloads: a segment's stamp, a message's header.

A stamp (`hosts/src/wire/stamp.rs`) stands at the front of a data segment's zeros, a message's
header (`traffic/src/message.rs`) at the front of every message in the stream; each begins with a
magic of four bytes. Times are picoseconds since the run began.
"""

from __future__ import annotations

from scapy.fields import IntField, LongField, StrFixedLenField
from scapy.packet import Packet

STAMP_MAGIC = b"nrws"
MESSAGE_MAGIC = b"nrwm"


class Stamp(Packet):
    """The time and flow of a segment."""

    name = "Narrows Stamp"
    fields_desc = [  # noqa: RUF012 (Scapy reads the class's list)
        StrFixedLenField("magic", STAMP_MAGIC, 4),
        IntField("flow", 0),
        LongField("sent_at_ps", 0),
    ]


class Message(Packet):
    """A message's header: its length with this header, its number, its write time."""

    name = "Narrows Message"
    fields_desc = [  # noqa: RUF012
        StrFixedLenField("magic", MESSAGE_MAGIC, 4),
        IntField("length_bytes", 24),
        LongField("number", 0),
        LongField("written_at_ps", 0),
    ]


LAYERS = {STAMP_MAGIC: Stamp, MESSAGE_MAGIC: Message}


def of_payload(payload: bytes) -> Packet | None:
    """The stamp or message header at the start of a segment's payload; None without one."""
    layer = LAYERS.get(payload[:4])
    return layer(payload) if layer and len(payload) >= len(layer()) else None
