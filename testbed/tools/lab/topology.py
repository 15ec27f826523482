"""The topology of a lab: `topology.json` as the P4 tutorials have it (github.com/p4lang/tutorials).

    {"hosts": {"h1": {"ip": "10.0.1.1/24", "mac": "08:00:00:00:01:11", "commands": ["..."]}},
     "switches": {"s1": {"runtime_json": "s1-runtime.json"}},
     "links": [["h1", "s1-p1"], ["s1-p2", "s2-p1", "5ms", 10]]}

A link's third and fourth elements are its delay (text with a unit, or milliseconds) and its rate in
Mb/s. Names of files are relative to the working directory, or else to the topology's folder or the
one above.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Interface
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from narrows.schema import budgets, units
from narrows.testbed.files import read_text
from narrows.testbed.problems import InputError, Problem
from narrows.testbed.scenario.explain import explain

NAMES: Final = {
    "hosts": (re.compile(r"[a-z][a-z0-9]{0,14}"), 15),
    "switches": (re.compile(r"[a-z][a-z0-9]{0,4}"), 5),
}
"""An interface's name has room for a switch's name, `p` and a port of three digits."""
MAC: Final = re.compile(r"([0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}")
SWITCH_END: Final = re.compile(r"(.+)-p(\d+)")
MOST_PORT: Final = 510
MS_PER_S: Final = 1000
BPS_PER_MBPS: Final = 1_000_000


class Part(BaseModel):
    """An object of the file. The tutorials' own readers ignore keys that they do not know."""

    model_config = ConfigDict(extra="ignore")


class HostPart(Part):
    """A host."""

    ip: IPv4Interface
    mac: Annotated[str, Field(pattern=f"^{MAC.pattern}$")]
    commands: list[str] = []


class SwitchPart(Part):
    """A switch."""

    runtime_json: str | None = None
    program: str | None = None
    cpu_port: Annotated[int, Field(ge=0, le=MOST_PORT)] | None = None
    priority_queues: Annotated[int, Field(ge=1, le=8)] = 1
    cli_input: str | None = None


class FilePart(Part):
    """The whole file."""

    hosts: dict[str, HostPart]
    switches: dict[str, SwitchPart]
    links: list[list[Any]]


@dataclass(frozen=True)
class End:
    """A switch's port."""

    switch: str
    port: int

    def __str__(self) -> str:
        return f"{self.switch}-p{self.port}"


@dataclass(frozen=True)
class Host:
    """A host and its port."""

    name: str
    ip: IPv4Interface
    mac: str
    commands: tuple[str, ...]
    at: End
    delay_ps: int
    """Of its link."""
    rate_bps: int | None
    """Of its link; None without a limit."""


@dataclass(frozen=True)
class Link:
    """A link between two switches."""

    ends: tuple[End, End]
    delay_ps: int
    rate_bps: int | None


@dataclass(frozen=True)
class LabSwitch:
    """A switch, with the files that configure it."""

    name: str
    runtime: Path | None
    program: Path | None
    cpu_port: int | None
    queues: int
    ports: Mapping[int, tuple[int, int | None]] = field(default_factory=dict)
    """Delay in picoseconds and rate in bits per second of each port's link."""


@dataclass(frozen=True)
class Topology:
    """A lab's switches, hosts and links, in the file's order."""

    path: Path
    switches: tuple[LabSwitch, ...]
    hosts: tuple[Host, ...]
    links: tuple[Link, ...]

    @property
    def folders(self) -> tuple[Path, ...]:
        """Where the names of files start, the first that has the file."""
        return folders_of(self.path)


def folders_of(path: Path) -> tuple[Path, ...]:
    """The folders that the names in a topology's files are relative to."""
    return (Path(), path.parent, path.parent.parent)


def located(name: str, folders: tuple[Path, ...]) -> Path:
    """The first of these folders' files with this name; in the first folder if none has it."""
    found = (folder / name for folder in folders if (folder / name).exists())
    return next(found, folders[0] / name)


def read_topology(path: Path, program: Path | None = None) -> Topology:
    """Reads a topology. Switches without a program of their own begin with `program`. Raises
    `InputError` with all problems.
    """
    try:
        tree = json.loads(read_text(path))
    except ValueError as error:
        raise InputError(str(path), [Problem("", f"not valid JSON: {error}")]) from None
    try:
        parts = FilePart.model_validate(tree)
    except ValidationError as error:
        raise InputError(str(path), explain(error)) from None
    reader = Reader(parts)
    problems = list(reader.problems())
    if problems:
        raise InputError(str(path), problems)
    return reader.topology(path, program)


