"""Values in BfRuntime messages: widths, sizes and checks."""

from __future__ import annotations

from typing import Any

import grpc

from narrows.controller.bfrt import bfruntime_pb2 as pb

INTEGERS = {"uint8": 8, "uint16": 16, "uint32": 32, "uint64": 64}


class RefusedError(Exception):
    """Why a message is refused."""

    def __init__(self, code: grpc.StatusCode, message: str) -> None:
        super().__init__(message)
        self.code = code


def invalid(message: str) -> RefusedError:
    return RefusedError(grpc.StatusCode.INVALID_ARGUMENT, message)


def serialized(field: Any) -> bytes:
    content: bytes = field.SerializeToString(deterministic=True)
    return content


def width_of(kind: dict[str, Any]) -> int:
    """A type's bits."""
    return int(kind["width"]) if kind["type"] == "bytes" else INTEGERS[kind["type"]]


def size(kind: dict[str, Any]) -> int:
    """A type's bytes."""
    return -(-width_of(kind) // 8)


def number_of(stream: bytes) -> int:
    return int.from_bytes(stream, "big")


def check_stream(where: str, stream: bytes, kind: dict[str, Any]) -> None:
    """Raises `RefusedError` unless there are exactly this many bytes and the number is in range."""
    if len(stream) != size(kind):
        raise invalid(f"{where}: {len(stream)} bytes, expected {size(kind)}")
    if number_of(stream) >> width_of(kind):
        raise invalid(f"{where}: {number_of(stream)}, expected {width_of(kind)} bits")


def check_key(table: dict[str, Any], entry: pb.TableEntry) -> None:
    fields = {one["id"]: one for one in table["key"]}
    given = [one.field_id for one in entry.key.fields]
    if sorted(given) != sorted(fields):
        raise invalid(f"{table['name']}: key of fields {given}, expected {sorted(fields)}")
    for one in entry.key.fields:
        field = fields[one.field_id]
        where = f"{table['name']}.{field['name']}"
        kind = one.WhichOneof("match_type")
        if kind != field["match_type"].lower():
            raise invalid(f"{where}: {kind}, expected {field['match_type']}")
        match = getattr(one, kind)
        width = width_of(field["type"])
        for part, value in match.ListFields():
            if part.name == "prefix_len":
                if not 0 <= value <= width:
                    raise invalid(f"{where}: prefix {value} of {width} bits")
            else:
                check_stream(where, value, field["type"])
        if kind == "exact" and not match.value:
            raise invalid(f"{where}: no value")
        if kind == "ternary" and number_of(match.value) & ~number_of(match.mask):
            raise invalid(f"{where}: bits outside the mask")


def data_fields(table: dict[str, Any], action_id: int) -> list[dict[str, Any]]:
    fields = [common["singleton"] | {"read_only": common["read_only"]} for common in table["data"]]
    actions = {one["id"]: one for one in table.get("action_specs", ())}
    if action_id and action_id not in actions:
        raise invalid(f"{table['name']}: action {action_id}")
    return fields + (actions[action_id]["data"] if action_id else [])


def check_data(table: dict[str, Any], entry: pb.TableEntry) -> None:
    if table["table_type"].startswith("MatchAction") and not entry.data.action_id:
        raise invalid(f"{table['name']}: no action")
    fields = {one["id"]: one for one in data_fields(table, entry.data.action_id)}
    given = [one.field_id for one in entry.data.fields]
    for number, field in fields.items():
        if field.get("mandatory") and number not in given:
            raise invalid(f"{table['name']}: {field['name']} is missing")
    if len(set(given)) != len(given) or set(given) - set(fields):
        raise invalid(f"{table['name']}: data fields {given}")
    for one in entry.data.fields:
        field = fields[one.field_id]
        where = f"{table['name']}.{field['name']}"
        if field.get("read_only"):
            raise RefusedError(grpc.StatusCode.PERMISSION_DENIED, f"{where} is read-only")
        kind, type_ = one.WhichOneof("value"), field["type"]["type"]
        expected = {"bool": "bool_val", "string": "str_val"}.get(type_, "stream")
        if kind != expected:
            raise invalid(f"{where}: {kind}, expected {expected}")
        if kind == "stream":
            check_stream(where, one.stream, field["type"])
        if kind == "str_val" and one.str_val not in field["type"].get("choices", [one.str_val]):
            raise invalid(f"{where}: {one.str_val}")
