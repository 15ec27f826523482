"""`narrows lab`: a tutorial's files, hosts behind P4 switches, and their ledger."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Interface
from itertools import pairwise
from pathlib import Path
from typing import Any

import dpkt
import polars as pl
import pytest

from narrows.controller.errors import ControllerError
from narrows.controller.runtime_json import matched, read_runtime
from narrows.testbed.problems import InputError
from narrows.testbed.targets.linux.namespaces import NAMESPACES, missing
from narrows.testbed.tools.lab import program
from narrows.testbed.tools.lab.program import compile_if_stale
from narrows.testbed.tools.lab.topology import End, Link, read_topology
from tests.support.needs import without
from tests.support.real_time import needs_dpdk
from tests.support.switch_command import P4INFO, PROGRAM
from tests.support.world import ROOT, command, environment, leaves_nothing

needs_namespaces = without(missing())
PING = shlex.join((sys.executable, str(ROOT / "tests/support/ping.py")))
MACS = {"h1": "08:00:00:00:01:11", "h2": "08:00:00:00:02:22"}
IPS = {"h1": "10.0.1.1", "h2": "10.0.2.2"}
ROUTERS = {"h1": "10.0.1.10", "h2": "10.0.2.20"}
DELAY_MS, RATE_MBPS = 5, 10


def tree(**changes: Any) -> dict[str, Any]:
    """Two switches, a host at each, and a link of 10 Mb/s and 5 ms."""
    hosts = {
        name: {
            "ip": f"{IPS[name]}/24",
            "mac": MACS[name],
            "commands": [
                f"ip route add default via {ROUTERS[name]}",
                f"ip neighbour add {ROUTERS[name]} lladdr 02:ff:00:00:00:01 dev eth0",
            ],
        }
        for name in IPS
    }
    switches = {name: {"runtime_json": f"{name}-runtime.json"} for name in ("s1", "s2")}
    links = [["h1", "s1-p1"], ["s2-p1", "h2"], ["s1-p2", "s2-p2", f"{DELAY_MS}ms", RATE_MBPS]]
    return {"hosts": hosts, "switches": switches, "links": links} | changes


def entry(host: str, port: int) -> dict[str, Any]:
    return {
        "table": "NarrowsIngress.forward.ipv4_lpm",
        "match": {"hdr.ipv4.dst_addr": [IPS[host], 32]},
        "action_name": "NarrowsIngress.forward.route",
        "action_params": {"port": port, "src_mac": "02:ff:00:00:00:01", "dst_mac": MACS[host]},
    }


def write_lab(folder: Path, **changes: Any) -> Path:
    """A topology with its runtime files, for the program in p4/."""
    for switch, (near, far) in {"s1": ("h1", "h2"), "s2": ("h2", "h1")}.items():
        runtime = {
            "target": "bmv2",
            "p4info": str(P4INFO),
            "bmv2_json": str(PROGRAM),
            "table_entries": [entry(near, 1), entry(far, 2)],
        }
        (folder / f"{switch}-runtime.json").write_text(json.dumps(runtime))
    path = folder / "topology.json"
    path.write_text(json.dumps(tree(**changes)))
    return path


@pytest.fixture
def nothing_left() -> Iterator[None]:
    """Compares the namespaces and interfaces of labs before and after."""
    with leaves_nothing(machine_state):
        yield


def machine_state() -> set[str]:
    found = {path.name for path in NAMESPACES.glob("narrows-*-h[12]")}
    return found | {path.name for path in Path("/sys/class/net").glob("nw*-s[12]p*")}


def lab(folder: Path, *words: str, said: str = "") -> subprocess.CompletedProcess[str]:
    """Runs the command with this input."""
    return subprocess.run(
        command("lab", *words), cwd=folder, env=environment(), input=said, text=True,
        capture_output=True, check=False, timeout=120,
    )  # fmt: skip


def test_a_topology_has_hosts_switches_and_links(tmp_path: Path) -> None:
    read = read_topology(write_lab(tmp_path))
    first, second = read.hosts
    assert (first.name, first.ip, first.at) == ("h1", IPv4Interface("10.0.1.1/24"), End("s1", 1))
    assert (second.at, second.rate_bps, second.delay_ps) == (End("s2", 1), None, 0)
    ends = (End("s1", 2), End("s2", 2))
    assert read.links == (Link(ends, 5_000_000_000, 10_000_000),)
    assert [one.runtime for one in read.switches] == [
        tmp_path / "s1-runtime.json",
        tmp_path / "s2-runtime.json",
    ]


@pytest.mark.parametrize(
    ("delay", "picoseconds"),
    [("0", 0), (0, 0), (0.5, 500_000_000), ("2ms", 2_000_000_000), ("30us", 30_000_000)],
)
def test_a_delay_is_text_or_milliseconds(tmp_path: Path, delay: object, picoseconds: int) -> None:
    links = [["h1", "s1-p1"], ["h2", "s2-p1"], ["s1-p2", "s2-p2", delay]]
    [link] = read_topology(write_lab(tmp_path, links=links)).links
    assert (link.delay_ps, link.rate_bps) == (picoseconds, None)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"links": [["h1", "h2"]]}, "links.0: joins two hosts"),
        ({"links": [["h1", "s1-p1"], ["h2", "s3-p1"]]}, 'links.1: "s3-p1": expected a host'),
        ({"links": [["h1", "s1-p1"], ["h2", "s1-p1"]]}, 'links = "s1-p1": has 2 links'),
        ({"links": [["h1", "s1-p1"]]}, "hosts.h2: has no link"),
        ({"links": [["h1", "s1-p1", "5 parsecs"], ["h2", "s2-p1"]]}, "unknown unit"),
        ({"links": [["h1", "s1-p1", 0, -1], ["h2", "s2-p1"]]}, "expected a number of Mb/s above 0"),
        ({"switches": {"switch7": {}}, "hosts": {}, "links": []}, "switches.switch7: expected at"),
        ({"switches": {"s1": {"cli_input": "x"}, "s2": {}}}, "switches.s1.cli_input"),
        ({"hosts": {"h1": {"ip": "10.0.0.300", "mac": MACS["h1"]}}}, "hosts.h1.ip"),
        ({"hosts": {"h1": {"ip": "10.0.0.3/8", "mac": "8"}}}, "hosts.h1.mac"),
    ],
)
def test_a_wrong_topology_is_named(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as error:
        read_topology(write_lab(tmp_path, **changes))
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "not valid JSON"),
        ("{}", "p4info: expected the name of a file"),
        ('{"table_entries": [{"table": "t"}]}', "table_entries.0: 'action_name' is missing"),
        ('{"multicast_group_entries": [{}]}', "multicast_group_entries.0: 'multicast_group_id'"),
        ('{"clone_session_entries": [1]}', "clone_session_entries.0: "),
    ],
)
def test_a_wrong_runtime_file_is_named(text: str, said: str) -> None:
    with pytest.raises(ControllerError) as error:
        read_runtime(text)
    assert said in str(error.value)


def test_a_match_is_a_value_or_a_pair() -> None:
    """The tutorials write `["10.0.1.1", 32]`, `5` and, for an exact match, `[5]`."""
    assert [matched(one) for one in (["10.0.1.1", 32], 5, [5])] == [("10.0.1.1", 32), 5, 5]


def test_a_program_older_than_its_source_is_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The compiler is one that writes its arguments to the output."""
    compiler = tmp_path / "p4c"
    compiler.write_text('#!/bin/sh\necho "$@" > "$4"\necho info > "$7"\n')
    compiler.chmod(0o755)
    monkeypatch.setenv("P4C", str(compiler))
    source, made = tmp_path / "basic.p4", tmp_path / "build/basic.json"
    p4info = tmp_path / "build/basic.p4.p4info.txtpb"
    with pytest.raises(InputError, match="no such file; expected it, or"):
        compile_if_stale(made, p4info)
    source.write_text("")
    compile_if_stale(made, p4info)
    first = made.stat().st_mtime_ns
    assert str(source) in made.read_text() and p4info.is_file()
    compile_if_stale(made, p4info)
    assert made.stat().st_mtime_ns == first


