"""The page of gNMI's paths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from narrows.schema.records import DisciplineRecord, QueueReason
from narrows.switch.server.gnmi.leaves import PORT, Leaf, TrafficManager, show
from narrows.switch.server.gnmi.meanings import meaning
from narrows.switch.server.gnmi.target_leaves import leaves_of_target
from narrows.testbed import engine
from narrows.testbed.reference.markdown import code, page, table


@dataclass(frozen=True)
class EngineSwitch:
    """What a target must say for its leaves to be known."""

    def disciplines(self) -> list[DisciplineRecord]:
        """The records of the engine's disciplines."""
        return engine.disciplines()

    def drop_reasons(self) -> list[QueueReason]:
        """The engine's reasons to drop."""
        return engine.drop_reasons()

    def mark_reasons(self) -> list[QueueReason]:
        """The engine's reasons to mark."""
        return engine.mark_reasons()


def leaves() -> tuple[Leaf, ...]:
    """Every leaf of `narrows switch`."""
    return leaves_of_target(cast("TrafficManager", EngineSwitch()))


def paths() -> str:
    """Every path, by its container."""
    by_container: dict[str, dict[str, list[Leaf]]] = {}
    for leaf in leaves():
        if leaf.queue not in (None, 0):
            continue  # as queue 0's
        # .../<config or state, or below state/counters>/leaf
        names = [name for name, _ in leaf.path]
        at = max(index for index, name in enumerate(names) if name in ("config", "state"))
        container = show(leaf.path[:at]).replace(PORT, "N")
        if leaf.queue == 0:
            container = of_any_queue(container)
        inner = "/".join(names[at + 1 :])
        by_container.setdefault(container, {}).setdefault(inner, []).append(leaf)
    parts = []
    for container, found in by_container.items():
        parts.append(f"## {container.rpartition('/')[2].partition('[')[0]}")
        parts.append(code(container))
        parts.append(table(["leaf", "type", "set", "ours", "meaning"], map(row, found.items())))
    return page(
        "gNMI paths",
        "`N` is a port's number, `Q` a queue's, from 0 to 7. A leaf stands below `state` of its"
        " container; one that can be set stands below `config` too. [gNMI](../guide/gnmi.md) has"
        " the rules, errors and examples.",
        "Leaves that are ours are of the module `narrows-qos`, others of OpenConfig's models.",
        *parts,
    )


def of_any_queue(container: str) -> str:
    """The path of queue 0 as that of queue `Q`."""
    for own, any_queue in (("[name=0]", "[name=Q]"), ("[id=0]", "[id=Q]")):
        container = container.replace(own, any_queue)
    return container.replace("[sequence=1]", "[sequence=Q+1]")


def row(found: tuple[str, list[Leaf]]) -> list[str]:
    """A leaf in one row."""
    name, leaves = found
    writable = next((leaf for leaf in leaves if leaf.write), None)
    unit = f" ({writable.unit})" if writable and writable.unit else ""
    ours = "yes" if leaves[0].module else ""
    can_be_set = "yes" if writable else ""
    means = meaning(leaves[0], engine.disciplines())
    return [code(name), f"{leaves[0].kind.name}{unit}", can_be_set, ours, means]
