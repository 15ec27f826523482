"""A plan's switch before its set-up: without program, state, rates and disciplines."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from narrows.schema.plan import SwitchPlan
    from narrows.schema.switch import ManagedSwitchConfig, PortConfig

DROP_TAIL: Final = "drop-tail"
"""The default discipline of a port."""


def bare_config(switch: SwitchPlan) -> ManagedSwitchConfig:
    """What the engine's `Switch` is made of."""
    ports = [bare_port(port) for port in switch["config"]["ports"]]
    return {"switch": {**switch["config"], "ports": ports}, "name": switch["name"]}


def bare_port(port: PortConfig) -> PortConfig:
    """A port before its set-up. A trace is the port's own, as no controller sets one."""
    bare: PortConfig = {**port, "discipline": DROP_TAIL}
    return bare if port.get("trace") else {**bare, "rate_bps": None}


def p4info_of(program: Path) -> Path:
    """The path of a program's P4Info."""
    return program.with_suffix(".p4info.txtpb")


def has_p4info(program: Path) -> bool:
    """True if a program and its P4Info are there."""
    return program.is_file() and p4info_of(program).is_file()
