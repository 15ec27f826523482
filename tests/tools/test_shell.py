"""`narrows shell`: a program in a namespace behind the bottleneck, and nothing left behind."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path
from typing import NoReturn

import polars as pl
import pytest

from narrows.analysis.load import load
from narrows.testbed.problems import InputError
from narrows.testbed.targets.linux.namespaces import (
    NAMESPACES,
    OWNERS,
    Inside,
    Plumbing,
    add_namespace,
    missing,
    remove_all_of,
    sweep,
    try_lock,
)
from narrows.testbed.tools.shell import addresses, connections
from narrows.testbed.tools.shell.connections import End, flow_number
from narrows.testbed.tools.shell.options import ShellOptions
from tests.support.live_switch import TCP_SHARE
from tests.support.needs import programs, without
from tests.support.real_time import Machine, needs_dpdk
from tests.support.world import ROOT, command, environment, leaves_nothing

needs_namespaces = without(missing())
PING = [sys.executable, str(ROOT / "tests/support/ping.py")]
ADDRESS = 'getent ahostsv4 server | head -n 1 | cut -d" " -f1'
"""A shell's command; `getent hosts` would ask a name server for an IPv6 address, too."""
ECHOES = f'"$0" "$1" $({ADDRESS}) 5'
"""A shell's script; its arguments are `PING`."""
SERVER = "sleep 600"
WIDE = [
    word
    for key in ("departure_error=1s", "poll_gap=10s", "rate_error=0.99")
    for word in ("--set", f"instrument.{key}")
]
"""Limits that a busy machine keeps."""


def shell(*words: str | Path) -> list[str]:
    return command("shell", "--no-figures", "--quiet", *WIDE, *map(str, words))


def ran(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        shell(*words), capture_output=True, text=True, timeout=60, check=False, env=environment()
    )


def options(**given: object) -> ShellOptions:
    plain: dict[str, object] = {
        "program": ["true"], "rate": "20Mbps", "delay": "10ms", "queue": None, "discipline": None,
        "loss": None, "ecn_threshold": None, "counts": "frame", "up": {}, "down": {},
        "server": None, "interface": None, "address": None, "gateway": None, "overrides": [],
        "seed": 1, "out": Path("results"), "name": "shell", "figures": False, "quiet": True,
    }  # fmt: skip
    return ShellOptions(**plain | given)  # type: ignore[arg-type]


@pytest.fixture
def nothing_left() -> Iterator[None]:
    """Compares namespaces, interfaces and routes before and after, once the guard has ended."""
    with leaves_nothing(machine_state):
        yield


def machine_state() -> set[str]:
    """What shells make; other tests may have namespaces at the same time."""
    found = {path.name for path in NAMESPACES.glob("narrows-*-program")}
    for name in ("program", "far*"):
        found |= {path.name for path in Path("/sys/class/net").glob(f"nw*-{name}")}
    routes = subprocess.run(["ip", "route"], capture_output=True, text=True, check=True).stdout
    return found | {line for line in routes.splitlines() if line.startswith("198.18.")}


def test_each_direction_has_its_own_settings() -> None:
    given = options(queue="1bdp", up={"rate": "1Mbps"}, down={"discipline": "codel"})
    [down] = given.scenario("down").link
    assert (down.from_, down.rate, down.discipline.name) == ("far", 20_000_000, "codel")
    assert down.reverse is not None
    assert (down.reverse.rate, down.reverse.discipline.name) == (1_000_000, "drop-tail")
    [up] = given.scenario("up").link
    assert up.reverse is not None and (up.rate, up.reverse.rate) == (1_000_000, 20_000_000)


