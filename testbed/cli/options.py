"""Options that several verbs share, and their conversion to a call's request."""

from __future__ import annotations

import argparse
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar

from narrows.testbed.problems import InputError, Problem
from narrows.testbed.shipped import scenario_path
from narrows.testbed.targets import TARGETS
from narrows.testbed.targets.base import Target
from narrows.testbed.targets.dpdk.setup import DEFAULT_MBUFS, PortOptions

if TYPE_CHECKING:
    from narrows.testbed.scenario.background import BackgroundRequest

Request = TypeVar("Request")

ONE_POINT = "a TOML file, or a name; if it has a sweep, choose a point with --set"
"""What a command says of its scenario that runs a single point."""


def request_of(kind: type[Request], options: argparse.Namespace, **more: Any) -> Request:
    """A dataclass filled from the options named like its fields, and from `more`."""
    names = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    given = {name: value for name, value in vars(options).items() if name in names}
    return kind(**given | more)


def add_overrides(command: argparse.ArgumentParser) -> None:
    """The option that sets keys of a scenario."""
    command.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", dest="overrides",
        help="set a key of the scenario by its path",
    )  # fmt: skip


def add_background_options(command: argparse.ArgumentParser) -> None:
    """The options of commands that send a scenario's background traffic or have it sent."""
    add = command.add_argument
    add("scenario", type=scenario_path, help=ONE_POINT)
    add("--duration", metavar="TIME", help="how long to send (default: the scenario's duration)")
    add_overrides(command)


def background_request(options: argparse.Namespace) -> BackgroundRequest:
    """The requested background traffic."""
    from narrows.testbed.scenario.background import BackgroundRequest

    return request_of(BackgroundRequest, options)


def add_port_options(command: argparse.ArgumentParser) -> None:
    """The options of every command that opens DPDK ports."""
    add = command.add_argument
    add("--mbufs", type=int, default=DEFAULT_MBUFS, metavar="N",
        help=f"packets to reserve memory for (default: {DEFAULT_MBUFS})")  # fmt: skip
    add("--no-huge", action="store_true", help="use no hugepages, even if enough are free")
    idle = command.add_mutually_exclusive_group()
    idle.add_argument("--poll", action="store_const", const="poll", dest="idle",
        help="keep the data path's cores busy (default if two others remain)")  # fmt: skip
    idle.add_argument("--yield", action="store_const", const="yield", dest="idle",
        help="let other programs run while no packet is due (default otherwise)")  # fmt: skip


def port_options(options: argparse.Namespace) -> PortOptions:
    """The requested set-up of DPDK."""
    return request_of(PortOptions, options)


def add_target_options(command: argparse.ArgumentParser, *, only_hardware: bool = False) -> None:
    """Options of targets, of which several may share one, and options that name hardware."""
    each = {option.flag: option for target in TARGETS.values() for option in target.options}
    for option in each.values():
        if only_hardware and not option.names_hardware:
            continue
        if option.metavar is None:
            action = argparse.BooleanOptionalAction
            command.add_argument(option.flag, action=action, help=option.help)
        else:
            command.add_argument(option.flag, metavar=option.metavar, help=option.help)


def own_options(options: argparse.Namespace, target: Target | None) -> dict[str, Any]:
    """The given options of a target. Raises `InputError` for options of other targets."""
    own = target.options if target else ()
    for option in (option for other in TARGETS.values() for option in other.options):
        value = getattr(options, option.key, None)
        if value and option not in own:
            key = "" if value is True else str(value)
            names = [other.name for other in TARGETS.values() if option in other.options]
            what = f"expected --target {' or '.join(names)} with it"
            raise InputError(option.flag, [Problem(key, what)])
    return {option.key: getattr(options, option.key, None) for option in own}
