"""Real packets through the RTL: a board in software between two network namespaces."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from narrows.testbed.targets.linux.namespaces import missing as missing_namespaces
from narrows.testbed.targets.rtl.board_model import Slowed, board_model
from narrows.testbed.targets.rtl.library import missing
from tests.fpga import simulator
from tests.support import needs

pytestmark = [
    # `make fpga-test` runs it: the model builds for a minute.
    needs.without([*simulator.missing(), *missing(), *missing_namespaces()]),
    needs.without([] if Path("/dev/net/tun").exists() else ["/dev/net/tun does not exist"]),
]

SLOWED = Slowed(1000)
"""A line of 1 Mb/s: 125,000 cycles are a second."""
SENDER, RECEIVER = "192.168.78.1", "192.168.78.2"


def run(*command: str) -> str:
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, (command[:8], done.stdout[-2000:], done.stderr[-2000:])
    return done.stdout


@dataclass(frozen=True)
class World:
    """Two namespaces with the board between them."""

    sender: str
    receiver: str

    def at(self, namespace: str, *command: str) -> str:
        """Runs a command in a namespace; returns what it prints."""
        return run("ip", "netns", "exec", namespace, *command)

    def python(self, namespace: str, program: str, *given: str) -> str:
        """Runs a program in a namespace."""
        return self.at(namespace, sys.executable, "-c", program, *given)


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    program = board_model(SLOWED)
    tag = f"{os.getpid() % 100000}"
    names = [f"nfp{side}{tag}" for side in (0, 1)]
    with ExitStack() as stack:
        for name in names:
            run("ip", "netns", "add", name)
            stack.callback(run, "ip", "netns", "delete", name)
        # It ends with its standard input.
        board = stack.enter_context(
            subprocess.Popen(
                [program, *names], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
        )
        assert board.stdin and board.stdout
        stack.callback(board.stdin.close)
        assert board.stdout.readline() == "ready\n"
        for name, address in zip(names, (SENDER, RECEIVER), strict=True):
            run("ip", "link", "set", name, "netns", name, "name", "eth0")
            run("ip", "-n", name, "address", "add", f"{address}/24", "dev", "eth0")
            # No IPv6, so that no router solicitation is in the queue.
            run("ip", "netns", "exec", name, "sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=1")
            run("ip", "-n", name, "link", "set", "lo", "up")
            run("ip", "-n", name, "link", "set", "eth0", "up")
        # A slow machine answers ARP too late for the kernel.
        macs = [run("ip", "netns", "exec", n, "cat", "/sys/class/net/eth0/address") for n in names]
        for name, to, mac in zip(names, (RECEIVER, SENDER), reversed(macs), strict=True):
            run("ip", "-n", name, "neigh", "add", to, "lladdr", mac.strip(), "dev", "eth0")
        yield World(*names)


SET = """
import asyncio, json, sys
from narrows.controller.drivers.fpga import FpgaDriver
from narrows.controller.drivers.fpga_protocol import Direction

async def main():
    async with FpgaDriver("192.168.78.66") as board:
        for port, values in json.loads(sys.argv[1]).items():
            await board.set(int(port), **values)
        state = await board.queue_state(2)
        print(json.dumps({**vars(state), "errors": await board.read(0x0100 + Direction.ERRORED)}))

asyncio.run(main())
"""


def set_up(world: World, **ports: dict[str, int]) -> dict[str, int]:
    """Sets ports by the driver, in the sender's namespace; returns the state of port 2."""
    values = {name.removeprefix("port_"): given for name, given in ports.items()}
    found: dict[str, int] = json.loads(world.python(world.sender, SET, json.dumps(values)))
    return found


@needs.programs("ping")
def test_ping_passes_and_takes_twice_the_delay(world: World) -> None:
    delay = {"DELAY": 20 * 10**9, "BASIS": 2, "RATE": SLOWED.line_bps}
    set_up(world, port_1=delay, port_2=delay)
    printed = world.at(world.sender, "ping", "-c", "3", "-i", "2", "-W", "60", RECEIVER)
    assert "3 received" in printed
    # 98 bytes and 24 more take 0.976 ms each way; a machine that is slow only adds.
    fastest_ms = float(printed.rsplit("=", 1)[1].split("/")[0])
    assert fastest_ms >= 2 * (20 + 0.9)


TRANSFER = """
import socket, sys, time
if sys.argv[1] == "receive":
    server = socket.create_server(("", 5001))
    client, _ = server.accept()
    count = 0
    while part := client.recv(65536):
        count += len(part)
    print(count)
else:
    for _ in range(100):
        try:
            client = socket.create_connection(("192.168.78.2", 5001))
            break
        except ConnectionRefusedError:
            time.sleep(0.1)
    client.sendall(bytes(60_000))
    client.close()
"""


def test_the_kernels_tcp_crosses_the_board_without_error(world: World) -> None:
    rate = 400_000
    fast = {"DELAY": SLOWED.least_delay_ps, "BASIS": 2, "RATE": SLOWED.line_bps}
    before = set_up(world, port_1=fast, port_2={**fast, "RATE": rate})
    receiver = subprocess.Popen(
        ["ip", "netns", "exec", world.receiver, sys.executable, "-c", TRANSFER, "receive"],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    world.python(world.sender, TRANSFER, "send")
    assert receiver.communicate(timeout=120)[0] == "60000\n"
    after = set_up(world)
    assert after["transmitted"] - before["transmitted"] > 60_000 / 1448
    assert (after["waiting_packets"], after["errors"]) == (0, 0)
