"""Where the soak's frames went: each must be sent, or dropped for a reason that the switch says."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import grpc
from finsy.proto import gnmi_grpc

from narrows.testbed.tools.switch.daemon import REASONS
from tests.soak.cables import Cable, counts
from tests.switch.gnmi.requests import get

CPU = 255
QUEUE = "/qos/interfaces/interface[interface-id={}]/output/queues/queue[name=0]/state"
INTERFACE = "/interfaces/interface[name={}]/state/counters"


@dataclass(frozen=True)
class Line:
    """An equation of the ledger."""

    what: str
    left: int
    right: int

    @property
    def holds(self) -> bool:
        """Whether nothing is missing."""
        return self.left == self.right


@dataclass(frozen=True)
class Ended:
    """What the switch said when it ended."""

    wires: Mapping[int, Mapping[str, int]]
    """For each port: `received`, `sent`, `missed` and so on."""
    drops: Mapping[str, int]
    """Packets that the switch dropped, by its reason."""

    @classmethod
    def read(cls, lines: Iterable[str]) -> Ended:
        """Reads its last lines."""
        wires = dict[int, dict[str, int]]()
        drops = dict[str, int]()
        for line in lines:
            if found := re.match(r"port (\d+): received (\d+), sent (\d+),", line):
                port, received, sent = map(int, found.groups())
                wires.setdefault(port, {}).update(received=received, sent=sent)
            elif found := re.match(r"port (\d+): ([a-z ]+) (\d+)$", line):
                wires.setdefault(int(found[1]), {})[found[2]] = int(found[3])
            elif found := re.match(r"dropped (.*): (\d+)$", line):
                drops[found[1]] = int(found[2])
        return cls(wires, drops)

    def dropped(self, *keys: str) -> int:
        """Packets dropped for some of the switch's reasons."""
        return sum(self.drops.get(REASONS[key], 0) for key in keys)


def states(server: str, ports: Iterable[int]) -> dict[int, dict[str, int]]:
    """The gNMI counts of each port."""
    with grpc.insecure_channel(server) as channel:
        stub = gnmi_grpc.gNMIStub(channel)
        return {port: state(stub, port) for port in ports}


def state(stub: Any, port: int) -> dict[str, int]:
    """A port's counts by their leaves' names."""
    leaves = get(stub, QUEUE.format(port), INTERFACE.format(port))
    return {path.rpartition("/")[2]: value for path, value in leaves}


def is_quiet(states: Mapping[int, Mapping[str, int]]) -> bool:
    """Whether no packet waits."""
    return not any(state["queue-len-packets"] for state in states.values())


def equations(
    cables: Mapping[int, Cable], states: Mapping[int, Mapping[str, int]], ended: Ended
) -> Iterator[Line]:
    """The ledger, from the senders' sockets to the receivers' interfaces."""
    for port, cable in cables.items():
        wire, far, near = ended.wires[port], counts(cable.far), counts(cable.near)
        arrived = wire["received"] + wire.get("missed", 0) + wire.get("without memory", 0)
        yield Line(f"port {port}: frames sent into the cable; frames at the near end, and dropped "
                   "since that was down",
                   cable.handed, near.received + far.send_dropped)  # fmt: skip
        yield Line(f"port {port}: frames at the near end; frames received, and missed",
                   near.received, arrived)  # fmt: skip
        yield Line(f"port {port}: frames received; frames in the switch's count",
                   wire["received"], states[port]["in-pkts"])  # fmt: skip
        yield Line(f"port {port}: packets whose transmission began; frames sent, and not sent",
                   states[port]["out-pkts"], wire["sent"] + wire.get("not sent", 0))  # fmt: skip
        if not cable.flaps:
            yield Line(f"port {port}: frames sent; frames at the far end",
                       near.sent, far.received)  # fmt: skip
            yield Line(f"port {port}: frames that the switch sent; frames that the kernel sent",
                       wire["sent"], near.sent)  # fmt: skip
    for port, one in states.items():
        yield Line(f"port {port}: packets queued; packets sent, dropped by egress and waiting",
                   one["enqueued-pkts"], one["transmit-pkts"] + one["queue-len-packets"]
                   + one["dropped-egress-program-pkts"])  # fmt: skip
    before_queues = (
        "dropped_ingress", "no_such_port", "no_such_group", "aborted", "endless", "no_program"
    )  # fmt: skip
    received = sum(one["in-pkts"] for one in states.values())
    at_queues = sum(one["enqueued-pkts"] + one["dropped-pkts"] for one in states.values())
    yield Line("packets received; packets dropped before a queue, queued, and refused by a queue",
               received, ended.dropped(*before_queues) + at_queues)  # fmt: skip
