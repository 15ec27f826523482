"""Checks that a P4Info and a bmv2 JSON describe the same program."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from narrows.switch.server.p4runtime.info.p4info import Array, Schema, Table, wrong


class ProgramWidths:
    """Widths of the values in a bmv2 JSON."""

    def __init__(self, program: Mapping[str, Any]) -> None:
        types = {one["name"]: one["fields"] for one in program.get("header_types", [])}
        widths = {
            (header["name"], field[0]): field[1]
            for header in program.get("headers", [])
            for field in types.get(header["header_type"], [])
        }
        self._headers = {tuple(f[0] for f in fields): dict(f[:2] for f in fields)
                         for fields in types.values()}  # fmt: skip
        self._fields = {
            (table["name"], key_name(part)): 1 if pair[1] == "$valid$" else widths.get(pair)
            for pipeline in program.get("pipelines", [])
            for table in pipeline["tables"]
            for part in table["key"]
            for pair in [key_target(part)]
        }
        self._params = {
            (action["name"], param["name"]): param["bitwidth"]
            for action in program.get("actions", [])
            for param in action["runtime_data"]
        }

    def field(self, table: str, name: str) -> int | None:
        """Width of a key field."""
        return self._fields.get((table, name))

    def param(self, action: str, name: str) -> int | None:
        """Width of an action parameter."""
        return self._params.get((action, name))

    def header(self, fields: Sequence[str]) -> Mapping[str, int]:
        """Widths of the header type with exactly these fields."""
        return self._headers.get(tuple(fields), {})


def key_target(part: Mapping[str, Any]) -> tuple[str, str]:
    """Header and field of a key field."""
    target = part["target"]
    return (target[0], target[1]) if isinstance(target, list) else (target, "$valid$")


def key_name(part: Mapping[str, Any]) -> str:
    """The controller's name of a key field."""
    return part.get("name") or ".".join(key_target(part))


def check(schema: Schema, program: Mapping[str, Any]) -> None:
    """Raises `TargetError` with the first thing on which P4Info and JSON disagree."""
    in_program = ProgramWidths(program)
    tables = {t["name"]: t for p in program.get("pipelines", []) for t in p["tables"]}
    actions = {action["name"]: action for action in program.get("actions", [])}
    for table in schema.tables.values():
        check_table(table, tables, in_program)
        found = tables[table.name].get("action_profile")
        name = schema.profiles[table.profile].name if table.profile else None
        if found != name:
            raise wrong(f"table '{table.name}' has action profile {name}, but {found} in the JSON")
        if bool(tables[table.name].get("support_timeout")) != table.idle:
            raise wrong(f"table '{table.name}': support for idle time-outs differs from the JSON")
        known = tables[table.name]["actions"]
        for number in table.actions | table.default_actions:
            if schema.actions[number].name not in known:
                name = schema.actions[number].name
                raise wrong(f"table '{table.name}' has action '{name}', which the JSON lacks")
    used = {number for t in schema.tables.values() for number in t.actions | t.default_actions}
    for number in used:
        action = schema.actions[number]
        declared = [(p["name"], p["bitwidth"]) for p in actions[action.name]["runtime_data"]]
        given = [(param.name, param.width) for param in action.params.values()]
        if declared != given:
            raise wrong(
                f"action '{action.name}' has parameters {given}, but {declared} in the JSON"
            )
    for kind, objects, key in (
        ("counter", schema.counters, "counter_arrays"),
        ("meter", schema.meters, "meter_arrays"),
        ("register", schema.registers, "register_arrays"),
    ):
        for array in objects.values():
            check_array(kind, array, program.get(key, []))
    for kind, named, key in (
        ("digest", schema.digests, "learn_lists"),
        ("value set", schema.value_sets, "parse_vsets"),
    ):
        names = [one["name"] for one in program.get(key, [])]
        for one in named.values():
            if one.name not in names:
                raise wrong(f"{kind} '{one.name}' is not in the JSON")


def check_table(table: Table, tables: Mapping[str, Any], in_program: ProgramWidths) -> None:
    """Compares a table's key, field by field. Raises `TargetError`."""
    label = f"table '{table.name}'"
    if table.name not in tables:
        raise wrong(f"{label} is not in the JSON")
    key = tables[table.name]["key"]
    if len(key) != len(table.fields):
        raise wrong(f"{label} has {len(table.fields)} match fields, but {len(key)} in the JSON")
    for field, part in zip(table.fields.values(), key, strict=True):
        name = key_name(part)
        if name != field.name:
            raise wrong(f"{label}: field '{field.name}' is '{name}' in the JSON")
        kind = "exact" if part["match_type"] == "valid" else part["match_type"]
        # p4c writes an optional field as ternary if the table has other ternary fields.
        if kind != field.kind and (kind, field.kind) != ("ternary", "optional"):
            raise wrong(f"{label}, field '{name}': {field.kind}, but {kind} in the JSON")
        width = in_program.field(table.name, name)
        if width is not None and width != field.width:
            raise wrong(f"{label}, field '{name}': {field.width} bits, but {width} in the JSON")


def check_array(kind: str, array: Array, declared: Iterable[Mapping[str, Any]]) -> None:
    """Compares the size and width of a counter, meter or register. Raises `TargetError`."""
    found = {one["name"]: one for one in declared}.get(array.name)
    if found is None:
        raise wrong(f"{kind} '{array.name}' is not in the JSON")
    if found.get("size") != array.size:
        raise wrong(
            f"{kind} '{array.name}': size {array.size}, but {found.get('size')} in the JSON"
        )
    if kind == "register" and found.get("bitwidth") != array.width:
        width = found.get("bitwidth")
        raise wrong(f"{kind} '{array.name}': {array.width} bits, but {width} in the JSON")