def test_a_discipline_has_its_parameters() -> None:
    given = options(discipline='{ name = "codel", target = "7ms" }')
    [link] = given.scenario("down").link
    assert link.discipline.planned() == options(
        overrides=['link.discipline={ name = "codel", target = "7ms" }']
    ).scenario("down").link[0].discipline.planned()  # fmt: skip


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"program": []}, "expected a program"),
        ({"program": ["no-such-program"]}, '"no-such-program": no such program'),
        ({"rate": "5x"}, '--rate = "5x": has the unknown unit'),
        ({"rate": None, "up": {"rate": "5Mbps"}}, "--rate: is missing"),
        ({"queue": "3"}, '--queue = "3": has no unit'),
        ({"down": {"queue": "3"}}, '--down-queue = "3": has no unit'),
        ({"server": "true", "interface": "x"}, "--interface: expected no --server with it"),
        ({"interface": "x"}, "--interface: expected --address with it"),
        ({"gateway": "10.0.0.1"}, "--gateway: expected --interface with it"),
        ({"interface": "x", "address": "10.0.0.300/24"}, "--address"),
        ({"name": "../x"}, '--name = "../x"'),
    ],
)  # fmt: skip
def test_a_wrong_option_is_named(given: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        options(**given).check()


def test_a_wrong_discipline_is_named() -> None:
    with pytest.raises(InputError, match=r'--discipline\.name = "nope": is an unknown discipline'):
        options(discipline="nope").scenario("down")


def test_blocks_of_several_shells_are_apart() -> None:
    found = [next(addresses.blocks(owner)) for owner in range(200)]
    assert all(block.subnet_of(addresses.ALL) for block in found)
    assert len(set(found)) == len(found)


def test_inner_blocks_spare_the_outer_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    outer = IPv4Network("198.18.7.0/24")
    monkeypatch.setenv(addresses.INSIDE, str(outer))
    inner = list(addresses.blocks(0))
    assert len(inner) == 3 and all(block.subnet_of(outer) for block in inner)
    assert not any(outer[host] in block for block in inner for host in (1, 2))


def test_too_many_shells_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(addresses.INSIDE, "198.18.7.0/30")
    with pytest.raises(InputError, match="4 shells around this one"):
        next(addresses.blocks(0))


@needs_dpdk
@needs_namespaces
@pytest.mark.usefixtures("nothing_left")
def test_the_round_trip_is_twice_the_delay(tmp_path: Path) -> None:
    machine = Machine()
    script = f'getent ahostsv4 server | head -n 1; "$0" "$1" $({ADDRESS}) 10; exit 7'
    done = ran("--rate", "20Mbps", "--delay", "10ms", "--out", tmp_path, "--",
               "sh", "-c", script, *PING)  # fmt: skip
    assert done.returncode == 7, done.stderr
    name, *times = done.stdout.splitlines()
    assert name.split()[-1] == "server"
    round_trips = sorted(map(float, times))
    # Both transmissions of an echo's 98 bytes take 78 us.
    assert round_trips[0] >= 20.07
    [run] = load(tmp_path / "shell")
    instrument = run.summary["instrument"]
    # The poll loop delays a packet by at most one gap at each of the four ports that it enters.
    late_us = 4 * instrument["polls"]["gap_max_us"]
    late_us += sum(wire["departure_error_us"]["max"] for wire in instrument["wires"])
    with machine.figures():
        assert len(times) == 10 and round_trips[5] < 22 + late_us / 1e3


@needs_dpdk
@needs_namespaces
@programs("iperf3")
@pytest.mark.parametrize("direction", ["up", "down"])
def test_goodput_and_ledger_agree_with_the_rate(tmp_path: Path, direction: str) -> None:
    machine = Machine()
    reverse = ["-R"] if direction == "down" else []
    done = ran("--rate", "20Mbps", "--delay", "5ms", "--queue", "40packets", "--counts", "ip",
               "--out", tmp_path, "--server", "iperf3 -s",
               "--", "iperf3", "-c", "server", "-t", "3", "--json", *reverse)  # fmt: skip
    assert done.returncode == 0, done.stderr
    received = json.loads(done.stdout)["end"]["sum_received"]
    goodput = received["bits_per_second"]
    [run] = load(tmp_path / "shell")
    bottleneck = run.summary["bottleneck"]
    assert bottleneck["switch"] == {"up": "program", "down": "far"}[direction]
    assert run.scenario["link"][0]["from"] == bottleneck["switch"]
    ledger = run.table("queue").filter(pl.col("switch") == bottleneck["switch"]).collect()
    left = ledger.filter(pl.col("event") == "dequeue")
    longest_ms = max(left["sojourn_ps"]) / 1e9
    assert max(left["depth_packets"]) < 40
    # 40 packets of 1,500 bytes at 20 Mb/s.
    assert longest_ms <= 40 * 1500 * 8 / 20e3
    # The ledger's rows and the kernel's connection have the same number.
    flow = max(run.flows, key=lambda each: each["delivered_bytes"])
    own = left.filter(pl.col("flow") == flow["id"])
    dropped = ledger.filter((pl.col("flow") == flow["id"]) & (pl.col("event") == "drop"))
    assert flow["delivered_bytes"] >= received["bytes"]
    # Besides data the sender sends a SYN, a FIN, and few ACKs without data.
    assert 0 <= len(own) + len(dropped) - flow["sent_segments"] <= 20
    rows = run.table("flows").filter(pl.col("flow") == flow["id"]).collect()
    assert rows["acked_bytes"].is_sorted() and rows["acked_bytes"][-1] == flow["delivered_bytes"]
    assert flow["rtt_ms"] is not None and flow["rtt_ms"]["min"] >= 10
    with machine.figures():
        assert 0.85 * 20e6 * TCP_SHARE < goodput <= 1.01 * 20e6 * TCP_SHARE
        assert longest_ms > 20


@needs_dpdk
@needs_namespaces
@pytest.mark.usefixtures("nothing_left")
def test_the_program_gets_signals(tmp_path: Path) -> None:
    program = "trap 'echo got it; exit 5' USR1; echo ready; while :; do sleep 0.05; done"
    process = subprocess.Popen(
        shell("--rate", "5Mbps", "--out", tmp_path, "--", "sh", "-c", program),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(),
    )  # fmt: skip
    assert process.stdout and process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGUSR1)
    printed, errors = process.communicate(timeout=30)
    assert (printed, process.returncode) == ("got it\n", 5), errors


