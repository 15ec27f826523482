"""The leaves of each of a port's queues: its counters, and its scheduler.

A queue is named by its number. Its scheduler's sequence is this number plus 1, since 0 is the
port's, and the scheduler's input is the queue. A port with equal queues, or with one, has no
schedulers of queues.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Literal

from narrows.schema.records import QueueReason
from narrows.switch.server.gnmi.leaves import (
    DECIMAL,
    EGRESS_PROGRAM,
    OURS,
    POLICY,
    QOS,
    STRING,
    UINT32,
    UINT64,
    Kind,
    Leaf,
    Reader,
    TrafficManager,
    Value,
    always,
    both,
    port_number,
    state,
)
from narrows.switch.server.target import QueueCounts, TargetError

WEIGHT = Kind("uint64", 65_535)
QUEUES = range(8)
"""The numbers that a port's queues can have."""

Number = Literal[
    "enqueued", "dequeued", "dropped_bytes", "transmitted", "transmitted_bytes",
    "waiting_packets", "waiting_bytes", "depth_max_packets", "depth_max_bytes",
    "depth_mean_packets", "depth_mean_bytes",
]  # fmt: skip
"""Numbers of a queue's counts."""


def of_queue(queue: int, value: Callable[[QueueCounts], Value | None]) -> Reader:
    """Reads what a queue has counted."""
    return lambda port: value(port["queues"][queue])


def number(queue: int, key: Number) -> Reader:
    """Reads a number of a queue's counts."""
    return of_queue(queue, lambda counts: counts[key])


def dropped(counts: QueueCounts) -> int:
    """Packets dropped by the queue. Packets dropped in egress have already left it."""
    return sum(count for reason, count in counts["drops"].items() if reason != EGRESS_PROGRAM)


def marked(counts: QueueCounts) -> int:
    """Packets marked, by the queue or in egress."""
    return sum(counts["marks"].values())


def drops(queue: int, reason: str) -> Reader:
    """Packets dropped for one reason."""
    return of_queue(queue, lambda counts: counts["drops"].get(reason, 0))


def marks(queue: int, reason: str) -> Reader:
    """Packets marked for one reason."""
    return of_queue(queue, lambda counts: counts["marks"].get(reason, 0))


def counter_leaves(
    queue: int, drop_reasons: Iterable[QueueReason], mark_reasons: Iterable[QueueReason]
) -> list[Leaf]:
    """A queue's name and counters."""
    at = f"{QOS}/output/queues/queue[name={queue}]"
    totals: list[tuple[str, Kind, Reader, str | None]] = [
        ("transmit-pkts", UINT64, number(queue, "transmitted"), None),
        ("transmit-octets", UINT64, number(queue, "transmitted_bytes"), None),
        ("dropped-pkts", UINT64, of_queue(queue, dropped), None),
        ("dropped-octets", UINT64, number(queue, "dropped_bytes"), None),
        ("max-queue-len", UINT64, number(queue, "depth_max_bytes"), None),
        ("avg-queue-len", UINT64, number(queue, "depth_mean_bytes"), None),
        ("enqueued-pkts", UINT64, number(queue, "enqueued"), OURS),
        ("dequeued-pkts", UINT64, number(queue, "dequeued"), OURS),
        ("marked-pkts", UINT64, of_queue(queue, marked), OURS),
        ("queue-len", UINT64, number(queue, "waiting_bytes"), OURS),
        ("queue-len-packets", UINT64, number(queue, "waiting_packets"), OURS),
        ("max-queue-len-packets", UINT64, number(queue, "depth_max_packets"), OURS),
        ("avg-queue-len-packets", DECIMAL, number(queue, "depth_mean_packets"), OURS),
    ]
    reasons = [(f"dropped-{one['name']}-pkts", drops(queue, one["name"])) for one in drop_reasons]
    reasons += [(f"marked-{one['name']}-pkts", marks(queue, one["name"])) for one in mark_reasons]
    return [
        *both(at, "name", STRING, always(str(queue))),
        *both(at, "queue-management-profile", STRING, port_number),
        *(state(at, f"state/{leaf}", kind, read, module) for leaf, kind, read, module in totals),
        *(state(at, f"state/{leaf}", UINT64, read, OURS) for leaf, read in reasons),
    ]


def of_class(queue: int, value: Reader) -> Reader:
    """Reads what one of a port's several queues has of its own; None without this queue."""
    return lambda port: value(port) if queue < len(port["classes"]) else None


def share(queue: int, key: Literal["weight", "rate_bps"]) -> Reader:
    """Reads the weight or the rate of a queue, if it has one."""
    return of_class(queue, lambda port: port["classes"][queue][key])


def priority(queue: int) -> Reader:
    """`STRICT` for a queue without a weight."""
    weight = share(queue, "weight")
    return of_class(queue, lambda port: "STRICT" if weight(port) is None else None)


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


def scheduler_leaves(queue: int) -> list[Leaf]:
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


def queue_leaves(target: TrafficManager) -> list[Leaf]:
    """The leaves of every queue that a port can have."""
    reasons = target.drop_reasons(), target.mark_reasons()
    return [
        replace(leaf, queue=queue)
        for queue in QUEUES
        for leaf in (*counter_leaves(queue, *reasons), *scheduler_leaves(queue))
    ]
