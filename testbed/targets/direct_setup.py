"""Sets up the switches of a run in virtual time by the engine's own calls.

`switch_setup` does the same over P4Runtime and gNMI, as for every other target: the same operations
in the same order, so both give the same run byte for byte (tests/runs/test_control.py). Here no
client and no server start, which take longer than a short run. Programs without P4Info are left to
the engine in both.
"""

from __future__ import annotations

import contextlib
import functools
import json
from pathlib import Path
from typing import TYPE_CHECKING

from narrows.controller.errors import ControllerError
from narrows.switch.server.target import TargetError
from narrows.testbed.engine import Switch
from narrows.testbed.files import read_text
from narrows.testbed.paths import PROGRAM
from narrows.testbed.problems import InputError
from narrows.testbed.targets.bare_switch import DROP_TAIL, bare_config, has_p4info

if TYPE_CHECKING:
    from narrows.schema.plan import Plan, SwitchPlan
    from narrows.schema.switch import PortConfig


def set_up(plan: Plan) -> dict[str, Switch]:
    """Sets up the plan's switches, except those without P4Info; returns them by name. Raises
    `ControllerError` naming the switch.
    """
    return {
        switch["name"]: set_up_one(switch, plan["seed"])
        for switch in plan["switches"]
        if has_p4info(Path(switch["program"]))
    }


def load_ahead() -> None:
    """Loads the program of most scenarios; the process keeps it for the next switch with it."""
    switch = Switch(json.dumps({"switch": {"ports": [], "timestamp_unit": "ns"}}), 0)
    # The run that uses the program says what is wrong with it.
    with contextlib.suppress(InputError, TargetError):
        switch.load(text_of(PROGRAM))


def set_up_one(switch: SwitchPlan, seed: int) -> Switch:
    """Sets up a switch of the plan. Raises `ControllerError`."""
    target = Switch(json.dumps(bare_config(switch)), seed)
    try:
        configure(target, switch)
    except (InputError, TargetError) as error:
        raise ControllerError(f"switch '{switch['name']}': {error}") from None
    return target


def configure(target: Switch, switch: SwitchPlan) -> None:
    """Gives a switch its program, its state, and its ports' settings. Raises `TargetError`, or
    `InputError` for a program that is not text.
    """
    target.load(text_of(Path(switch["program"])))
    for session in switch["clone_sessions"]:
        target.set_clone_session(session)
    for group in switch.get("multicast_groups", ()):
        target.set_multicast_group(group["id"], group["replicas"])
    for entry in switch["entries"]:
        target.insert_entry(entry)
    for cell in switch["registers"]:
        target.write_register(cell["register"], cell["index"], cell["value"])
    for port in switch["config"]["ports"]:
        configure_port(target, port)


def text_of(program: Path) -> str:
    """A program's text. Raises `InputError`."""
    try:
        changed_ns = program.stat().st_mtime_ns
    except OSError:
        changed_ns = 0
    return text_at(program, changed_ns)


@functools.lru_cache(maxsize=8)
def text_at(program: Path, changed_ns: int) -> str:
    """The text that a program has since an instant. A worker needs it for each of its runs."""
    return read_text(program)


def configure_port(target: Switch, port: PortConfig) -> None:
    """Sets a port's rate, queue discipline and limit. Raises `TargetError`."""
    number, rate_bps = port["port"], port["rate_bps"]
    if rate_bps is None:
        return
    if not port.get("trace"):
        target.set_rate(number, rate_bps)
    if (discipline := port.get("discipline", DROP_TAIL)) != DROP_TAIL:
        target.set_discipline(number, discipline)
    target.set_queue_limit(number, port["queue"])
