"""Packet-in and packet-out: controller headers as metadata (P4Runtime specification, 16.1).

As in bmv2, the header precedes the packet on the CPU port.
"""

from __future__ import annotations

from finsy.proto import p4r

from narrows.switch.server.p4runtime.info.p4info import PacketField
from narrows.switch.server.target import invalid


def packet_in(fields: tuple[PacketField, ...], packet: bytes) -> p4r.PacketIn:
    """Decodes a packet of the CPU port; a packet shorter than the header has no metadata."""
    bits = sum(field.width for field in fields)
    size = (bits + 7) // 8
    if len(packet) < size:
        return p4r.PacketIn(payload=packet)
    shown = p4r.PacketIn(payload=packet[size:])
    header, left = int.from_bytes(packet[:size], "big"), size * 8
    for field in fields:
        left -= field.width
        value = (header >> left) & ((1 << field.width) - 1)
        if not field.padding:
            shown.metadata.add(metadata_id=field.id, value=field.encode(value))
    return shown


def packet_out(fields: tuple[PacketField, ...], message: p4r.PacketOut) -> bytes:
    """Encodes a packet for the CPU port. Raises `TargetError` for invalid metadata."""
    known = {field.id: field for field in fields}
    values: dict[int, int] = {}
    for one in message.metadata:
        if one.metadata_id not in known:
            raise invalid(f"packet-out: metadata {one.metadata_id} is not in the P4Info")
        field = known[one.metadata_id]
        if field.id in values:
            raise invalid(f"packet-out: metadata '{field.name}' is repeated")
        values[field.id] = field.decode(one.value)
    header, bits = 0, 0
    for field in fields:
        if field.id not in values and not field.padding:
            raise invalid(f"packet-out: metadata '{field.name}' is missing")
        header = header << field.width | values.get(field.id, 0)
        bits += field.width
    size = (bits + 7) // 8
    return (header << (size * 8 - bits)).to_bytes(size, "big") + message.payload
