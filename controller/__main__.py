"""`python -m narrows.controller --address HOST:PORT COMMAND`: reads and sets a running switch. It
uses P4Runtime and gNMI, or BfRuntime with `--bfrt`.

Exit codes: 0 done, 1 the switch refused or is unreachable, 2 the input is wrong.
"""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import json
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import finsy as fy

from narrows.controller.bfrt.client import BfrtClient
from narrows.controller.bfrt.switch import BfrtSwitch
from narrows.controller.client import SwitchClient, lines
from narrows.controller.drivers import TrafficManager
from narrows.controller.drivers.bfrt import FECS, BfrtDriver
from narrows.controller.drivers.gnmi import GnmiDriver
from narrows.controller.errors import ControllerError, DriverError
from narrows.controller.state import SwitchState
from narrows.schema import units
from narrows.schema.switch import QueueLimit

DONE, FAILED, WRONG = 0, 1, 2

T = TypeVar("T")
Switch = SwitchClient | BfrtSwitch
Command = Callable[[Switch, argparse.Namespace], Awaitable[None]]


def rate(text: str) -> int:
    """Parses a rate such as `5Mbps` into bits per second. Raises `ArgumentTypeError`."""
    return read(units.parse_rate, text)


def limit(text: str) -> QueueLimit:
    """Parses `100packets`, `20kB` or `15ms` into a queue limit. Raises `ArgumentTypeError`."""
    return read(lambda given: units.parse_queue(given).as_limit(), text)


def read(parse: Callable[[str], T], text: str) -> T:
    """Parses a quantity. Raises `ArgumentTypeError`, which argparse shows."""
    try:
        return parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"'{text}': {error}") from None


def endpoint(text: str) -> tuple[str, int]:
    """Parses `HOST:PORT`. Raises `ArgumentTypeError`."""
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 2**16:
        raise argparse.ArgumentTypeError(f"'{text}': expected HOST:PORT")
    return host, int(port)


def add_connection_options(top: argparse.ArgumentParser) -> None:
    """Adds the options that name the switch and the connection."""
    top.add_argument(
        "--address", required=True, metavar="HOST:PORT", help="the switch's gRPC server"
    )
    top.add_argument("--device-id", type=int, default=0, help="P4Runtime device id (default: 0)")
    top.add_argument(
        "--election-id",
        type=int,
        default=10,
        help="the controller with the highest one may write (default: 10)",
    )
    top.add_argument(
        "--p4info", type=Path, metavar="FILE", help="P4Info of the program, in text format"
    )
    top.add_argument(
        "--json", type=Path, metavar="FILE", help="the program compiled for the target"
    )
    top.add_argument(
        "--ca",
        type=Path,
        metavar="PEM",
        help="certificate authority of the switch (PEM); turns TLS on",
    )
    top.add_argument(
        "--cert",
        type=Path,
        metavar="PEM",
        help="client certificate (PEM), if the switch requires one",
    )
    top.add_argument("--key", type=Path, metavar="PEM", help="key of the client certificate (PEM)")
    top.add_argument(
        "--thrift", type=endpoint, metavar="HOST:PORT",
        help="bmv2's Thrift server, which sets rates and queues instead of gNMI",
    )  # fmt: skip
    top.add_argument(
        "--packet-bytes", type=int, default=1514, metavar="N",
        help="packet size in bytes (default: 1514) for conversions by --thrift and --bfrt",
    )  # fmt: skip
    top.add_argument(
        "--bfrt", action="store_true",
        help="the address is a Tofino's BfRuntime server; PORT is a device port",
    )  # fmt: skip
    top.add_argument(
        "--program",
        metavar="NAME",
        help="with --bfrt: the program to use, if the switch runs several",
    )


def parser() -> argparse.ArgumentParser:
    """Builds the argument parser."""
    top = argparse.ArgumentParser(
        prog="python -m narrows.controller", description="Reads and sets a running P4 switch."
    )
    add_connection_options(top)
    commands = top.add_subparsers(required=True, metavar="COMMAND")

    shown = commands.add_parser(
        "show", help="print the state that controllers wrote, in sorted lines"
    )
    shown.add_argument(
        "--registers", action=argparse.BooleanOptionalAction, default=True,
        help="include register cells that are not zero; bmv2 cannot read registers",
    )  # fmt: skip
    shown.set_defaults(command=show)

    pushed = commands.add_parser("push", help="push the program and, optionally, a state")
    pushed.add_argument(
        "--state", type=Path, metavar="FILE",
        help="JSON with entries, clone_sessions, registers and so on; replaces the switch's state",
    )  # fmt: skip
    pushed.set_defaults(command=push)

    rates = commands.add_parser("set-rate", help="set a port's rate")
    rates.add_argument("port", type=int, help="the port's number")
    rates.add_argument("rate", type=rate, help="the rate, such as 5Mbps")
    rates.set_defaults(command=set_rate)

    limits = commands.add_parser("set-queue", help="set a port's queue limit")
    limits.add_argument("port", type=int, help="the port's number")
    limits.add_argument("limit", type=limit, help="the limit, such as 100packets, 20kB or 15ms")
    limits.set_defaults(command=set_queue)

    queue = commands.add_parser("queue", help="print a port's settings and queue counters")
    queue.add_argument("port", type=int, help="the port's number")
    queue.set_defaults(command=show_queue)

    port = commands.add_parser("set-port", help="with --bfrt: configure and enable a port")
    port.add_argument("port", type=int, help="the device port")
    port.add_argument("speed", type=rate, help="the port's speed, such as 10Gbps")
    port.add_argument(
        "--fec",
        choices=FECS,
        default="none",
        help="forward error correction, as at the other end of the cable (default: none)",
    )
    port.set_defaults(command=set_port)

    counter = commands.add_parser("counter", help="print a counter's cells that are not zero")
    counter.add_argument("name", help="the counter's name in the P4Info")
    counter.add_argument(
        "index", type=int, nargs="?", help="the cell (default: all that are not zero)"
    )
    counter.set_defaults(command=show_counter)

    register = commands.add_parser("register", help="print a register's cells that are not zero")
    register.add_argument("name", help="the register's name in the P4Info")
    register.add_argument(
        "index", type=int, nargs="?", help="the cell (default: all that are not zero)"
    )
    register.set_defaults(command=show_register)
    return top


