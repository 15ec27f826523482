"""`python -m tests.fuzz.campaign --seconds 60`: random files and messages, faster than hypothesis.

Each target takes a case of random bytes or words, in this process and without a network. A case may
be refused by name; any other exception is a failure, printed with its case. Prints a line for each
target: cases, how many were accepted, seconds.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NoReturn

import grpc
from finsy.proto import gnmi, p4r
from google.protobuf.message import DecodeError

from narrows.switch.server.gnmi.leaves import LEAVES, at_port
from narrows.switch.server.gnmi.service import GnmiService
from narrows.switch.server.p4runtime.service import P4RuntimeService
from narrows.testbed import engine
from narrows.testbed.problems import InputError
from narrows.testbed.scenario import sweep
from narrows.testbed.scenario.plan import make_plan
from narrows.testbed.tools.packetdrill import play
from narrows.testbed.tools.switch.clients import read_access
from narrows.testbed.tools.switch.pcap import Ports
from tests.fuzz.test_files import SCRIPTS, pcap
from tests.fuzz.test_messages import seeds
from tests.support.p4rt import CONTROL, DEVICE, config
from tests.support.world import TWO_FLOWS
from tests.switch.test_rights import CLIENTS

Case = Callable[[random.Random], bool]
"""Draws a case and tries it; true if it was accepted."""
WORDS = [
    "", "-1", "0", "1e400", "nan", "99999999999999999999", '"', "[", "]", "{ }", "#", "\x00", "+",
    "~", "*", "ack", "win", "<...>", "(", ")", "=", "true", '"5Mbps"', '"-1s"', "\u202e", "\n",
]  # fmt: skip


class RefusedError(Exception):
    """The call was ended with a status."""


class Context:
    """A call without a network."""

    def abort(self, code: grpc.StatusCode, message: str) -> NoReturn:
        """Ends the call; `UNKNOWN` is for batches, `INTERNAL` a bug."""
        assert code is not grpc.StatusCode.INTERNAL, message
        raise RefusedError(f"{code.name}: {message}")

    def set_trailing_metadata(self, metadata: object) -> None:
        """A batch's statuses."""

    def is_active(self) -> bool:
        """The client is there."""
        return True

    def peer_identities(self) -> list[bytes]:
        """No certificate."""
        return []


def damaged(draw: random.Random, data: bytes) -> bytes:
    """Bytes with some changed, added or removed."""
    changed = bytearray(data)
    for _ in range(draw.randint(0, 4)):
        at = draw.randrange(len(changed) + 1)
        match draw.randrange(3):
            case 0:
                changed[at : at + 1] = draw.randbytes(1)
            case 1:
                changed[at:at] = draw.randbytes(draw.randint(0, 8))
            case _:
                del changed[at : at + draw.randint(1, 8)]
    return bytes(changed)


def reworded(draw: random.Random, text: str) -> str:
    """A text with some words changed."""
    words = text.split(" ")
    for _ in range(draw.randint(0, 3)):
        words[draw.randrange(len(words))] = draw.choice([*WORDS, draw.choice(words)])
    return " ".join(words)


def p4runtime() -> Iterator[tuple[str, Case]]:
    """Writes and other calls to a switch with a program."""
    ports = [{"port": n, "queue": {"packets": 9}, "counts": "frame"} for n in (1, 2, 3)]
    switch: Any = engine.Switch(
        json.dumps({"switch": {"ports": ports, "timestamp_unit": "us"}, "cpu_port": None}), 1
    )
    made = config(CONTROL)
    switch.load(made.p4_device_config.decode())
    service, context = P4RuntimeService(switch, DEVICE, made), Context()
    [whole] = seeds()
    updates = p4r.WriteRequest.FromString(whole).updates
    starts = [whole] + [p4r.WriteRequest(updates=[one]).SerializeToString() for one in updates]

    def write(draw: random.Random) -> bool:
        request = p4r.WriteRequest.FromString(damaged(draw, draw.choice(starts)))
        # Without an election id a write needs no stream.
        request.ClearField("election_id")
        request.device_id = DEVICE
        service.Write(request, context)
        return True

    def read(draw: random.Random) -> bool:
        writes = p4r.WriteRequest.FromString(damaged(draw, draw.choice(starts)))
        request = p4r.ReadRequest(device_id=DEVICE)
        request.entities.extend(update.entity for update in writes.updates)
        for _ in service.Read(request, context):
            pass
        return True

    yield "p4runtime-write", write
    yield "p4runtime-read", read