class Reader:
    """Resolves the names of a file."""

    def __init__(self, parts: FilePart) -> None:
        self.parts = parts

    def problems(self) -> Iterator[Problem]:
        """Everything that is wrong with names and links."""
        parts, used = self.parts, dict[str, int]()
        for kind, names in (("hosts", parts.hosts), ("switches", parts.switches)):
            for name in names:
                pattern, most = NAMES[kind]
                if not pattern.fullmatch(name):
                    what = f"expected at most {most} lower-case letters and digits, a letter first"
                    yield Problem(f"{kind}.{name}", what)
        for name in parts.hosts.keys() & parts.switches.keys():
            yield Problem(f"hosts.{name}", "is a switch's name too")
        for name, switch in parts.switches.items():
            if switch.cli_input is not None:
                what = "is bmv2's own command line; expected runtime_json"
                yield Problem(f"switches.{name}.cli_input", what)
        for number, link in enumerate(parts.links):
            for problem in self.link_problems(link):
                yield Problem(f"links.{number}", problem)
            for end in map(str, link[:2]):
                used[end] = used.get(end, 0) + 1
        for end, count in used.items():
            if count > 1:
                yield Problem("links", f"has {count} links; expected one", end)
        for name in parts.hosts.keys() - used.keys():
            yield Problem(f"hosts.{name}", "has no link; expected one")
        ports = sum(len(link[:2]) for link in parts.links) - len(parts.hosts)
        if ports > budgets.LIVE_PORTS:
            what = f"{ports} ports of switches; expected at most {budgets.LIVE_PORTS}"
            yield Problem("links", what)

    def link_problems(self, link: list[Any]) -> Iterator[str]:
        """What is wrong with one link."""
        if not 2 <= len(link) <= 4:
            yield "expected two ends, and then at most a delay and a rate"
            return
        kinds = [self.kind(str(end)) for end in link[:2]]
        for end, kind in zip(link, kinds, strict=False):
            if kind is None:
                yield f'"{end}": expected a host, or a switch with a port, such as s1-p1'
        if kinds == ["host", "host"]:
            yield "joins two hosts; expected a switch at one end"
        readers: tuple[Callable[[list[Any]], object], ...] = (delay_of, rate_of)
        for read in readers:
            try:
                read(link)
            except ValueError as error:
                yield str(error)

    def kind(self, end: str) -> str | None:
        """What an end names."""
        if end in self.parts.hosts:
            return "host"
        found = SWITCH_END.fullmatch(end)
        is_port = found and found[1] in self.parts.switches and int(found[2]) <= MOST_PORT
        return "switch" if is_port else None

    def topology(self, path: Path, program: Path | None) -> Topology:
        """The topology of a file without problems."""
        folders = folders_of(path)
        ports: dict[str, dict[int, tuple[int, int | None]]] = {
            name: {} for name in self.parts.switches
        }
        hosts, links = dict[str, Host](), []
        for link in self.parts.links:
            delay_ps, rate_bps = delay_of(link), rate_of(link)
            names = sorted(map(str, link[:2]), key=lambda name: name not in self.parts.hosts)
            ends = [port_of(name) for name in names if name not in self.parts.hosts]
            for end in ends:
                ports[end.switch][end.port] = (delay_ps, rate_bps)
            if len(ends) == 2:
                links.append(Link((ends[0], ends[1]), delay_ps, rate_bps))
                continue
            host = self.parts.hosts[names[0]]
            hosts[names[0]] = Host(
                names[0], host.ip, host.mac, tuple(host.commands), ends[0], delay_ps, rate_bps
            )
        switches = [
            LabSwitch(
                name,
                located(one.runtime_json, folders) if one.runtime_json else None,
                located(one.program, folders) if one.program else program,
                one.cpu_port,
                one.priority_queues,
                ports[name],
            )
            for name, one in self.parts.switches.items()
        ]
        in_order = tuple(hosts[name] for name in self.parts.hosts)
        return Topology(path, tuple(switches), in_order, tuple(links))


def port_of(text: str) -> End:
    """A switch's port, from `s1-p1`."""
    found = SWITCH_END.fullmatch(text)
    assert found
    return End(found[1], int(found[2]))


def delay_of(link: list[Any]) -> int:
    """A link's delay in picoseconds. Raises `ValueError`."""
    given = link[2] if len(link) > 2 else 0
    if isinstance(given, bool) or not isinstance(given, int | float | str):
        raise ValueError(f"delay {given!r}: expected milliseconds, or text such as 5ms")
    if isinstance(given, str) and not re.fullmatch(r"\s*0*\s*", given):
        return units.parse_duration(given)
    milliseconds = float(given or 0)
    if not 0 <= milliseconds < float("inf"):
        raise ValueError(f"delay {given!r}: expected 0 or more milliseconds")
    return round(milliseconds * units.PS_PER_S / MS_PER_S)


def rate_of(link: list[Any]) -> int | None:
    """A link's rate in bits per second; None without a limit. Raises `ValueError`."""
    given = link[3] if len(link) > 3 else None
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 < given < 1e6:
        raise ValueError(f"rate {given!r}: expected a number of Mb/s above 0")
    return round(given * BPS_PER_MBPS)