async def show(client: Switch, options: argparse.Namespace) -> None:
    """Runs `show`."""
    for line in lines(await client.read_state(None if options.registers else ())):
        print(line)


async def push(client: Switch, options: argparse.Namespace) -> None:
    """Runs `push`. Connecting has already pushed the pipeline."""
    if not client.is_primary:
        raise ControllerError(f"{client.address}: another controller is primary; see --election-id")
    if options.state is None:
        return
    state = SwitchState.from_json(json.loads(options.state.read_text()))
    print(f"{await client.make(state)} writes")


@contextmanager
def driver(client: Switch, options: argparse.Namespace) -> Iterator[TrafficManager]:
    """Returns the driver of the switch's traffic manager. Raises `DriverError`."""
    if options.thrift is not None:
        try:
            from narrows.controller.drivers.bmv2 import Bmv2Driver
        except ModuleNotFoundError as error:
            raise DriverError(
                f"--thrift: {error.name} is not installed; install the extra bmv2"
            ) from None
        host, port = options.thrift
        with Bmv2Driver(host, port, options.packet_bytes) as bmv2:
            yield bmv2
    elif isinstance(client, BfrtSwitch):
        yield BfrtDriver(client.client, options.packet_bytes)
    elif client.gnmi is not None:
        yield GnmiDriver(client.gnmi)
    else:
        raise DriverError(
            f"{client.address}: the switch has no gNMI, which sets rates; for bmv2 use --thrift"
        )


async def set_rate(client: Switch, options: argparse.Namespace) -> None:
    """Runs `set-rate`."""
    with driver(client, options) as manager:
        print(f"rate_bps {await manager.set_rate(options.port, options.rate)}")


async def set_queue(client: Switch, options: argparse.Namespace) -> None:
    """Runs `set-queue`."""
    with driver(client, options) as manager:
        in_force = await manager.set_queue_limit(options.port, options.limit)
    print(*(f"{kind} {value}" for kind, value in in_force.items()))


async def show_queue(client: Switch, options: argparse.Namespace) -> None:
    """Runs `queue`."""
    with driver(client, options) as manager:
        state = dataclasses.asdict(await manager.queue_state(options.port))
    state["limit"] = " ".join(f"{value} {kind}" for kind, value in state["limit"].items())
    for name, value in state.items():
        print(name, "-" if value is None else value)


async def set_port(client: Switch, options: argparse.Namespace) -> None:
    """Runs `set-port`."""
    with driver(client, options) as manager:
        if not isinstance(manager, BfrtDriver):
            raise DriverError("set-port: needs --bfrt; other switches' ports are always set up")
        await manager.set_port(options.port, options.speed, options.fec)
        print("up" if await manager.port_is_up(options.port) else "down")


async def show_counter(client: Switch, options: argparse.Namespace) -> None:
    """Runs `counter`."""
    for index, count in sorted((await client.read_counters(options.name, options.index)).items()):
        if count.packets or count.octets or options.index is not None:
            print(f"{options.name}[{index}] = {count.packets} packets, {count.octets} bytes")


async def show_register(client: Switch, options: argparse.Namespace) -> None:
    """Runs `register`."""
    if options.index is not None:
        value = await client.read_register(options.name, options.index)
        print(f"{options.name}[{options.index}] = {value:#x}")
        return
    for index, value in sorted((await client.read_registers(options.name)).items()):
        if value:
            print(f"{options.name}[{index}] = {value:#x}")


async def run(options: argparse.Namespace) -> None:
    """Connects and runs the command."""
    command: Command = options.command
    if options.bfrt:
        bfrt = BfrtClient(options.address, program=options.program, device_id=options.device_id)
        async with bfrt:
            await command(BfrtSwitch(bfrt, options.packet_bytes), options)
        return
    credentials = None
    if options.ca is not None or options.cert is not None:
        credentials = fy.GRPCCredentialsTLS(
            cacert=options.ca, cert=options.cert, private_key=options.key
        )
    client = SwitchClient(
        options.address,
        p4info=options.p4info,
        # Other commands must not replace the running pipeline.
        program=options.json if options.command is push else None,
        device_id=options.device_id,
        election_id=options.election_id,
        credentials=credentials,
    )
    async with client:
        await command(client, options)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit code."""
    options = parser().parse_args(arguments)
    if (
        options.command is push
        and not options.bfrt
        and (options.p4info is None) != (options.json is None)
    ):
        print("controller: push: expected --p4info and --json, or neither", file=sys.stderr)
        return WRONG
    try:
        asyncio.run(run(options))
    except (ControllerError, DriverError) as error:
        print(f"controller: {error}", file=sys.stderr)
        return FAILED
    except (OSError, ValueError, KeyError) as error:
        print(f"controller: {error}", file=sys.stderr)
        return WRONG
    return DONE


if __name__ == "__main__":
    sys.exit(main())
