"""`narrows pktgen`: a scenario's background traffic as a script for DPDK pktgen.

Background is what has a rate of its own: flows whose application writes messages of one length.
Each `[[flow]]` of them becomes a stream of UDP packets with the addresses of its first connection,
sent at the instants at which the applications write (those of the scenario's own hosts, seed for
seed), whatever becomes of the packets.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from testbed import catalogue, points, units
from testbed.plan import make_plan
from testbed.problems import InputError, Problem
from traffic.pktgen.profile import ProfileError, Stream
from traffic.pktgen.script import script

Json = dict[str, Any]


def add_command(commands: Any) -> None:
    """The sub-command and its options."""
    command = commands.add_parser(
        "pktgen", help="a scenario's background traffic as a script for DPDK pktgen"
    )
    command.add_argument("scenario", type=Path, help="a TOML file; of a sweep one point (--set)")
    command.add_argument("--out", type=Path, required=True, metavar="FILE.lua", help="the script")
    command.add_argument(
        "--link", default="10Gbps", metavar="RATE",
        help="what pktgen takes its ports' speed for, of which its rates are a share (10Gbps)",
    )  # fmt: skip
    command.add_argument("--duration", metavar="TIME", help="how long (the scenario's)")
    command.add_argument("--set", action="append", default=[], metavar="KEY=VALUE",
        dest="settings", help="sets a key of the scenario by its path")  # fmt: skip
    command.set_defaults(command=run)


def run(options: argparse.Namespace) -> int:
    """`narrows pktgen`. Raises `InputError`."""
    source = str(options.scenario)
    settings = [points.parse_setting(text) for text in options.settings]
    if options.duration is not None:
        settings.append(("duration", options.duration))
    read = points.read(options.scenario, settings)
    if len(read) != 1:
        what = f"has {len(read)} points; expected one (--set)"
        raise InputError(source, [Problem("sweep", what)])
    scenario = read[0].scenario
    if scenario.duration == "completion":
        raise InputError(source, [Problem("duration", "has no end: --duration", "completion")])
    try:
        link_bps = units.parse_rate(options.link)
    except ValueError as error:
        raise InputError("--link", [Problem(options.link, str(error))]) from None
    plan = make_plan(scenario, source)
    # The connections of each [[flow]], in the plan's order.
    sizes = [flow.count for flow in scenario.flow]
    try:
        found = list(streams(plan, sizes))
        if not found:
            what = "none writes messages of one length: no background traffic"
            raise InputError(source, [Problem("flow", what)])
        text = script(scenario.title, found, link_bps)
    except ProfileError as error:
        raise InputError(source, [Problem("flow", str(error))]) from None
    options.out.write_text(text, encoding="utf-8")
    for port, stream in enumerate(found):
        print(f"port {port}: {stream.name}: {len(stream.at_ps)} packets of {stream.frame_bytes} B")
    print(options.out)
    return 0


def streams(plan: Json, sizes: list[int]) -> Iterator[Stream]:
    """The plan's background streams, `sizes` being the connections of each `[[flow]]`."""
    written: dict[int, list[tuple[int, int]]] = {}
    for flow, at_ps, length in catalogue.engine().written(json.dumps(plan), plan["duration_ps"]):
        written.setdefault(flow, []).append((at_ps, length))
    hosts = {host["config"]["name"]: host["config"] for host in plan["hosts"]}
    first = 0
    for number, size in enumerate(sizes):
        table = plan["flows"][first : first + size]
        first += size
        messages = sorted(
            message for one in table for message in written.get(one["flow"]["id"], ())
        )
        lengths = {length for _, length in messages}
        if len(lengths) != 1:
            continue
        one = table[0]
        source, destination = hosts[one["from"]], hosts[one["to"]]
        yield Stream(
            f"flow.{number} ({one['flow']['app']['kind']} x {size})",
            source["mac"],
            source["gateway_mac"],
            source["ip"],
            destination["ip"],
            one["flow"]["source"]["port"],
            one["flow"]["destination"]["port"],
            lengths.pop(),
            [at_ps for at_ps, _ in messages],
        )
