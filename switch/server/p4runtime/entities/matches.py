"""Matches of entries and of value-set members (P4Runtime specification, 9.1.1)."""

from __future__ import annotations

from typing import Any

from finsy.proto import p4r

from narrows.switch.server.p4runtime.info.convert import encode, number, ones
from narrows.switch.server.p4runtime.info.p4info import Field
from narrows.switch.server.target import invalid


def read_match(part: p4r.FieldMatch, field: Field) -> dict[str, Any]:
    """The target's match. Raises for values that are not canonical in P4Runtime."""
    kind, place = part.WhichOneof("field_match_type"), field.place
    if kind != field.kind:
        raise invalid(f"{place}: a match of kind {kind}: expected {field.kind}")
    match field.kind:
        case "exact":
            return {"exact": hex(field.decode(part.exact.value))}
        case "optional":
            return {"optional": hex(field.decode(part.optional.value))}
        case "lpm":
            value, length = field.decode(part.lpm.value), part.lpm.prefix_len
            if not 0 < length <= field.width:
                expected = f"expected 1 to {field.width}; omit the field to match any value"
                raise invalid(f"{place}: prefix length {length}: {expected}")
            if value & ones(field.width - length):
                raise invalid(f"{place}: {value:#x} has bits set beyond its prefix of {length}")
            return {"lpm": (hex(value), length)}
        case "ternary":
            value, mask = field.decode(part.ternary.value), field.decode(part.ternary.mask)
            if mask == 0:
                raise invalid(f"{place}: mask 0: omit the field to match any value")
            if value & ~mask:
                raise invalid(f"{place}: {value:#x} has bits set outside its mask {mask:#x}")
            return {"ternary": (hex(value), hex(mask))}
        case "range":
            low, high = field.decode(part.range.low), field.decode(part.range.high)
            if low > high:
                raise invalid(f"{place}: the range {low:#x} to {high:#x} is empty")
            if (low, high) == (0, ones(field.width)):
                raise invalid(
                    f"{place}: the range covers all values: omit the field to match any value"
                )
            return {"range": (hex(low), hex(high))}


def plain(part: dict[str, Any] | None, field: Field) -> dict[str, Any] | None:
    """The inverse of `read_match`'s normal form: the target's match, or None for any value."""
    if part is None:
        return None
    [(kind, value)] = part.items()
    if kind == "ternary" and field.kind == "optional":
        return {"optional": value[0]}
    if kind == "range" and (number(value[0]), number(value[1])) == (0, ones(field.width)):
        return None
    return part


def show_match(shown: p4r.FieldMatch, part: dict[str, Any], field: Field) -> None:
    """A match in P4Runtime's canonical form."""
    [(kind, value)] = part.items()
    match kind:
        case "exact":
            shown.exact.value = field.encode(number(value))
        case "optional":
            shown.optional.value = field.encode(number(value))
        case "lpm":
            shown.lpm.value, shown.lpm.prefix_len = encode(number(value[0])), value[1]
        case "ternary":
            shown.ternary.value, shown.ternary.mask = (encode(number(one)) for one in value)
        case "range":
            shown.range.low, shown.range.high = (encode(number(one)) for one in value)
