"""A lab's Tofino, set up over BfRuntime as a plan has it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from controller.bfrt.client import BfrtClient, BfrtError
from controller.bfrt.switch import BfrtSwitch
from controller.drivers.bfrt import BfrtDriver
from controller.events import Controlled
from controller.state import SwitchState
from testbed.lab import Lab

LINK_S = 30.0
"""How long a port may take to have its link."""
POLL_S = 0.2

Json = dict[str, Any]


@asynccontextmanager
async def connected(lab: Lab) -> AsyncIterator[Controlled]:
    """The lab's switch. Raises `BfrtError`."""
    switch = lab.switch
    client = BfrtClient(switch.address, program=switch.program, device_id=switch.device_id)
    async with client:
        yield Controlled(BfrtSwitch(client, switch.packet), BfrtDriver(client, switch.packet))


async def set_up(tofino: Controlled, lab: Lab, plan: Json) -> list[Json]:
    """Ports, state, rates and limits, as the plan's only switch has them. Returns for each rate
    and limit what was asked and what is in force. Raises `DriverError`.
    """
    driver, switch = tofino.driver, tofino.client
    assert isinstance(driver, BfrtDriver)
    assert isinstance(switch, BfrtSwitch)
    for port in lab.sides.values():
        await driver.set_port(port.device_port, port.speed, port.fec)
    [planned] = plan["switches"]
    await switch.make(SwitchState.from_json(planned))
    rounded = list[Json]()
    for port in planned["config"]["ports"]:
        number, rate_bps = port["port"], port["rate_bps"]
        if rate_bps is None:
            continue
        in_force: Any = await driver.set_rate(number, rate_bps)
        rounded.append({"port": number, "rate_bps": rate_bps, "in_force": in_force})
        in_force = await driver.set_queue_limit(number, port["queue"])
        rounded.append({"port": number, "queue": port["queue"], "in_force": in_force})
    await links(driver, lab)
    return rounded


async def links(driver: BfrtDriver, lab: Lab) -> None:
    """Waits until all ports have their links. Raises `BfrtError` naming one that has none."""
    for name, port in lab.sides.items():
        waited_s = 0.0
        while not await driver.port_is_up(port.device_port):
            if waited_s >= LINK_S:
                what = f"{name}: port {port.device_port} has no link after {LINK_S:g} s"
                raise BfrtError(f"{what}: see its cable, speed and fec")
            await asyncio.sleep(POLL_S)
            waited_s += POLL_S


def prepare(lab: Lab, plan: Json) -> list[str]:
    """Sets the lab's switch up; a line for each rate and limit. Raises `DriverError`."""

    async def task() -> list[Json]:
        async with connected(lab) as tofino:
            return await set_up(tofino, lab, plan)

    return [
        f"port {one['port']}: {name.removesuffix('_bps')} {one[name]}, in force {one['in_force']}"
        for one in asyncio.run(task())
        for name in ("rate_bps", "queue")
        if name in one
    ]