@needs_dpdk
@needs_namespaces
@pytest.mark.usefixtures("nothing_left")
def test_a_killed_shell_leaves_nothing(tmp_path: Path) -> None:
    process = subprocess.Popen(
        shell("--rate", "5Mbps", "--out", tmp_path, "--", "sh", "-c", "echo $$; exec sleep 600"),
        stdout=subprocess.PIPE, text=True, env=environment(),
    )  # fmt: skip
    with process:
        assert process.stdout
        program = int(process.stdout.readline())
        process.kill()
    deadline = time.monotonic() + 15
    while Path(f"/proc/{program}").exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not Path(f"/proc/{program}").exists()
    while list((tmp_path / "shell").iterdir()) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not list((tmp_path / "shell").iterdir())


@needs_dpdk
@needs_namespaces
@pytest.mark.usefixtures("nothing_left")
def test_shells_inside_one_another_chain_links(tmp_path: Path) -> None:
    inner = shell("--rate", "20Mbps", "--delay", "5ms", "--out", tmp_path / "inner",
                  "--", "sh", "-c", ECHOES, *PING)  # fmt: skip
    done = ran("--rate", "20Mbps", "--delay", "10ms", "--out", tmp_path / "outer",
               "--server", SERVER, "--", *inner)  # fmt: skip
    assert done.returncode == 0, done.stderr
    times = [float(line) for line in done.stdout.splitlines()]
    assert times and min(times) >= 30
    for each in ("inner", "outer"):
        assert load(tmp_path / each / "shell")[0].summary["bottleneck"]["dequeued"] >= 5


@needs_dpdk
@needs_namespaces
@pytest.mark.usefixtures("nothing_left")
def test_the_far_side_can_be_an_interface(tmp_path: Path) -> None:
    with Plumbing() as plumbing:
        # The shell's interface is the outer end; the inner one is a machine on that network.
        lan = plumbing.add_host("lan", "10.77.0.1", "02:00:00:00:77:01", "02:00:00:00:77:fe")
        lan.run("ip", "route", "replace", "10.77.0.0/24", "dev", "eth0")
        done = ran("--rate", "20Mbps", "--delay", "10ms", "--out", tmp_path,
                   "--interface", lan.outside, "--address", "10.77.0.9/24",
                   "--", *PING, "10.77.0.1", "5")  # fmt: skip
    assert done.returncode == 0, done.stderr
    times = [float(line) for line in done.stdout.splitlines()]
    assert times and min(times) >= 20


