"""Values of counters and meters (P4Runtime specification, 9.3 and 9.4)."""

from __future__ import annotations

from finsy.proto import p4i, p4r

from narrows.switch.server.p4runtime.info.convert import signed
from narrows.switch.server.target import MeterConfig, invalid


def set_count(data: p4r.CounterData, unit: int, packets: int, octets: int) -> None:
    """Fills in the fields of the counter's unit."""
    data.SetInParent()
    if unit != p4i.CounterSpec.BYTES:
        data.packet_count = packets
    if unit != p4i.CounterSpec.PACKETS:
        data.byte_count = octets


def count_parts(data: p4r.CounterData, label: str) -> tuple[int, int]:
    """Packets and bytes. Raises if one is negative."""
    return (
        signed(data.packet_count, f"{label}: packet_count"),
        signed(data.byte_count, f"{label}: byte_count"),
    )


def meter_parts(config: p4r.MeterConfig, kind: int, label: str) -> MeterConfig:
    """The target's rates and bursts. The P4Info selects two rates (RFC 2698, peak rate not below
    the committed one) or one (RFC 2697). Raises if a value is negative.
    """
    parts = {
        name: signed(getattr(config, name), f"{label}: {name}")
        for name in ("cir", "cburst", "pir", "pburst", "eburst")
    }
    if kind == p4i.MeterSpec.TWO_RATE_THREE_COLOR:
        unused = {"eburst": "a meter of two rates"}
        if parts["pir"] < parts["cir"]:
            raise invalid(f"{label}: pir {parts['pir']} is below cir {parts['cir']}")
    else:
        unused = {"pir": "a meter of one rate", "pburst": "a meter of one rate"}
        if kind == p4i.MeterSpec.SINGLE_RATE_TWO_COLOR:
            unused["eburst"] = "a meter of two colours"
    for name, what in unused.items():
        if parts[name]:
            raise invalid(f"{label}: {name} {parts[name]}: {what} does not use it")
    cir, cburst, pir, pburst, eburst = parts.values()
    if kind == p4i.MeterSpec.TWO_RATE_THREE_COLOR:
        return {"cir": cir, "cburst": cburst, "pir": pir, "pburst": pburst}
    return {"cir": cir, "cburst": cburst, "eburst": eburst}
