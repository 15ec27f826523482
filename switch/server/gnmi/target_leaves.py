"""The leaves that depend on a target: its queues, disciplines, and reasons to drop and mark.

Each of a port's several queues has a scheduler of its own. Its sequence is the queue's number plus
1, since 0 is the port's, and its input is the queue.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from narrows.schema.records import DisciplineParameter
from narrows.switch.server.gnmi.leaves import (
    LEAVES,
    MANAGEMENT,
    OURS,
    POLICY,
    QUEUE,
    STRING,
    UINT32,
    UINT64,
    Kind,
    Leaf,
    TrafficManager,
    Value,
    always,
    both,
    drops,
    get_parameter,
    marks,
    set_discipline,
    set_parameter,
    state,
)
from narrows.switch.server.target import PortState, TargetError

Reader = Callable[[PortState], Value | None]
WEIGHT = Kind("uint64", 65_535)

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


QUEUES = range(8)
"""The numbers that a port's queues can have."""


def of_class(queue: int, value: Callable[[PortState], Value | None]) -> Reader:
    """Reads what one of a port's several queues has; None without this queue."""
    return lambda state: value(state) if queue < len(state["classes"]) else None


def share(queue: int, key: Literal["weight", "rate_bps"]) -> Reader:
    """Reads the weight or the rate of a queue, if it has one."""
    return of_class(queue, lambda state: state["classes"][queue][key])


def priority(queue: int) -> Reader:
    """`STRICT` for a queue without a weight."""
    weight = share(queue, "weight")
    return of_class(queue, lambda state: "STRICT" if weight(state) is None else None)


def set_weight(queue: int) -> Callable[[TrafficManager, int, int], None]:
    """Returns a function that writes a queue's weight."""

    def write(target: TrafficManager, port: int, weight: int) -> None:
        check_queue(target, port, queue)
        target.set_share(port, {"queue": queue, "weight": weight})

    return write


def set_queue_rate(queue: int) -> Callable[[TrafficManager, int, int], None]:
    """Returns a function that writes the most that a queue sends."""

    def write(target: TrafficManager, port: int, rate_bps: int) -> None:
        check_queue(target, port, queue)
        target.set_share(port, {"queue": queue, "rate_bps": rate_bps})

    return write


def check_queue(target: TrafficManager, port: int, queue: int) -> None:
    """Raises `TargetError` if the port has no such queue among several."""
    if queue >= len(target.port_state(port)["classes"]):
        message = f"port {port}: queue {queue} has no settings of its own"
        raise TargetError("failed-precondition", message)


def queue_leaves(queue: int) -> list[Leaf]:
    """The scheduler of one of a port's several queues: its rate, its priority or its weight."""
    at = f"{POLICY}/schedulers/scheduler[sequence={queue + 1}]"
    row = f"{at}/inputs/input[id={queue}]"
    return [
        *both(at, "sequence", UINT32, of_class(queue, always(queue + 1))),
        *both(at, "priority", STRING, priority(queue)),
        *both(f"{at}/two-rate-three-color", "cir", UINT64, share(queue, "rate_bps"), None,
              set_queue_rate(queue), "bit/s"),
        *both(row, "id", STRING, of_class(queue, always(str(queue)))),
        *both(row, "queue", STRING, of_class(queue, always(str(queue)))),
        *both(row, "weight", WEIGHT, share(queue, "weight"), None, set_weight(queue)),
    ]  # fmt: skip


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
    counts = [
        state(QUEUE, f"state/dropped-{reason['name']}-pkts", UINT64, drops(reason["name"]), OURS)
        for reason in target.drop_reasons()
    ] + [
        state(QUEUE, f"state/marked-{reason['name']}-pkts", UINT64, marks(reason["name"]), OURS)
        for reason in target.mark_reasons()
    ]
    queues = [leaf for queue in QUEUES for leaf in queue_leaves(queue)]
    return (*LEAVES, *queues, *in_force, *parameters, *counts)