@needs_dpdk
@needs_namespaces
@programs("setpriv", "unshare")
def test_a_user_without_root_needs_no_more_than_a_server() -> None:
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        directory.chmod(0o777)
        if not readable_by_all(Path(sys.executable), ROOT / "pyproject.toml"):
            pytest.skip("another user cannot read this checkout")
        # This machine's /dev/null may be root's alone.
        null = "rm -f null && mknod null c 1 3 && chmod 666 null && mount --bind null /dev/null"
        user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        words = ["--rate", "20Mbps", "--delay", "10ms", "--out", str(directory / "results")]
        probe = [*user, "unshare", "--user", "--map-root-user", "--net", "true"]
        if subprocess.run(probe, check=False, capture_output=True).returncode:
            pytest.skip("the kernel allows users no namespaces")
        for server, code in ((["--server", SERVER], 0), ([], 2)):
            run = shell(*words, *server, "--", "sh", "-c", ECHOES, *PING)
            done = subprocess.run(
                ["unshare", "--mount", "sh", "-c", f'{null} && exec "$@"', "sh", *user, *run],
                cwd=directory, capture_output=True, text=True, timeout=60, check=False,
                env=environment() | {"HOME": name},
            )  # fmt: skip
            assert done.returncode == code, done.stderr
            if code == 0:
                assert min(float(line) for line in done.stdout.splitlines()) >= 20
            else:
                assert "expected sudo, or --server COMMAND" in done.stderr


def readable_by_all(*paths: Path) -> bool:
    """Whether any user may read these files, through all directories above them."""
    above = {parent for path in paths for parent in path.resolve().parents}
    return all(each.stat().st_mode & 0o005 == 0o005 for each in above)


def guard(owner: int, directory: Path) -> list[str]:
    return [sys.executable, "-m", "narrows.testbed.tools.shell.guard", str(owner), str(directory)]


def test_the_guard_does_nothing_after_a_good_end(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    done = subprocess.run(
        guard(999, tmp_path / "run"), input=b'["done"]\n', check=False, env=environment()
    )
    assert done.returncode == 0 and (tmp_path / "run").exists()
    shutil.rmtree(tmp_path / "run")


@needs_namespaces
@pytest.mark.usefixtures("nothing_left")
def test_the_guard_waits_for_the_lock_of_a_killed_shell(tmp_path: Path) -> None:
    """A kernel may close a killed process's pipe before it releases the lock."""
    sweep()
    owner = OWNERS - 1
    lock = try_lock(owner)
    assert lock is not None
    program = Inside(f"narrows-{owner}-program")
    add_namespace(program)
    left = subprocess.Popen(program.command("sleep", "600"))
    watching = subprocess.Popen(
        guard(owner, tmp_path / "run"), stdin=subprocess.PIPE, env=environment()
    )
    try:
        assert watching.stdin
        watching.stdin.close()
        time.sleep(1)
        assert left.poll() is None
        os.close(lock)
        assert watching.wait(15) == 0 and left.wait(1) == -signal.SIGTERM
    finally:
        left.kill()
        remove_all_of(owner)


def test_a_flow_number_is_the_one_in_a_ledger() -> None:
    far = End(IPv4Address("198.18.0.2"), 5201)
    # Seen in the ledger of a run with two connections of iperf3.
    for port, number in ((54_820, -2_065_329_201), (54_822, -2_023_667_807)):
        assert flow_number(End(IPv4Address("198.18.0.1"), port), far) == number


def test_a_kernel_without_descriptions_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> NoReturn:
        raise OSError(errno.ENOENT, "No such file or directory", "sock_diag")

    monkeypatch.setattr(connections, "dumped", refuse)
    with connections.Connections({"far": (None, IPv4Address("127.0.0.1"))}) as watched:
        watched.begin(time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW))
        watched.end()
        assert watched.problem.endswith("describes no connections (No such file or directory)")
        assert watched.of_side("far") == []
