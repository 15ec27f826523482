"""The options of `narrows shell`, as the scenario that they stand for.

The scenario has the program's switch and the far side's, with a link between them. Its direction of
the data is the one that a run describes: `down`, towards the program, or `up`.
"""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv4Interface
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import ValidationError

from narrows.schema import units
from narrows.testbed.problems import InputError, Problem
from narrows.testbed.scenario.explain import explain
from narrows.testbed.scenario.schema import Scenario
from narrows.testbed.scenario.sweep import override, parse_setting

Direction = Literal["up", "down"]
"""`up` is from the program to the far side."""

PROGRAM: Final = "program"
FAR: Final = "far"
"""The hosts, and the switches that they are at."""
LINK: Final[dict[Direction, tuple[str, str]]] = {"up": (PROGRAM, FAR), "down": (FAR, PROGRAM)}
"""The switches at the two ends of the link, the sending one first."""
FIGURES: Final = ("queue_delay", "queue_length", "throughput", "drops_and_marks", "cwnd", "rtt")
ACCESS_RATE: Final = "100Gbps"
"""A host's own link must not be a second bottleneck."""
HOURS: Final = 24
"""The longest run; the engine needs an end."""
PER_DIRECTION: Final = ("rate", "queue", "discipline", "loss", "ecn_threshold")
"""Keys of a port that may differ between the two directions, each with `--up-…` and `--down-…`."""

CHECKS: Final[dict[str, Callable[[str], object]]] = {
    "rate": units.parse_rate,
    "queue": units.parse_queue,
    "delay": units.parse_duration,
}


@dataclass(frozen=True)
class ShellOptions:
    """The options; a quantity is text with its unit."""

    program: Sequence[str]
    """The command that runs behind the bottleneck."""
    rate: str | None
    delay: str
    queue: str | None
    discipline: str | None
    loss: str | None
    ecn_threshold: str | None
    counts: str
    up: dict[str, str]
    """The settings of the direction from the program, by key, where they differ."""
    down: dict[str, str]
    """The same of the direction towards the program."""
    server: str | None
    """A command at the far side, as a shell reads it."""
    interface: str | None
    """An interface of this machine through which the far side reaches its network."""
    address: str | None
    """The program's address on that network, with the prefix's length."""
    gateway: str | None
    """The router of that network."""
    overrides: Sequence[str]
    """`KEY=VALUE` of scenario keys."""
    seed: int
    out: Path
    name: str
    figures: bool
    quiet: bool
    live: int | None = None
    """The TCP port of the live view; 0 for any that is free, None for no view."""
    user: str | None = None
    """Whom the program runs as; None for whoever asked."""

    @property
    def title(self) -> str:
        """What figures and reports call the run."""
        return shlex.join(self.program)

    @property
    def is_machine(self) -> bool:
        """Whether the far side is this machine."""
        return self.server is None and self.interface is None

    @property
    def server_command(self) -> list[str]:
        """The words of the server's command. Raises `InputError`."""
        try:
            return shlex.split(self.server or "")
        except ValueError as error:
            raise InputError("--server", [Problem(str(self.server), str(error))]) from None

    @property
    def lan(self) -> IPv4Interface | None:
        """The program's address, with its prefix, on the interface's network."""
        return None if self.address is None else IPv4Interface(self.address)

    def check(self) -> None:
        """Raises `InputError` for options that contradict one another, or have no meaning."""
        problems = list(self._problems())
        if problems:
            raise InputError("narrows shell", problems)

    def _problems(self) -> Iterator[Problem]:
        if not self.program:
            yield Problem("", "expected a program: narrows shell --rate 20Mbps -- COMMAND")
        if self.server is not None and self.interface is not None:
            yield Problem("--interface", "expected no --server with it")
        for option, words in (("--", self.program), ("--server", self.server_command)):
            if words and shutil.which(words[0]) is None:
                yield Problem(option, "no such program", words[0])
        if self.server is not None and not self.server_command:
            yield Problem("--server", "expected a command", self.server)
        if self.interface is not None and self.address is None:
            yield Problem("--interface", "expected --address with it: the program's there")
        for option, value in (("--address", self.address), ("--gateway", self.gateway)):
            if value is not None and self.interface is None:
                yield Problem(option, "expected --interface with it")
        yield from checked("--address", IPv4Interface, self.address)
        yield from checked("--gateway", IPv4Address, self.gateway)
        for key in CHECKS:
            yield from checked(f"--{key}", CHECKS[key], getattr(self, key))
        for direction in ("up", "down"):
            own: dict[str, str] = getattr(self, direction)
            for key in CHECKS.keys() & own.keys():
                yield from checked(f"--{direction}-{key}", CHECKS[key], own[key])
            if self.rate is None and "rate" not in own:
                yield Problem("--rate", f"is missing; expected it, or --{direction}-rate too")
        if not self.name or "/" in self.name or self.name.startswith("."):
            yield Problem("--name", "expected the name of a directory", self.name)

    def scenario(self, direction: Direction) -> Scenario:
        """The scenario whose data goes in this direction. Raises `InputError`."""
        (near, far), other = LINK[direction], "up" if direction == "down" else "down"
        own: dict[Direction, dict[str, Any]] = {"up": self._port("up"), "down": self._port("down")}
        tree: dict[str, Any] = {
            "title": self.title,
            "seed": self.seed,
            "duration": f"{HOURS}h",
            "access": {"rate": ACCESS_RATE},
            "switch": [{"name": PROGRAM}, {"name": FAR}],
            "host": [{"name": name, "switch": name} for name in (PROGRAM, FAR)],
            "link": [
                own[direction]
                | {"from": near, "to": far, "delay": self.delay, "bottleneck": True}
                | {"reverse": own["up" if other == "up" else "down"]}
            ],
            # Stands for the program's traffic where a BDP needs a path; it is not sent.
            "flow": [{"variant": "cubic", "from": near, "to": far}],
            "report": {"figures": list(FIGURES)},
            "telemetry": {"every": 0},
            "record": {"queue": "both", "packets": False, "flows": "off", "messages": False},
        }
        for text in self.overrides:
            override("--set", tree, *parse_setting(text))
        try:
            return Scenario.model_validate(tree)
        except ValidationError as error:
            problems = [replace(each, key=option_of(each.key)) for each in explain(error)]
            raise InputError("narrows shell", problems) from None

    def _port(self, direction: Direction) -> dict[str, Any]:
        """The keys of a direction's port."""
        own: dict[str, str] = getattr(self, direction)
        found: dict[str, Any] = {"counts": self.counts}
        for key in PER_DIRECTION:
            text = own.get(key, getattr(self, key))
            if text is not None:
                found[key] = value_of(text)
        return found


def option_of(key: str) -> str:
    """The option that a key of the scenario comes from; of other keys the key."""
    own = key.removeprefix("link.0.").removeprefix("reverse.")
    return key if own == key else f"--{own.replace('_', '-')}"


def value_of(text: str) -> Any:
    """A TOML value, such as `{ name = "codel" }` or 5; other text stands for itself."""
    return parse_setting(f"x={text}")[1]


def checked(option: str, parse: Callable[[str], object], text: str | None) -> Iterator[Problem]:
    """A problem if the text is not such a quantity."""
    if text is None:
        return
    try:
        parse(text)
    except ValueError as error:
        yield Problem(option, str(error), text)
