"""A port's queue discipline: scenario, plan and engine agree for every record in the list."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from narrows.testbed import catalogue, engine
from narrows.testbed.cli.list import listed
from narrows.testbed.scenario.discipline import Discipline
from narrows.testbed.scenario.values import RECORD_UNITS

READ = TypeAdapter(Discipline)
RECORDS = tuple(engine.disciplines())
PARAMETERS = [(record["name"], each) for record in RECORDS for each in record["parameters"]]
PORT = {"port": 1, "rate_bps": 1000, "queue": {"packets": 9}, "counts": "frame"}


def switch(discipline: Any) -> Any:
    """A switch of the engine with a port of this discipline, as a plan has it."""
    ports = [PORT | {"discipline": discipline}]
    config = {"switch": {"ports": ports, "timestamp_unit": "ns"}}
    return engine.Switch(json.dumps(config), 1)


def in_scenario(parameter: dict[str, Any], value: float) -> Any:
    """A parameter's value in a scenario's form."""
    return RECORD_UNITS[parameter["unit"]][1](
        value if parameter["unit"] == "number" else int(value)
    )


@pytest.mark.parametrize("name", [record["name"] for record in RECORDS])
def test_a_name_stands_for_the_defaults(name: str) -> None:
    read = READ.validate_python(name)
    assert READ.dump_python(read) == name
    defaults = {each["name"]: each["default"] for each in read.record["parameters"]}
    state = switch(read.planned()).port_state(1)["discipline"]
    assert state == {"name": name, "parameters": defaults}


@pytest.mark.parametrize(("name", "parameter"), PARAMETERS)
def test_a_parameter_has_the_unit_and_the_range_of_its_record(
    name: str, parameter: dict[str, Any]
) -> None:
    key = parameter["name"]
    for bound in ("min", "max"):
        table = {"name": name, key: in_scenario(parameter, parameter[bound])}
        read = READ.validate_python(table)
        assert READ.dump_python(read) == table
        planned = read.planned()
        assert isinstance(planned, dict)
        assert planned["parameters"][key] == parameter[bound]
        assert switch(planned).port_state(1)["discipline"] == planned
    above = 2 * parameter["max"] + 1
    # A flag is true or false, not a number.
    beyond = above if parameter["unit"] == "flag" else in_scenario(parameter, above)
    with pytest.raises(ValidationError, match=key):
        READ.validate_python({"name": name, key: beyond})


@pytest.mark.parametrize("name", [record["name"] for record in RECORDS])
def test_another_key_is_refused_by_name(name: str) -> None:
    with pytest.raises(ValidationError, match=f'"bogus" is an unknown parameter of {name}'):
        READ.validate_python({"name": name, "bogus": 1})


def test_an_unknown_discipline_is_refused_with_the_nearest() -> None:
    with pytest.raises(ValidationError, match='unknown discipline; did you mean "drop-tail"'):
        READ.validate_python("drop-tails")


def test_the_list_shows_every_record_and_its_reasons() -> None:
    _, rows = listed("disciplines")
    names = [record["name"] for record in catalogue.records("disciplines")]
    assert [row[0] for row in rows] == names
    reasons = {reason["name"] for reason in engine.drop_reasons()}
    assert {reason for row in rows for reason in row[3].split(", ")} <= reasons
    for name, parameter in PARAMETERS:
        row = next(row for row in rows if row[0] == name)
        assert f"{parameter['name']}=" in row[2]
