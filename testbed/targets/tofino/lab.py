"""`lab.toml`: the hardware that a scenario runs on, so that the scenario need not change.

It names the switch and its address, the source of time, and the calibration's result. For each of
a dumbbell's three sides it names the switch's port and the card at the cable's other end. The
runbook is docs/guide/hardware.md.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, ValidationError

from narrows.controller.drivers.bfrt import FECS, SPEEDS
from narrows.schema import units
from narrows.testbed.problems import InputError, Problem
from narrows.testbed.scenario import sweep
from narrows.testbed.scenario.explain import explain
from narrows.testbed.scenario.schema import Scenario
from narrows.testbed.scenario.values import Model, Rate, Size, matching

if TYPE_CHECKING:
    from narrows.schema.plan import Plan

BFRT_PORT = 50052
"""Of bf_switchd."""


class Switch(Model):
    """The switch."""

    kind: Literal["tofino"]
    address: Annotated[str, matching(r"[^:\s]+:\d+", "HOST:PORT")]
    """Its BfRuntime server; bf_switchd's port is 50052."""
    program: str | None = None
    """As the switch calls it; absent: the one that runs."""
    device_id: Annotated[int, Field(ge=0)] = 0
    packet: Size = 1514
    """The full frame, without its check sequence, that limits in cells are worked out for."""


class Port(Model):
    """A port of the switch, and what is at its cable's other end."""

    device_port: Annotated[int, Field(ge=0, lt=512)]
    """Not the number on the front: `port_mgr`'s `D_P`."""
    nic: Annotated[str, Field(min_length=1)]
    """The card: a PCI address, or any other device string of DPDK."""
    speed: Rate
    fec: Annotated[str, matching("|".join(FECS), " or ".join(FECS))] = "none"


class Ports(Model):
    """The three sides of a dumbbell."""

    senders: Port
    receivers: Port
    collector: Port


class Timing(Model):
    """Where the hosts' time comes from."""

    kind: Literal["single-box", "ptp"] = "single-box"
    """All cards in one machine, whose clock is one; or several machines in step by PTP."""
    interface: str | None = None
    """With ptp: the card whose clock follows the others'."""


class Lab(Model):
    """The whole file."""

    switch: Switch
    port: Ports
    timing: Timing = Timing()
    calibration: str | None = None
    """What `narrows calibrate` wrote on this machine, from the file's directory."""

    @property
    def sides(self) -> dict[str, Port]:
        """The ports by the names of a plan's wires, in the order of a dumbbell's ports."""
        ports = self.port
        return {"senders": ports.senders, "receivers": ports.receivers,
                "collector at s1": ports.collector}  # fmt: skip

    @property
    def device_ports(self) -> list[int]:
        """What a dumbbell's ports 1, 2 and 3 are."""
        return [port.device_port for port in self.sides.values()]

    def devices(self, plan: Plan) -> dict[str, str]:
        """The cards by the names of the plan's wires: the collector's where it has one."""
        reports = any("collector" in cable["b"] for cable in plan["cables"])
        return {name: port.nic for name, port in self.sides.items() if reports or port is not
                self.port.collector}  # fmt: skip


def read(path: Path) -> Lab:
    """The file. Raises `InputError` with everything wrong in it."""
    try:
        lab = Lab.model_validate(sweep.read_toml(path))
    except ValidationError as error:
        raise InputError(str(path), explain(error, Lab)) from None
    problems = list[Problem]()
    for name in ("senders", "receivers", "collector"):
        speed_bps = getattr(lab.port, name).speed
        if speed_bps not in SPEEDS:
            known = ", ".join(map(units.format_rate, SPEEDS))
            shown = units.format_rate(speed_bps)
            problems.append(Problem(f"port.{name}.speed", f"expected one of {known}", shown))
    for key in ("device_port", "nic"):
        found = [getattr(port, key) for port in lab.sides.values()]
        problems += [
            Problem(f"port.{name}.{key}", "is another side's too", value)
            for name, value in zip(("senders", "receivers", "collector"), found, strict=True)
            if found.count(value) > 1
        ]
    if lab.timing.kind == "ptp" and lab.timing.interface is None:
        problems.append(Problem("timing.interface", "is missing; ptp needs the card's"))
    if problems:
        raise InputError(str(path), problems)
    return lab


def check(lab: Lab, path: Path, source: str, scenario: Scenario) -> None:
    """Raises `InputError` for a scenario that this lab can't run."""
    bottleneck = scenario.bottleneck
    if bottleneck is None:
        what = f"{len(scenario.switch)} switches; {path} has one: a dumbbell fits"
        raise InputError(source, [Problem("switch", what)])
    slowest_bps = min(port.speed for port in lab.sides.values())
    if bottleneck.rate > slowest_bps:
        what = f"above {units.format_rate(slowest_bps)}, the slowest port of {path}"
        raise InputError(
            source, [Problem("bottleneck.rate", what, units.format_rate(bottleneck.rate))]
        )
    if lab.calibration is not None:
        trusted_bps = trusted(path.parent / lab.calibration)
        if bottleneck.rate > trusted_bps:
            what = f"above {units.format_rate(trusted_bps)}, what {lab.calibration} trusts"
            shown = units.format_rate(bottleneck.rate)
            raise InputError(source, [Problem("bottleneck.rate", what, shown)])


def trusted(path: Path) -> int:
    """The highest rate at which a calibration found this machine's instrument good, in bits per
    second: that of its largest segments. Raises `InputError`.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return max(int(segment["rate_bps"]) for segment in content["segments"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        what = f"is no calibration ({error!r}): narrows calibrate --out {path}"
        raise InputError(str(path), [Problem("", what)]) from None
