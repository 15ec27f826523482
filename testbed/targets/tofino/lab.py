"""`lab.toml`: the hardware of a lab, separate from scenarios.

It has the switch's address, the source of time, and the calibration's result. For each of a
dumbbell's three sides it has the switch's port and the card at the cable's other end. The runbook
is docs/guide/hardware.md.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from narrows.controller.drivers.bfrt import FECS, SPEEDS
from narrows.schema import units
from narrows.testbed.problems import InputError, Problem
from narrows.testbed.scenario.schema import Scenario
from narrows.testbed.scenario.values import Model, Rate, Size, matching
from narrows.testbed.targets import lab_file

if TYPE_CHECKING:
    from narrows.schema.plan import Plan

BFRT_PORT = 50052
"""Default port of bf_switchd's BfRuntime server."""


class Switch(Model):
    """The switch."""

    kind: Literal["tofino"]
    address: Annotated[str, matching(r"[^:\s]+:\d+", "HOST:PORT", "10.0.0.5:50052")]
    """Its BfRuntime server, HOST:PORT; the default port is 50052."""
    program: str | None = None
    """Name of the program on the switch; absent: the only one that runs."""
    device_id: Annotated[int, Field(ge=0)] = 0
    packet: Size = 1514
    """Length in bytes of a full frame, without check sequence, for converting limits to cells."""


class Port(Model):
    """A port of the switch, and the card at its cable's other end."""

    device_port: Annotated[int, Field(ge=0, lt=512)]
    """The device port (`D_P` in `port_mgr`), not the front-panel number."""
    nic: Annotated[str, Field(min_length=1)]
    """The card: a PCI address, or any other device string of DPDK."""
    speed: Rate
    fec: Annotated[str, matching("|".join(FECS), " or ".join(FECS), "none")] = "none"


class Ports(Model):
    """The three sides of a dumbbell."""

    senders: Port
    receivers: Port
    collector: Port


class Timing(Model):
    """The hosts' source of time."""

    kind: Literal["single-box", "ptp"] = "single-box"
    """`"one-machine"` if one machine has all cards; otherwise PTP synchronizes the machines."""
    interface: str | None = None
    """With ptp: the interface with the synchronized clock."""


class Lab(Model):
    """The whole file."""

    switch: Switch
    port: Ports
    timing: Timing = Timing()
    calibration: str | None = None
    """The output of `narrows calibrate` on this machine, relative to this file."""

    @property
    def sides(self) -> dict[str, Port]:
        """The ports by the names of a plan's wires, in the order of a dumbbell's ports."""
        ports = self.port
        return {"senders": ports.senders, "receivers": ports.receivers,
                "collector at s1": ports.collector}  # fmt: skip

    @property
    def device_ports(self) -> list[int]:
        """The device ports for a dumbbell's ports 1, 2 and 3."""
        return [port.device_port for port in self.sides.values()]

    def devices(self, plan: Plan) -> dict[str, str]:
        """The cards by the names of the plan's wires, including the collector's if it has one."""
        reports = any("collector" in cable["b"] for cable in plan["cables"])
        return {name: port.nic for name, port in self.sides.items() if reports or port is not
                self.port.collector}  # fmt: skip


def read(path: Path) -> Lab:
    """Reads the file. Raises `InputError` with all problems."""
    lab = lab_file.read(path, Lab)
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
            Problem(f"port.{name}.{key}", "is also used by another side", value)
            for name, value in zip(("senders", "receivers", "collector"), found, strict=True)
            if found.count(value) > 1
        ]
    if lab.timing.kind == "ptp" and lab.timing.interface is None:
        problems.append(Problem("timing.interface", "is missing; ptp needs the interface"))
    if problems:
        raise lab_file.wrong(path, problems)
    return lab


def check(lab: Lab, path: Path, source: str, scenario: Scenario) -> None:
    """Raises `InputError` for a scenario that this lab cannot run."""
    bottleneck = scenario.bottleneck
    if bottleneck is None:
        what = f"{len(scenario.switch)} switches; expected a dumbbell, since {path} has one switch"
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
            what = f"above {units.format_rate(trusted_bps)}, the limit in {lab.calibration}"
            shown = units.format_rate(bottleneck.rate)
            raise InputError(source, [Problem("bottleneck.rate", what, shown)])


def trusted(path: Path) -> int:
    """The highest rate in bits per second at which a calibration had valid runs, with its largest
    segments. Raises `InputError`.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return max(int(segment["rate_bps"]) for segment in content["segments"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        what = f"is not a calibration ({error!r}); run narrows calibrate --out {path}"
        raise InputError(str(path), [Problem("", what)]) from None
