"""Matches of entries and of value-set members (P4Runtime specification, 9.1.1)."""

from __future__ import annotations

from finsy.proto import p4r

from narrows.schema.switch import Match
from narrows.switch.server.p4runtime.info.convert import encode, number, ones
from narrows.switch.server.p4runtime.info.p4info import Field
from narrows.switch.server.target import invalid


def read_match(part: p4r.FieldMatch, field: Field) -> Match:
    """The target's match. Raises for values that are not canonical in P4Runtime."""
    kind, label = part.WhichOneof("field_match_type"), field.label
    if kind != field.kind:
        raise invalid(f"{label}: a match of kind {kind}: expected {field.kind}")
    match field.kind:
        case "exact":
            return {"exact": hex(field.decode(part.exact.value))}
        case "optional":
            return {"optional": hex(field.decode(part.optional.value))}
        case "lpm":
            value, length = field.decode(part.lpm.value), part.lpm.prefix_len
            if not 0 < length <= field.width:
                expected = f"expected 1 to {field.width}; omit the field to match any value"
                raise invalid(f"{label}: prefix length {length}: {expected}")
            if value & ones(field.width - length):
                raise invalid(f"{label}: {value:#x} has bits set beyond its prefix of {length}")
            return {"lpm": [hex(value), length]}
        case "ternary":
            value, mask = field.decode(part.ternary.value), field.decode(part.ternary.mask)
            if mask == 0:
                raise invalid(f"{label}: mask 0: omit the field to match any value")
            if value & ~mask:
                raise invalid(f"{label}: {value:#x} has bits set outside its mask {mask:#x}")
            return {"ternary": [hex(value), hex(mask)]}
        case "range":
            low, high = field.decode(part.range.low), field.decode(part.range.high)
            if low > high:
                raise invalid(f"{label}: the range {low:#x} to {high:#x} is empty")
            if (low, high) == (0, ones(field.width)):
                raise invalid(
                    f"{label}: the range covers all values: omit the field to match any value"
                )
            return {"range": [hex(low), hex(high)]}


def plain(part: Match | None, field: Field) -> Match | None:
    """The inverse of `read_match`'s normal form: the target's match, or None for any value."""
    if part is None:
        return None
    if "ternary" in part and field.kind == "optional":
        return {"optional": part["ternary"][0]}
    if "range" in part and [number(end) for end in part["range"]] == [0, ones(field.width)]:
        return None
    return part


def show_match(shown: p4r.FieldMatch, part: Match, field: Field) -> None:
    """A match in P4Runtime's canonical form."""
    if "exact" in part:
        shown.exact.value = field.encode(number(part["exact"]))
    elif "optional" in part:
        shown.optional.value = field.encode(number(part["optional"]))
    elif "lpm" in part:
        value, length = part["lpm"]
        shown.lpm.value, shown.lpm.prefix_len = encode(number(str(value))), int(length)
    elif "ternary" in part:
        value, mask = map(number, part["ternary"])
        shown.ternary.value, shown.ternary.mask = encode(value), encode(mask)
    else:
        low, high = map(number, part["range"])
        shown.range.low, shown.range.high = encode(low), encode(high)
