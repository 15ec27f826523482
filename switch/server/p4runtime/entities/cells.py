"""Counters' and meters' values (P4Runtime specification, 9.3 and 9.4)."""

from __future__ import annotations

from finsy.proto import p4i, p4r

from narrows.switch.server.p4runtime.info.convert import signed
from narrows.switch.server.target import invalid


def set_count(data: p4r.CounterData, unit: int, packets: int, octets: int) -> None:
    """Fills in what the counter's unit has."""
    data.SetInParent()
    if unit != p4i.CounterSpec.BYTES:
        data.packet_count = packets
    if unit != p4i.CounterSpec.PACKETS:
        data.byte_count = octets


def count_parts(data: p4r.CounterData, place: str) -> tuple[int, int]:
    """Packets and bytes, neither negative."""
    return (
        signed(data.packet_count, f"{place}: packet_count"),
        signed(data.byte_count, f"{place}: byte_count"),
    )


def meter_parts(config: p4r.MeterConfig, kind: int, place: str) -> dict[str, int]:
    """Rates and bursts as the target has them, none negative: two of each (RFC 2698) with the
    peak rate no lower than the other, or one rate (RFC 2697), as the P4Info says.
    """
    parts = {
        name: signed(getattr(config, name), f"{place}: {name}")
        for name in ("cir", "cburst", "pir", "pburst", "eburst")
    }
    if kind == p4i.MeterSpec.TWO_RATE_THREE_COLOR:
        unused = {"eburst": "a meter of two rates"}
        if parts["pir"] < parts["cir"]:
            raise invalid(f"{place}: pir {parts['pir']} is below cir {parts['cir']}")
    else:
        unused = {"pir": "a meter of one rate", "pburst": "a meter of one rate"}
        if kind == p4i.MeterSpec.SINGLE_RATE_TWO_COLOR:
            unused["eburst"] = "a meter of two colours"
    for name, what in unused.items():
        if parts[name]:
            raise invalid(f"{place}: {name} {parts[name]}: {what} has none")
        if name != "eburst" or kind == p4i.MeterSpec.TWO_RATE_THREE_COLOR:
            del parts[name]
    return parts
