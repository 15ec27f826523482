"""The generated types and the stub agree with the engine and its module."""

from __future__ import annotations

import ast
import inspect
import json
from typing import get_type_hints

import pytest

from narrows import _engine
from narrows.schema import generate
from narrows.switch.server.target import Discipline, PortState
from tests.support.world import ROOT

STUB = ast.parse((ROOT / "narrows/_engine.pyi").read_text())
STUBBED = {
    node.name: node for node in STUB.body if isinstance(node, ast.FunctionDef | ast.ClassDef)
}


def public(owner: object) -> set[str]:
    return {name for name in vars(owner) if not name.startswith("_")}


@pytest.mark.parametrize("name", [*generate.MODULES, "tables"])
def test_the_types_are_what_the_schemas_say(name: str) -> None:
    """`engine/tests/schema.rs` checks the schemas against the Rust types."""
    text = (ROOT / f"common/schema/{name}.py").read_text()
    assert text == generate.modules()[name], "make schema"


def test_the_stub_has_the_names_of_the_module() -> None:
    assert set(STUBBED) == public(_engine)


@pytest.mark.parametrize("name", STUBBED)
def test_the_stub_has_the_parameters_and_methods_of_the_module(name: str) -> None:
    stubbed, built = STUBBED[name], getattr(_engine, name)
    if isinstance(stubbed, ast.FunctionDef):
        assert parameters(stubbed) == list(inspect.signature(built).parameters)
        return
    if issubclass(built, Exception):
        return
    methods = {node.name: node for node in stubbed.body if isinstance(node, ast.FunctionDef)}
    assert set(methods) - {"__new__"} == public(built)
    assert parameters(methods["__new__"])[1:] == list(inspect.signature(built).parameters)
    for method in set(methods) - {"__new__"}:
        if callable(getattr(built, method)):
            given = list(inspect.signature(getattr(built, method)).parameters)
            assert parameters(methods[method]) == given, method


def test_a_ports_state_is_of_its_type() -> None:
    port = {"port": 1, "rate_bps": 8_000_000, "queue": {"bytes": 9000}, "counts": "ip"}
    config = {"switch": {"ports": [port], "timestamp_unit": "us"}}
    state = _engine.Switch(json.dumps(config), 1).port_state(1)
    types = get_type_hints(PortState)
    assert set(state) == set(types)
    for name, value in state.items():
        if types[name] in (int, float):
            assert type(value) is types[name], name
    assert set(state["discipline"]) == set(get_type_hints(Discipline))


def parameters(function: ast.FunctionDef) -> list[str]:
    return [parameter.arg for parameter in function.args.args]
