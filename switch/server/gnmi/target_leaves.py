"""The leaves that depend on a target: those of its disciplines, and all leaves together."""

from __future__ import annotations

from narrows.schema.records import DisciplineParameter
from narrows.switch.server.gnmi.leaves import (
    LEAVES,
    MANAGEMENT,
    OURS,
    Kind,
    Leaf,
    TrafficManager,
    both,
    get_parameter,
    set_discipline,
    set_parameter,
)
from narrows.switch.server.gnmi.queue_leaves import queue_leaves
from narrows.switch.server.gnmi.wred import wred_leaves

UNITS = {"duration": "picoseconds", "size": "bytes"}
"""The unit of a parameter's leaf, by the unit in its record."""


def parameter_leaves(discipline: str, parameter: DisciplineParameter) -> list[Leaf]:
    """The leaves of a discipline's parameter, such as `codel-target`."""
    name, unit = parameter["name"], parameter["unit"]
    least, most = parameter["min"], parameter["max"]
    kind = Kind("decimal64", most)
    if unit != "number":
        kind, least = Kind("uint64", int(most)), int(least)
    return both(
        MANAGEMENT, f"{discipline}-{name}", kind, get_parameter(discipline, name), OURS,
        set_parameter(discipline, name), UNITS.get(unit, ""), least,
    )  # fmt: skip


def leaves_of_target(target: TrafficManager) -> tuple[Leaf, ...]:
    """All leaves of a target: `LEAVES`, and those of its queues, disciplines and reasons."""
    names = tuple(record["name"] for record in target.disciplines())
    in_force = both(
        MANAGEMENT, "discipline", Kind("string", words=names),
        lambda state: str(state["discipline"]["name"]), OURS, set_discipline,
    )  # fmt: skip
    parameters = [
        leaf
        for record in target.disciplines()
        for parameter in record["parameters"]
        for leaf in parameter_leaves(record["name"], parameter)
    ]
    return (*LEAVES, *in_force, *parameters, *wred_leaves(), *queue_leaves(target))
