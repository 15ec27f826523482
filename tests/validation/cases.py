"""The paths and losses on which our senders are held against ns-2, and how each side runs them.

A case is one source of ns-2 (`hosts/src/compat/ns2/agents.rs` lists them) on one path. ns-2 runs
`hosts/tests/ns2/oracle.tcl`, ours `hosts/examples/dumbbell.rs`; both give, per flow, the packets
acknowledged and when the window was cut, a time-out expired and a segment left again.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from narrows.testbed import catalogue
from tests.support.world import example

ROOT = Path(__file__).resolve().parents[2]
ORACLE = ROOT / "hosts/tests/ns2/oracle.tcl"
RECORDED = ROOT / "hosts/tests/ns2/recorded.json"
NS = "ns"
MS = 10**9
"""Picoseconds in a millisecond."""
SACK_SINK = "Agent/TCPSink/Sack1"
UNBOUNDED = 1000
"""A window in segments that no path here fills."""


@dataclasses.dataclass(frozen=True)
class Path2:
    """A bottleneck, with an access link before it where `access_mbps` is above 0."""

    mbps: int
    ms: int
    queue: int
    access_mbps: int = 0
    access_ms: int = 10


DIRECT = Path2(8, 50, 1000)
SATURATED = Path2(2, 50, 20, access_mbps=11)
"""The access rate is not a multiple of the bottleneck's: for simultaneous arrivals and departures
ns-2's order depends on rounding.
"""


@dataclasses.dataclass(frozen=True)
class Setup:
    """The treatment of a source."""

    name: str
    path: Path2
    window: int
    seconds: int
    flows: int = 1
    lose: tuple[int, ...] = ()


LOSSES = tuple(
    Setup(f"lose {count}", DIRECT, 30, 10, lose=tuple(range(60, 60 + 2 * count, 2)))
    for count in (1, 2, 3, 4)
)
DUMBBELLS = tuple(Setup(f"{flows} flows", SATURATED, 1000, 100, flows) for flows in (1, 2, 10))
SETUPS = (*LOSSES, *DUMBBELLS)

NS2_VARIABLES = {"Agent/TCP/Vegas": "packetSize_ 1040", "Agent/TCP/Vegas/RBP": "packetSize_ 1040"}
"""What is set in ns-2 so that packets are as long as ours: its Vegas adds no header of 40 bytes."""

FLOOR, HALF_FLOOR = "linux-ns2", "linux-ns2-min"
MODULES = {
    "reno": ("reno", HALF_FLOOR),
    "bic": ("bic", FLOOR),
    "cubic": ("cubic", FLOOR),
    "hstcp": ("highspeed", HALF_FLOOR),
    "htcp": ("htcp", FLOOR),
    "hybla": ("hybla", HALF_FLOOR),
    "illinois": ("illinois", HALF_FLOOR),
    "scalable": ("scalable", HALF_FLOOR),
    "vegas": ("vegas", HALF_FLOOR),
    "veno": ("veno", FLOOR),
    "westwood": ("westwood", FLOOR),
    "yeah": ("yeah", HALF_FLOOR),
    "compound": ("compound", HALF_FLOOR),
}
"""Our variants that ns-2's Agent/TCP/Linux has too, by its names, and its recovery with each."""

MODULE_PARAMETERS = {"illinois": {"ns2_cut": 1}, "westwood": {"ns2_floor": 1}}
"""Ours that are set to what Linux 2.6.22 had."""

MODULE_SETUPS = (
    Setup("10 Mb/s", Path2(10, 50, 50, access_mbps=100, access_ms=1), 1000, 100),
    Setup("50 Mb/s", Path2(50, 50, 250, access_mbps=1000, access_ms=1), 2000, 100),
)


