"""Encodes and decodes leaf values of gNMI: scalars and JSON."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import grpc
from finsy.proto import gnmi

from narrows.switch.server.gnmi.leaves import BOOLEAN, DECIMAL, Leaf, Value
from narrows.switch.server.gnmi.refusals import RefusedError, invalid
from narrows.switch.server.gnmi.tree import Wanted, as_json, show_wanted


def scalar(leaf: Leaf, value: Value) -> gnmi.TypedValue:
    """A value as its protobuf scalar."""
    if leaf.kind.is_integer:
        return gnmi.TypedValue(uint_val=int(value))
    if leaf.kind.name == DECIMAL.name:
        return gnmi.TypedValue(double_val=float(value))
    if leaf.kind.name == BOOLEAN.name:
        return gnmi.TypedValue(bool_val=bool(value))
    return gnmi.TypedValue(string_val=str(value))


def json_value(content: Any, *, ietf: bool) -> gnmi.TypedValue:
    """A JSON value in its encoding."""
    text = json.dumps(content).encode()
    return gnmi.TypedValue(json_ietf_val=text) if ietf else gnmi.TypedValue(json_val=text)


def encode(leaf: Leaf, value: Value, encoding: int) -> gnmi.TypedValue:
    """Encodes a leaf's value in a subscription. JSON, the default encoding, also gets scalars, as
    in Stratum: finsy requests JSON and reads scalars.
    """
    if encoding == gnmi.JSON_IETF:
        return json_value(as_json(leaf, value, ietf=True), ietf=True)
    return scalar(leaf, value)


def written(wanted: Wanted, update: gnmi.Update) -> Any:
    """Decodes an update's value: a number, a string, or JSON."""
    kind = update.val.WhichOneof("value")
    text = show_wanted(wanted)
    if kind in ("json_val", "json_ietf_val"):
        try:
            return json.loads(getattr(update.val, kind))
        except (ValueError, RecursionError) as error:
            raise invalid(f"{text}: the value is not valid JSON: {error}") from None
    if kind in ("uint_val", "int_val", "string_val", "bool_val", "double_val", "float_val"):
        return getattr(update.val, kind)
    known = "uint_val, int_val, json_ietf_val or json_val"
    raise invalid(f"{text}: the value is {kind or 'missing'}: expected {known}")


def checked(text: str, leaf: Leaf, value: Any) -> Value:
    """Converts a value for a leaf: one of its words, a number, or its digits (RFC 7951)."""
    if leaf.kind.words:
        if value not in leaf.kind.words:
            raise invalid(f"{text} = {value!r}: expected {leaf.expected()}")
        return str(value)
    is_flag = isinstance(value, bool)
    if is_flag and leaf.kind.name == BOOLEAN.name:
        return int(value)
    if leaf.kind.name == DECIMAL.name and not is_flag:
        with contextlib.suppress(TypeError, ValueError, OverflowError):
            return in_range(text, leaf, float(value))
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value)
    if not isinstance(value, int) or is_flag or leaf.kind.name == BOOLEAN.name:
        raise invalid(f"{text} = {value!r}: expected {leaf.expected()}")
    return in_range(text, leaf, value)


def in_range(text: str, leaf: Leaf, value: float) -> float:
    """Returns the number if it is in the leaf's range."""
    assert leaf.kind.most is not None
    if not leaf.least <= value <= leaf.kind.most:
        raise RefusedError(
            grpc.StatusCode.OUT_OF_RANGE, f"{text} = {value}: expected {leaf.expected()}"
        )
    return value