@pytest.mark.parametrize("is_own", [True, False])
def test_the_projects_own_program_is_not_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_own: bool
) -> None:
    made, source = tmp_path / "build/own.json", tmp_path / "own.p4"
    made.parent.mkdir()
    made.write_text("")
    source.write_text("")
    os.utime(made, (0, 0))
    monkeypatch.setenv("P4C", "false")
    if is_own:
        monkeypatch.setattr(program, "OWN", made.parent)
        compile_if_stale(made, None)
    else:
        with pytest.raises(InputError):
            compile_if_stale(made, None)


@needs_dpdk
@needs_namespaces
def test_hosts_reach_one_another_through_the_switches(tmp_path: Path, nothing_left: None) -> None:
    """A ping and its answer cross the link of 5 ms, the ledger has them at every port, and so have
    the captures.
    """
    write_lab(tmp_path)
    given = ("--grpc-port", "0", "topology.json")
    ran = lab(tmp_path, *given, said=f"h1 {PING} h2 4\nh9 true\nexit\n")
    assert ran.returncode == 0, ran.stderr
    trips_ms = [float(line) for line in ran.stdout.splitlines() if line.replace(".", "").isdigit()]
    assert len(trips_ms) == 4 and min(trips_ms) >= 2 * DELAY_MS, ran.stdout
    assert "h9: no such host or command" in ran.stdout
    out = tmp_path / "results/lab"
    assert sent_by_port(out) == {("s1", 1): 4, ("s1", 2): 4, ("s2", 1): 4, ("s2", 2): 4}
    ports = json.loads((out / "summary.json").read_text())["ports"]
    assert {(one["switch"], one["port"]): one["dequeued"] for one in ports} == sent_by_port(out)
    for name in ("s1-eth1_in", "s1-eth2_out", "s2-eth2_in", "s2-eth1_out"):
        assert captured(out / f"pcaps/{name}.pcap") == [IPS["h2"]] * 4, name
    for name in ("s2-eth1_in", "s2-eth2_out", "s1-eth2_in", "s1-eth1_out"):
        assert captured(out / f"pcaps/{name}.pcap") == [IPS["h1"]] * 4, name