@dataclasses.dataclass(frozen=True)
class Source:
    """A source of ns-2, or a module of its Agent/TCP/Linux, and what it is called here."""

    name: str
    agent: str
    variant: str
    recovery: str
    sink: str
    segment_bytes: int = 1000
    select_ca: str = ""
    variables: str = ""
    parameters: Mapping[str, float] = dataclasses.field(default_factory=dict)

    @property
    def counts_cuts(self) -> bool:
        """False if ns-2's agent does not count the window's cuts."""
        return not self.agent.startswith("Agent/TCP/Vegas")

    @property
    def counts_timeouts(self) -> bool:
        """False if they count as cuts only."""
        return not self.agent.startswith("Agent/TCP/Fack")

    @property
    def is_linux(self) -> bool:
        """True where the first segment leaves with the SYN, and `window_` bounds nothing."""
        return self.agent == "Agent/TCP/Linux" and not self.select_ca

    @property
    def is_full(self) -> bool:
        """True for ns-2's two-way TCPs, which count otherwise."""
        return self.agent.startswith("Agent/TCP/FullTcp")

    def oracle(self, setup: Setup, trace: Path) -> list[str]:
        """The command that has ns-2 run it."""
        path = setup.path
        # ns-2 counts every packet; FullTcp's second one is the handshake's ACK, Linux's the first
        # of its data.
        lose = [number + (self.is_full or self.is_linux) for number in setup.lose]
        options: Mapping[str, object] = {
            "agent": self.agent, "sink": self.sink, "variables": self.variables,
            "select_ca": self.select_ca, "flows": setup.flows, "window": self.window(setup),
            "seconds": setup.seconds, "lose": " ".join(map(str, lose)),
            "access_mbps": path.access_mbps, "access_ms": path.access_ms, "mbps": path.mbps,
            "ms": path.ms, "queue": path.queue, "trace": trace,
        }  # fmt: skip
        return [NS, str(ORACLE), *(str(part) for pair in options.items() for part in pair)]

    def ours(self, setup: Setup) -> dict[str, Any]:
        """The same for our example. ns-2's DropTail holds its limit less one packet."""
        path = setup.path
        access = {
            "rate_bps": path.access_mbps * 10**6, "delay_ps": path.access_ms * MS, "jitter_ps": 0,
            "queue_packets": None, "counts": "ip",
        }  # fmt: skip
        return {
            "rate_bps": path.mbps * 10**6,
            "delay_ps": path.ms * MS,
            "queue_packets": path.queue - 1,
            # On a saturated path every packet arrives as one leaves; which of them ns-2 takes first
            # is how its times were rounded: for these the arrival.
            "arrivals_first": self.is_full,
            "access": access if path.access_mbps else None,
            "duration_ps": setup.seconds * 1000 * MS,
            "lost": setup.lose,
            "flows": [self.flow(setup, number) for number in range(setup.flows)],
        }

    def flow(self, setup: Setup, number: int) -> dict[str, Any]:
        """One of the flows, from 0, as a plan has it."""
        return {
            "id": number + 1,
            "source": {"ip": "10.0.0.1", "port": 10_000 + number},
            "destination": {"ip": "10.0.0.2", "port": 5001},
            "start_ps": number * 100 * MS,
            "variant": self.variant,
            "recovery": self.recovery,
            "profile": "ns2",
            "sink": self.sink,
            "window_bytes": self.window(setup) * self.segment_bytes,
            "segment_bytes": self.segment_bytes,
            "params": dict(self.parameters),
            "app": {"kind": "bulk"},
            "record": "ack",
        }

    def window(self, setup: Setup) -> int:
        """What the receiver offers, in segments."""
        return max(setup.window, UNBOUNDED) if self.is_linux else setup.window


FACKS = {"rampdown_": "fack-rampdown", "rampdown_ ss-div4_": "fack-overdamping"}
"""Our recoveries that are ns-2's Fack with these variables set."""


def agents() -> list[Source]:
    """ns-2's own sources, as the engine lists them, and its Fack's other rules."""
    facks = [
        Source(
            f"Agent/TCP/Fack {on}", "Agent/TCP/Fack", "Agent/TCP/Fack", recovery, SACK_SINK,
            variables=" ".join(f"{variable} true" for variable in on.split()),
        )
        for on, recovery in FACKS.items()
    ]  # fmt: skip
    return facks + [
        Source(
            record["name"], record["name"], record["name"], record["recovery"], record["sink"],
            record["segment_bytes"] or 1000, variables=NS2_VARIABLES.get(record["name"], ""),
        )
        for record in catalogue.records("agents")
    ]  # fmt: skip


def modules() -> list[Source]:
    """What Agent/TCP/Linux has of our variants. Its timestamps take 10 bytes of each packet."""
    return [
        Source(
            f"Agent/TCP/Linux {module}", "Agent/TCP/Linux", variant, recovery, SACK_SINK,
            select_ca=module, variables="timestamps_ true packetSize_ 990",
            parameters=MODULE_PARAMETERS.get(variant, {}),
        )
        for variant, (module, recovery) in MODULES.items()
    ]  # fmt: skip


