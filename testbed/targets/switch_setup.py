"""Sets up our switches through the controller, over P4Runtime and gNMI as on any target.

Each switch of the plan starts without program and rates, behind a gRPC server on a Unix socket. The
client pushes the pipeline, writes entries, clone sessions and registers, and sets rates and queue
limits. The run then uses this switch. A program without a P4Info file (`name.p4info.txtpb` next to
`name.json`) needs another way: the engine writes its state in process.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from narrows.controller.client import SwitchClient
from narrows.controller.drivers import kind_and_value
from narrows.controller.drivers.gnmi import GnmiDriver
from narrows.controller.errors import ControllerError, DriverError, LateError
from narrows.controller.state import SwitchState
from narrows.schema.units import PS_PER_US
from narrows.switch.server.gnmi.service import GnmiService
from narrows.switch.server.p4runtime.service import P4RuntimeService
from narrows.switch.server.serve import serve
from narrows.testbed import files
from narrows.testbed.engine import Switch
from narrows.testbed.targets.bare_switch import DROP_TAIL, bare_config, has_p4info, p4info_of

if TYPE_CHECKING:
    from narrows.schema.plan import Plan, SwitchPlan
    from narrows.schema.switch import PortConfig

TRIES = 3
"""Attempts to set up a switch: finsy waits 10 s, and an overloaded machine may need longer to
compile a program.
"""


def set_up(plan: Plan) -> dict[str, Switch]:
    """Sets up the plan's switches, except those without P4Info; returns them by name. Raises
    `ControllerError` or `DriverError` naming the switch.
    """
    # One event loop for all: gRPC's poller may still deliver events of a closed loop.
    return asyncio.run(set_up_all(plan))


async def set_up_all(plan: Plan) -> dict[str, Switch]:
    """Sets up the switches in an event loop."""
    made = dict[str, Switch]()
    with files.plain_directory() as directory:
        for number, switch in enumerate(plan["switches"]):
            program = Path(switch["program"])
            if has_p4info(program):
                socket_path = Path(directory) / str(number)
                made[switch["name"]] = await set_up_one(switch, plan["seed"], socket_path)
    return made


async def set_up_one(switch: SwitchPlan, seed: int, socket_path: Path) -> Switch:
    """Sets up a switch of the plan, behind sockets at `socket_path`; restarts after a
    time-out. Raises as `set_up` does.
    """
    program, ports = Path(switch["program"]), switch["config"]["ports"]
    config = bare_config(switch)
    for left in reversed(range(TRIES)):
        target = Switch(json.dumps(config), seed)
        address = f"unix:{socket_path}.{left}"
        services = [P4RuntimeService(target).add_to, GnmiService(target).add_to]
        server, _ = serve(address, services)
        client = SwitchClient(address, p4info=p4info_of(program), program=program)
        try:
            await configure(client, SwitchState.from_json(switch), ports)
        except ControllerError as error:
            if isinstance(error, LateError) and left:
                continue
            said = str(error).removeprefix(f"{address}: ")
            raise ControllerError(f"switch '{switch['name']}': {said}") from None
        except DriverError as error:
            raise DriverError(f"switch '{switch['name']}': {error}") from None
        finally:
            server.stop(None).wait()
        break
    return target


async def configure(client: SwitchClient, state: SwitchState, ports: Iterable[PortConfig]) -> None:
    """Gives a switch its pipeline, its state, and its ports' rates, limits and disciplines. Raises
    `DriverError` if the target rounds a value.
    """
    async with client:
        await client.write(state)
        assert client.gnmi is not None
        driver = GnmiDriver(client.gnmi)
        for port in ports:
            number, rate_bps, limit = port["port"], port["rate_bps"], port["queue"]
            if rate_bps is None:
                continue
            if not port.get("trace"):
                rate_in_force = await driver.set_rate(number, rate_bps)
                if rate_in_force != rate_bps:
                    raise DriverError(f"port {number}: rate {rate_bps} became {rate_in_force}")
            if (discipline := port.get("discipline", DROP_TAIL)) != DROP_TAIL:
                discipline_in_force = await driver.set_discipline(number, discipline)
                if discipline_in_force != discipline:
                    what = f"discipline {discipline} became {discipline_in_force}"
                    raise DriverError(f"port {number}: {what}")
            kind, value = kind_and_value(limit)
            if kind == "time_ps" and value % PS_PER_US:
                # gNMI has only whole microseconds, so the port already has its limit.
                continue
            limit_in_force = await driver.set_queue_limit(number, limit)
            if limit_in_force != limit:
                raise DriverError(f"port {number}: queue limit {limit} became {limit_in_force}")