def sent_by_port(out: Path) -> dict[tuple[str, int], int]:
    """The packets that left each port, from the ledger."""
    rows = pl.read_parquet(out / "queue.parquet").filter(pl.col("event") == "dequeue")
    counted = rows.group_by("switch", "port").len().rows()
    return {(switch, port): count for switch, port, count in counted}


def captured(path: Path) -> list[str]:
    """The destinations of a file's packets."""
    with path.open("rb") as file:
        frames = [dpkt.ethernet.Ethernet(frame) for _, frame in dpkt.pcap.Reader(file)]
    return [str(IPv4Address(frame.data.dst)) for frame in frames]


@needs_dpdk
@needs_namespaces
def test_a_link_has_its_rate(tmp_path: Path, nothing_left: None) -> None:
    """25 datagrams of 1,250 bytes, sent at once, take 1 ms each on a link of 10 Mb/s."""
    path = write_lab(tmp_path)
    send = (
        "import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); "
        f"[s.sendto(bytes(1208), ('{IPS['h2']}', 9)) for _ in range(25)]"
    )
    said = f"h1 {shlex.join((sys.executable, '-c', send))}\nh1 sleep 0.2\n"
    ran = lab(tmp_path, "--grpc-port", "0", "--no-capture", str(path), said=said)
    assert ran.returncode == 0, ran.stderr
    out = tmp_path / "results/lab"
    rows = pl.read_parquet(out / "queue.parquet").filter(
        (pl.col("switch") == "s1") & (pl.col("port") == 2) & (pl.col("event") == "dequeue")
    )
    assert rows["length_bytes"].to_list() == [1250] * 25
    times_us = [time_ps // 1_000_000 for time_ps in rows["time_ps"].to_list()]
    gaps_us = [after - before for before, after in pairwise(times_us)]
    # The queue does not run empty before the last packets: they come at the host's speed.
    assert gaps_us.count(1000) >= 20 and min(gaps_us) >= 1000, gaps_us
    assert not list((out / "pcaps").iterdir())


@needs_dpdk
@needs_namespaces
def test_another_terminal_reaches_a_lab_and_ends_it(tmp_path: Path, nothing_left: None) -> None:
    path = write_lab(tmp_path)
    up = lab(tmp_path, "--grpc-port", "0", "--detach", str(path))
    try:
        assert up.returncode == 0 and "lab is up" in up.stdout, up.stdout + up.stderr
        [number] = {name.split("-")[0][2:] for name in machine_state() if name.startswith("nw")}
        ran = at(
            tmp_path, number, "exec", "h2", "sh", "-c", "getent ahostsv4 h1 | head -n 1; exit 3"
        )
        assert ran.returncode == 3 and ran.stdout.split() == [IPS["h1"], "STREAM", "h1"], ran
        ran = at(tmp_path, number, "exec", "h3", "true")
        assert ran.returncode == 2 and "h3: no such host; expected h1, h2" in ran.stderr
    finally:
        ran = at(tmp_path, number, "down")
    assert (ran.returncode, ran.stdout) == (0, "results: results/lab\n"), ran
    assert json.loads((tmp_path / "results/lab/summary.json").read_text())["schema"] == 1
    ran = at(tmp_path, number, "exec", "h1", "true")
    assert ran.returncode == 2 and "none is running" in ran.stderr


def at(folder: Path, number: str, *words: str) -> subprocess.CompletedProcess[str]:
    """A command about the lab of this number; other tests may have one too."""
    return subprocess.run(
        command("lab", *words), cwd=folder, env=environment() | {"NARROWS_LAB": number},
        stdin=subprocess.DEVNULL, text=True, capture_output=True, check=False, timeout=60,
    )  # fmt: skip


@needs_dpdk
@needs_namespaces
def test_an_entry_that_the_program_lacks_is_named(tmp_path: Path, nothing_left: None) -> None:
    path = write_lab(tmp_path)
    runtime = tmp_path / "s2-runtime.json"
    runtime.write_text(runtime.read_text().replace("ipv4_lpm", "ipv6_lpm"))
    ran = lab(tmp_path, "--grpc-port", "0", str(path))
    assert ran.returncode == 2 and "s2-runtime.json: " in ran.stderr, ran
    assert "ipv6_lpm" in ran.stderr


@needs_dpdk
@needs_namespaces
def test_the_tutorials_own_options_start_a_lab(tmp_path: Path, nothing_left: None) -> None:
    """As the tutorials' Makefile calls its runner, from the exercise's folder, with the topology in
    a folder below it. s2 has no runtime file, so it keeps the program of `-j`.
    """
    folder = tmp_path / "pod-topo"
    folder.mkdir()
    switches = {"s1": {"runtime_json": "pod-topo/s1-runtime.json"}, "s2": {}}
    write_lab(folder, switches=switches)
    given = ("-t", "pod-topo/topology.json", "-j", str(PROGRAM), "-b", "simple_switch_grpc")
    ran = lab(tmp_path, *given, "--grpc-port", "0", said="nodes\nlinks\nh1 echo $0 'a b'\nexit\n")
    assert ran.returncode == 0, ran.stderr
    lines = ran.stdout.splitlines()
    assert "h1 h2 s1 s2" in lines and "s1-p2 <-> s2-p2" in lines
    assert "sh a b" in lines, "the host's shell reads the line"
    assert (tmp_path / "results/lab/summary.json").is_file()
