"""The soak's controllers. A good one is served, and finds what the ones before it wrote."""

from __future__ import annotations

import random
import socket
import time
from collections import deque

import grpc
from finsy.proto import gnmi, gnmi_grpc, p4r

from tests.p4runtime.messages import DELETE, FORWARD, entry, exact
from tests.soak.cables import Cable
from tests.soak.traffic import TO_CONTROLLER, TO_PORT
from tests.support.p4rt import CONTROL, Client, client
from tests.switch.gnmi.requests import path

PUSH_EVERY = 20
"""Controllers from one push of the program to the next."""
KEPT = 8
"""Probes' entries that stay in the table."""
TRIES = 10
PROBE = 0x88B5
"""The Ethernet type of local experiments (IEEE 802)."""
PROBE_TO = 0x0200_0100_0000
WILDCARDS = ("table_entry", "register_entry", "counter_entry", "packet_replication_engine_entry")
INTERFACES = "/interfaces/interface/state/counters"


class LostError(Exception):
    """Something that had been written or sent is gone."""


def address(number: int) -> bytes:
    """An Ethernet address as the server reports it, without leading zeros."""
    return number.to_bytes(6, "big").lstrip(b"\0")


def wildcard(kind: str) -> p4r.Entity:
    """All entities of a kind."""
    made = p4r.Entity()
    getattr(made, kind).SetInParent()
    return made


class Controllers:
    """Controllers that come and go, one after another."""

    def __init__(self, server: str, first: Cable, received: socket.socket) -> None:
        self.server = server
        self.first = first
        self.received = received
        self.count = 0
        self.pushes = 0
        self.probes_again = 0
        """Probes that a full queue or ring dropped, and were sent again."""
        self._kept = deque[int]()
        self._standing = set[int]()
        self._draw = random.Random(2)

    def come_and_go(self) -> None:
        """One controller; also a stranger with bad messages. Raises `LostError`, or an RpcError."""
        number = self.count
        self.count += 1
        with client(self.server, election_id=number + 1) as made:
            made.arbitrate()
            if number % PUSH_EVERY == 0:
                self._push(made)
            self._write(made, number)
            self._find_all(made)
            self._probe(number)
            if number % 3 == 0:
                made.stream.cancel()
        self._look_on()
        with client(self.server, election_id=1) as stranger:
            self._bad_messages(stranger)

    def _push(self, made: Client) -> None:
        made.push(CONTROL)
        self.pushes += 1
        self._kept.clear()
        made.write([self._to(made, address_of, port) for port, address_of in TO_PORT.items()])
        punted = {"action": "to_controller", "params": [b"\x01"]}
        made.write([entry(made, FORWARD, match=[exact(1, address(TO_CONTROLLER))], **punted)])
        self._standing = {*TO_PORT.values(), TO_CONTROLLER}

    def _to(self, made: Client, to: int, port: int) -> p4r.Update:
        """The entry that sends an address's frames to a port."""
        match, params = [exact(1, address(to))], [bytes([port])]
        return entry(made, FORWARD, match=match, action="send", params=params)

    def _write(self, made: Client, number: int) -> None:
        to = PROBE_TO + number
        updates = [self._to(made, to, 2)]
        self._kept.append(to)
        if len(self._kept) > KEPT:
            match = [exact(1, address(self._kept.popleft()))]
            updates.append(entry(made, FORWARD, match=match, type=DELETE))
        made.write(updates)

    def _find_all(self, made: Client) -> None:
        """Reads everything; the table has exactly what was written."""
        [table] = {update.entity.table_entry.table_id for update in [entry(made, FORWARD)]}
        found = {
            int.from_bytes(one.table_entry.match[0].exact.value, "big")
            for one in made.read(*map(wildcard, WILDCARDS))
            if one.table_entry.table_id == table and one.table_entry.match
        }
        expected = self._standing | set(self._kept)
        if found != expected:
            raise LostError(f"the table lacks {expected - found} and has {found - expected} more")

    def _probe(self, number: int) -> None:
        """A frame to the new entry's address leaves by port 2."""
        header = (PROBE_TO + number).to_bytes(6, "big") + bytes(6) + PROBE.to_bytes(2, "big")
        for again in range(TRIES):
            self.probes_again += again > 0
            self.first.send(header + bytes(46))
            until = time.monotonic() + 1
            while time.monotonic() < until:
                try:
                    if self.received.recv(2048).startswith(header):
                        return
                except TimeoutError:
                    break
        raise LostError(f"{TRIES} probes of controller {number} did not arrive")

    def _look_on(self) -> None:
        """A gNMI client that subscribes, and goes without a word."""
        with grpc.insecure_channel(self.server) as channel:
            stub = gnmi_grpc.gNMIStub(channel)
            one = gnmi.Subscription(path=path(INTERFACES), mode=gnmi.SAMPLE)
            request = gnmi.SubscribeRequest(subscribe=gnmi.SubscriptionList(subscription=[one]))
            stream = stub.Subscribe(iter([request]), timeout=20)
            next(stream)
            stream.cancel()

    def _bad_messages(self, stranger: Client) -> None:
        for _ in range(self._draw.randint(1, 10)):
            service = self._draw.choice(("p4.v1.P4Runtime", "gnmi.gNMI"))
            method = self._draw.choice(("Write", "Read", "Get", "Set", "Capabilities"))
            call = stranger.channel.unary_stream(f"/{service}/{method}")
            try:
                list(call(self._draw.randbytes(self._draw.randint(1, 200)), timeout=20))
            except grpc.RpcError:
                continue