@dataclasses.dataclass
class Events:
    """What one flow did; seconds and segments."""

    acked_segments: int
    cuts: list[tuple[float, float]]
    timeouts: list[float]
    retransmits: list[float]
    ssthresh: float


Run = list[Events]


def run_ours(cases: Sequence[tuple[Source, Setup]]) -> list[Run]:
    """Runs cases in our stack, by its example."""
    text = json.dumps([source.ours(setup) for source, setup in cases])
    done = subprocess.run(
        [example("dumbbell")], input=text, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"the example dumbbell: {done.stderr.strip()[-2000:]}")
    runs = [[Events(**flow) for flow in run] for run in json.loads(done.stdout)]
    for (source, _), run in zip(cases, runs, strict=True):
        for events in run:
            if not source.counts_cuts:
                events.cuts = []
            if not source.counts_timeouts:
                events.cuts += [(at, 1.0) for at in events.timeouts]
                events.cuts.sort(key=lambda cut: cut[0])
                events.timeouts = []
            if source.is_full:
                events.retransmits = []
    return runs


def run_ns2(source: Source, setup: Setup) -> Run:
    """Runs a case in ns-2."""
    with tempfile.TemporaryDirectory() as directory:
        trace = Path(directory) / "trace"
        command = source.oracle(setup, trace)
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600)
        said = [line.split() for line in done.stdout.splitlines()]
        acked = [int(float(words[1])) for words in said if words[:1] == ["acked"]]
        flows = read_trace(trace.read_text(), len(acked))
    for events, count in zip(flows, acked, strict=True):
        events.acked_segments = count - source.is_linux
        if source.is_full:
            events.acked_segments = count // source.segment_bytes
            # What is new counts too that recovery sends.
            events.retransmits = []
            # The window counts the three duplicates.
            if source.recovery in ("full-reno", "full-newreno"):
                events.cuts = [(at, cwnd - 3) for at, cwnd in events.cuts]
    return flows


def read_trace(text: str, flows: int) -> Run:
    """The events in a trace of ns-2's variables: time, node, port, node, port, name, value."""
    found = [Events(0, [], [], [], 0) for _ in range(flows)]
    counts = [dict[str, int]() for _ in range(flows)]
    cwnd = [0.0] * flows
    ports = dict[str, int]()
    for line in text.splitlines():
        at_text, _, port, _, _, name, value = line.split()
        at, index = float(at_text), ports.setdefault(port, len(ports))
        events, seen = found[index], counts[index]
        if name == "cwnd_":
            cwnd[index] = float(value)
            if events.cuts and events.cuts[-1][0] == at:
                events.cuts[-1] = (at, cwnd[index])
            continue
        if name == "ssthresh_":
            events.ssthresh = float(value)
            continue
        more = int(value) - seen.get(name, 0)
        seen[name] = int(value)
        if name == "nrexmit_" and more > 0:
            events.timeouts += [at] * more
        elif name == "nrexmitpack_" and more > 0:
            events.retransmits += [at] * more
        elif name == "ncwndcuts_" and more > 0:
            events.cuts += [(at, cwnd[index])] * more
    for events in found:
        # A time-out is counted as a cut too.
        events.cuts = [cut for cut in events.cuts if cut[0] not in events.timeouts]
    return found


def has_ns2() -> bool:
    """True where ns-2 is installed."""
    return shutil.which(NS) is not None


@dataclasses.dataclass(frozen=True)
class Recorded:
    """What there is of a run of ns-2: sums over its flows, and the events of a single one."""

    counts: list[int]
    events: Events | None


@functools.cache
def recorded() -> dict[str, Recorded]:
    """The recorded runs of ns-2, by `key`."""
    read = json.loads(RECORDED.read_text()) if RECORDED.exists() else {}
    return {
        key: Recorded(run["counts"], Events(**run["events"]) if run["events"] else None)
        for key, run in read.items()
    }


def counts(run: Run) -> list[int]:
    """Segments acknowledged, cuts, time-outs, segments sent again, of all flows."""
    each = [
        [flow.acked_segments, len(flow.cuts), len(flow.timeouts), len(flow.retransmits)]
        for flow in run
    ]
    return [sum(column) for column in zip(*each, strict=True)]


def key(source: Source, setup: Setup) -> str:
    """A case's name in the recording."""
    return f"{source.name}: {setup.name}"
