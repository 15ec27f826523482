"""The tables of the fake BfRuntime server against the SDE's own."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet

from narrows.controller.bfrt import bfruntime_pb2 as pb
from tests.support.bfrt import tables as bfrt_tables
from tests.support.bfrt.server import PORTS
from tests.support.needs import programs
from tests.support.world import ROOT

SDE_TABLES = os.environ.get("NARROWS_BFRT")


def fields_of(table: dict[str, Any]) -> dict[str, Any]:
    """A table's fields by name: id, type, choices, read-only, list."""

    def facts(one: dict[str, Any], read_only: bool) -> tuple[Any, ...]:
        kind = one["type"]
        choices = tuple(kind.get("choices", ()))
        return one["id"], kind["type"], choices, read_only, one.get("repeated", False)

    found = {one["name"]: facts(one, False) for one in table["key"]}
    for common in table["data"]:
        found[common["singleton"]["name"]] = facts(common["singleton"], common["read_only"])
    for action in table.get("action_specs", ()):
        found[action["name"]] = action["id"]
        own = (one.get("singleton", one) for one in action["data"])
        found |= {f"{action['name']}.{one['name']}": facts(one, False) for one in own}
    return found


@pytest.mark.parametrize("prefix", ["tf1", "tf2"])
@pytest.mark.skipif(not SDE_TABLES, reason="NARROWS_BFRT does not name the open SDE's bf_rt_*.json")
def test_the_devices_tables_are_the_sdes(prefix: str) -> None:
    assert SDE_TABLES
    theirs = dict[str, Any]()
    for kind in ("tm", "port", "mirror"):
        [path] = Path(SDE_TABLES).rglob(f"bf_rt_{kind}_{prefix}.json")
        theirs |= {one["name"]: one for one in json.loads(path.read_text())["tables"]}
    for ours in bfrt_tables.device(prefix)["tables"]:
        assert ours["id"] == theirs[ours["name"]]["id"]
        assert ours["table_type"] == theirs[ours["name"]]["table_type"]
        there = fields_of(theirs[ours["name"]])
        for name, facts in fields_of(ours).items():
            assert facts == there[name], f"{ours['name']}.{name}"


@programs("protoc")
def test_the_messages_are_those_of_the_proto_file(tmp_path: Path) -> None:
    made = tmp_path / "descriptors"
    proto = "controller/bfrt/bfruntime.proto"
    subprocess.run(["protoc", f"--descriptor_set_out={made}", proto], cwd=ROOT, check=True)
    [file] = FileDescriptorSet.FromString(made.read_bytes()).file
    # Derived from the names, which the module leaves to its readers.
    messages = list(file.message_type)
    for message in messages:
        messages += message.nested_type
        for field in message.field:
            field.ClearField("json_name")
    ours = FileDescriptorProto()
    pb.DESCRIPTOR.CopyToProto(ours)
    assert ours == file


def test_the_fake_has_the_ports_the_tests_name() -> None:
    assert PORTS == (132, 140, 148)
    assert {port >> 7 for port in PORTS} == {1}
