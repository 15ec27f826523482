"""`make soak`: changing controllers, bad messages and bad traffic; memory stays flat.

The switch is `narrows switch`'s, driven in virtual time by this process, its server on a loopback
port. Prints a line a minute, and exits with 1 if the memory grew or a good controller was not
served.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import sys
import time
from pathlib import Path

import grpc
from finsy.proto import p4r

from tests.p4runtime.messages import DELETE, FORWARD, MAC, TO_2, entry
from tests.support.p4rt import CONTROL, Client, Served, client

PAGE_BYTES = 4096
WARM_UP = 0.2
"""The share of the time after which memory must not grow."""
GROWTH_MAX = 1.15
REPORT_S = 60
STREAM_S = 60
"""The limit that `client` gives a stream."""
TRIES = 5
"""How often a controller connects when a busy machine lets its stream run out of time."""
PUSH_EVERY = 20
"""Controllers from one push of the program to the next."""
WILDCARDS = ("table_entry", "register_entry", "counter_entry", "packet_replication_engine_entry")


def resident_mib() -> float:
    """The memory of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * PAGE_BYTES / 2**20


def bad_packets(served: Served, draw: random.Random, count: int) -> None:
    """Random packets at random ports."""
    for _ in range(count):
        served.send(draw.choice((1, 2, 3)), draw.randbytes(draw.randint(0, 1500)))


def bad_messages(made: Client, draw: random.Random, count: int) -> None:
    """Malformed requests."""
    for _ in range(count):
        method = draw.choice(("Write", "Read", "GetForwardingPipelineConfig"))
        try:
            call = made.channel.unary_stream(f"/p4.v1.P4Runtime/{method}")
            list(call(draw.randbytes(draw.randint(0, 200)), timeout=20))
        except grpc.RpcError:
            continue


def wildcard(kind: str) -> p4r.Entity:
    """All entities of a kind."""
    made = p4r.Entity()
    getattr(made, kind).SetInParent()
    return made


def good_controller(served: Served, number: int, *, is_again: bool = False) -> None:
    """Connects, writes, reads, sees its packet pass, and leaves.

    Raises an error if it is not served.
    """
    with client(served.address, election_id=number + 1) as made:
        made.arbitrate()
        if number % PUSH_EVERY == 0:
            made.push(CONTROL)
        if is_again:
            # The try before may have left its entry.
            with contextlib.suppress(grpc.RpcError):
                made.write([entry(made, FORWARD, match=[MAC], type=DELETE)])
        made.write([entry(made, FORWARD, match=[MAC], **TO_2)])
        frame = (5).to_bytes(6, "big") + bytes(58)
        sent = served.send(1, frame)
        assert [port for port, _ in sent] == [2], f"packet {number} went to {sent}"
        everything = list(map(wildcard, WILDCARDS))
        assert len(made.read(*everything)) > 1, "a read found nothing"
        made.write([entry(made, FORWARD, match=[MAC], type=DELETE)])
        if number % 3 == 0:
            made.stream.cancel()


def served_in_the_end(served: Served, number: int) -> int:
    """Has a good controller served, again if its stream outlived the client's limit. Returns how
    often it connected again. Raises the last try's error.
    """
    for again in range(TRIES):
        begun = time.monotonic()
        try:
            good_controller(served, number, is_again=again > 0)
        except grpc.RpcError:
            if time.monotonic() - begun < STREAM_S or again + 1 == TRIES:
                raise
        else:
            break
    return again


def main() -> int:
    """The command."""
    options = argparse.ArgumentParser(prog="soak")
    options.add_argument("--seconds", type=float, default=3600)
    seconds = options.parse_args().seconds
    draw, served = random.Random(1), Served()
    begin = told = time.monotonic()
    number, again, settled = 0, 0, 0.0
    try:
        while (passed := time.monotonic() - begin) < seconds:
            again += served_in_the_end(served, number)
            bad_packets(served, draw, 200)
            with client(served.address, election_id=1) as stranger:
                bad_messages(stranger, draw, 20)
            number += 1
            if not settled and passed > WARM_UP * seconds:
                settled = resident_mib()
            if time.monotonic() - told > REPORT_S:
                told = time.monotonic()
                done = served.switch.statistics()["received"]
                print(f"{passed:.0f} s: {number} controllers, {done} packets, "
                      f"{again} connected again, {resident_mib():.0f} MiB", flush=True)  # fmt: skip
    finally:
        served.close()
    final = resident_mib()
    print(
        f"{number} controllers, {again} connected again; "
        f"{settled:.0f} MiB after the warm-up, {final:.0f} MiB at the end"
    )
    return int(final > settled * GROWTH_MAX)


if __name__ == "__main__":
    sys.exit(main())