def openconfig() -> Iterator[tuple[str, Case]]:
    """Get and Set."""
    ports = [{"port": n, "queue": {"packets": 9}, "counts": "frame"} for n in (1, 2)]
    switch: Any = engine.Switch(
        json.dumps({"switch": {"ports": ports, "timestamp_unit": "ns"}, "cpu_port": None}), 1
    )
    service, context = GnmiService(switch), Context()
    paths = [
        gnmi.Path(elem=[gnmi.PathElem(name=n, key=dict(k)) for n, k in at_port(leaf.path, 2)])
        for leaf in LEAVES
    ]
    gets = [gnmi.GetRequest(path=[one], encoding=gnmi.PROTO).SerializeToString() for one in paths]
    values = [
        gnmi.TypedValue(uint_val=9), gnmi.TypedValue(int_val=-1), gnmi.TypedValue(json_val=b"{}"),
        gnmi.TypedValue(json_ietf_val=b'{"cir": "9"}'), gnmi.TypedValue(string_val="red"),
    ]  # fmt: skip
    sets = [
        gnmi.SetRequest(update=[gnmi.Update(path=one, val=value)]).SerializeToString()
        for one in paths
        for value in values
    ]

    def get(draw: random.Random) -> bool:
        service.Get(gnmi.GetRequest.FromString(damaged(draw, draw.choice(gets))), context)
        return True

    def put(draw: random.Random) -> bool:
        service.Set(gnmi.SetRequest.FromString(damaged(draw, draw.choice(sets))), context)
        return True

    yield "gnmi-get", get
    yield "gnmi-set", put


def files(directory: Path) -> Iterator[tuple[str, Case]]:
    """Scenarios, scripts, captures, and files of clients."""
    scripts = [path.read_text() for path in SCRIPTS]
    packets = pcap([(1, 2, b"x" * 60), (1, 3, b"y" * 20), (2, 0, b"")])
    capture, text = directory / "a_in.pcap", directory / "text"

    def scenario(draw: random.Random) -> bool:
        toml = directory / "scenario.toml"
        toml.write_text(reworded(draw, TWO_FLOWS), encoding="utf-8")
        for point in sweep.read(toml)[:3]:
            make_plan(point.scenario, str(toml))
        return True

    def script(draw: random.Random) -> bool:
        text.write_text(reworded(draw, draw.choice(scripts)), encoding="utf-8")
        with redirect_stdout(None), redirect_stderr(None):
            play.run(text)
        return True

    def captured(draw: random.Random) -> bool:
        capture.write_bytes(damaged(draw, packets))
        ports = Ports({1: str(directory / "a")})
        try:
            for _, port, frame in ports.arrivals():
                assert port == 1 and len(frame) <= 262_144
        finally:
            ports.close()
        return True

    def clients(draw: random.Random) -> bool:
        text.write_text(reworded(draw, CLIENTS), encoding="utf-8")
        read_access(text)
        return True

    yield "scenario", scenario
    yield "packetdrill", script
    yield "pcap", captured
    yield "clients", clients


def run(name: str, case: Case, seconds: float, least: int) -> int:
    """Runs a target for so long, and at least so many cases; returns the failures."""
    begin, count, accepted, failures = time.monotonic(), 0, 0, 0
    while count < least or time.monotonic() - begin < seconds:
        draw = random.Random(f"{name} {count}")
        count += 1
        try:
            accepted += case(draw)
        except (RefusedError, InputError, DecodeError):
            continue
        except Exception:
            failures += 1
            print(f"{name}: case {count - 1} failed", file=sys.stderr)
            traceback.print_exc()
    took = time.monotonic() - begin
    print(f"campaign {name}: {count} cases, {accepted} accepted, {took:.1f} s", flush=True)
    return failures


def main() -> int:
    """The command."""
    options = argparse.ArgumentParser(prog="campaign")
    options.add_argument("--seconds", type=float, default=60, help="of each target")
    options.add_argument("--cases", type=int, default=0, help="of each target, at least")
    options.add_argument("--only", nargs="*", help="names of targets")
    given = options.parse_args()
    failures = 0
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(dir=memory) as directory:
        for name, case in (*p4runtime(), *openconfig(), *files(Path(directory))):
            if not given.only or name in given.only:
                failures += run(name, case, given.seconds, given.cases)
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
