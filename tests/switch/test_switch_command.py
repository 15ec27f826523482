"""`narrows switch` with pcap-file ports, from outside: files, controllers, signals."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dpkt.pcap
import finsy as fy
import pytest

from tests.support.switch_command import P4INFO, PROGRAM, Running
from tests.support.world import ROOT, narrows

GOLDEN = ROOT / "switch/tests/golden/bmv2.json"
COLLECTOR = 3

OF_THE_RUN = ((43, 46), (66, 70), (71, 74), (74, 90), (102, 110))
"""Of a report: sequence number, hop latency, depth, timestamps, queueing delay, depth
(p4/headers.p4, as in switch/tests/golden_bmv2.rs)."""


def write_pcap(path: Path, packets: list[tuple[int, bytes]]) -> None:
    """Packets at times in nanoseconds, byte by byte as the format has it (nanosecond magic)."""
    data = bytes.fromhex("4d3cb2a1 0200 0400 00000000 00000000 00000400 01000000")
    for time_ns, frame in packets:
        numbers = (time_ns // 10**9, time_ns % 10**9, len(frame), len(frame))
        data += b"".join(number.to_bytes(4, "little") for number in numbers) + frame
    path.write_bytes(data)


def read_pcap(path: Path) -> list[tuple[int, bytes]]:
    with path.open("rb") as file:
        return [(int(time_s * 10**9), frame) for time_s, frame in dpkt.pcap.Reader(file)]


def as_finsy(match: dict[str, Any]) -> Any:
    [(kind, value)] = match.items()
    if kind == "exact":
        return int(value, 0)
    return (int(value[0], 0), value[1] if kind == "lpm" else int(value[1], 0))


def entry(given: dict[str, Any]) -> fy.P4TableEntry:
    """An entry of the recording in finsy's form."""
    matches = {name: as_finsy(match) for name, match in given["matches"].items()}
    by_priority = any("ternary" in match for match in given["matches"].values())
    params = {name: int(value, 0) for name, value in given["params"].items()}
    return fy.P4TableEntry(
        given["table"],
        match=fy.P4TableMatch({name: value for name, value in matches.items() if value != (0, 0)}),
        action=fy.P4TableAction(given["action"], **params),
        priority=given["priority"] if by_priority else 0,
    )


async def set_up(address: str, entities: list[Any]) -> None:
    options = fy.SwitchOptions(device_id=0, p4info=P4INFO, p4blob=PROGRAM)
    async with fy.Switch("sw", address, options) as switch:
        await switch.write(entities)


def timeless(reports: list[bytes]) -> list[bytes]:
    cleared = []
    for report in map(bytearray, reports):
        for start, end in OF_THE_RUN:
            report[start:end] = bytes(end - start)
        cleared.append(bytes(report))
    return sorted(cleared)


def test_a_controller_and_225_packets_give_bmv2s_bytes(
    tmp_path: Path, start: Callable[..., Running]
) -> None:
    recording = json.loads(GOLDEN.read_text())
    ports = sorted({packet["port"] for packet in recording["sent"]} | {1, 2, COLLECTOR})
    begin = 1_700_000_000_123_456_789
    for port in ports:
        packets = [
            (begin + 2_000_000 * number, bytes.fromhex(packet["bytes"]))
            for number, packet in enumerate(recording["sent"])
            if packet["port"] == port
        ]
        write_pcap(tmp_path / f"p{port}_in.pcap", packets)
    interfaces = [text for port in ports for text in ("-i", f"{port}@{tmp_path}/p{port}")]
    running = start("--no-p4", *interfaces, "--use-files", "0", "--after-controller")
    session = fy.P4CloneSessionEntry(session_id=1, replicas=[COLLECTOR])
    entities = [+entry(given) for given in recording["entries"]]
    asyncio.run(set_up(running.address, [*entities, +session]))
    running.wait_for("all packets processed")
    code, errors = running.end()
    assert (code, errors) == (0, "")
    assert f"received {len(recording['sent'])}" in running.lines
    for port in ports:
        got = read_pcap(tmp_path / f"p{port}_out.pcap")
        frames = [frame for _, frame in got]
        expected = [bytes.fromhex(text) for text in recording["received"].get(str(port), [])]
        if port == COLLECTOR:
            frames, expected = timeless(frames), timeless(expected)
        assert [frame.hex() for frame in frames] == [frame.hex() for frame in expected], port
        # Without a rate, a packet leaves at the instant of an arrival.
        assert all((time_ns - begin) % 2_000_000 == 0 for time_ns, _ in got)


def frame(number: int, length: int = 1000) -> bytes:
    """An IPv4 packet without options, its checksum right, to 10.0.0.1."""
    ip = bytearray.fromhex("45000000000000004011000001020304 0a000001")
    ip[2:4] = (length - 14).to_bytes(2, "big")
    total = sum(int.from_bytes(ip[at : at + 2], "big") for at in range(0, 20, 2))
    total = (total & 0xFFFF) + (total >> 16)
    ip[10:12] = (0xFFFF - total).to_bytes(2, "big")
    head = bytes.fromhex("020000000001 020000000002 0800") + ip
    return head + number.to_bytes(4, "big") + bytes(length - 38)


def route_to_2() -> fy.P4TableEntry:
    """A new entry: finsy inserts each object once."""
    return +fy.P4TableEntry(
        "ipv4_lpm",
        match=fy.P4TableMatch({"hdr.ipv4.dst_addr": "10.0.0.0/8"}),
        action=fy.P4TableAction("route", port=2, src_mac=1, dst_mac=2),
    )


def test_rate_and_queue_shape_what_leaves(tmp_path: Path, start: Callable[..., Running]) -> None:
    """Five packets at one instant, 8 Mb/s and room for three: a packet of 1,000 bytes takes
    1 ms, the first leaves at once, the fifth finds the queue full."""
    write_pcap(tmp_path / "a_in.pcap", [(5 * 10**9, frame(number)) for number in range(5)])
    write_pcap(tmp_path / "b_in.pcap", [])
    running = start(
        PROGRAM, "--p4info", P4INFO, "-i", f"1@{tmp_path}/a", "-i", f"2@{tmp_path}/b",
        "--rate", "2=8Mbps", "--queue", "2=3packets", "--use-files", "0", "--after-controller",
        "--log-console", "--", "--device-id", "7",
    )  # fmt: skip

    async def route() -> None:
        options = fy.SwitchOptions(device_id=7, p4info=P4INFO)
        async with fy.Switch("sw", running.address, options) as switch:
            await switch.write([route_to_2()])

    asyncio.run(route())
    running.wait_for("all packets processed")
    code, errors = running.end(signal.SIGINT)
    assert (code, errors) == (0, "")
    got = [(time_ns, packet[34:38].hex()) for time_ns, packet in read_pcap(tmp_path / "b_out.pcap")]
    assert got == [(5 * 10**9 + (n + 1) * 10**6, f"{n:08x}") for n in range(4)]
    assert "5.000000000 port 2: dropped, queue-full: 1" in running.lines
    assert "5.000000000 port 1: 1000 bytes in" in running.lines
    assert "5.004000000 port 2: 1000 bytes out" in running.lines
    assert "dropped at port 2, queue-full: 1" in running.lines


def test_without_a_program_packets_are_dropped_and_it_says_so(tmp_path: Path) -> None:
    write_pcap(tmp_path / "a_in.pcap", [(0, frame(0)), (1, frame(1))])
    ran = narrows(
        "switch", "--no-p4", "-i", f"0@{tmp_path}/a", "--use-files", "0", "--exit-at-end",
        "--grpc-server-addr", "127.0.0.1:0",
    )  # fmt: skip
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "dropped before a program was loaded: 2" in ran.stdout
    assert read_pcap(tmp_path / "a_out.pcap") == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "switch: expected a program (JSON), or --no-p4"),
        (("nowhere.json",), "nowhere.json: no such file"),
        ((P4INFO,), "not a bmv2 JSON program"),
        ((PROGRAM, "--no-p4"), "--no-p4: expected no program with it"),
        ((PROGRAM, "-i", "1@x", "--log-console"), "expected --use-files SECONDS"),
        ((PROGRAM, "--port", "1=x", "--use-files", "0"), "expected no --port with it"),
        ((PROGRAM, "--port", "1=x", "--delay", "2=1ms"), "there is no such --port"),
        ((PROGRAM, "--port", "1=x", "--delay", "1=1fish"), "--delay"),
        ((PROGRAM, "--port", "1=x", "--mbufs", "5"), "expected 512 to"),
        ((PROGRAM, "-i", "511@x", "--use-files", "0"), "expected a port from 0 to 510"),
        ((PROGRAM, "-i", "1", "--use-files", "0"), "expected PORT@NAME"),
        ((PROGRAM, "-i", "1@nowhere", "--use-files", "0"), "nowhere_in.pcap"),
        ((PROGRAM, "--rate", "1=5Mbps"), "expected the port of an --interface"),
        ((PROGRAM, "--cpu-port", "255", "--queue", "255=5fish"), "--queue"),
        ((PROGRAM, "--cpu-packets", "5"), "expected --cpu-port with it"),
        ((PROGRAM, "--cpu-port", "255", "--cpu-bytes", "5fish"), "--cpu-bytes"),
        ((PROGRAM, "--grpc-server-addr", "203.0.113.1:1"), "--grpc-server-addr"),
        ((PROGRAM, "--grpc-server-ssl"), "expected --grpc-server-cert"),
        ((PROGRAM, "--grpc-server-key", "nowhere.pem"), "expected --grpc-server-ssl with it"),
        ((PROGRAM, "--device-id", "-1"), "--device-id: -1: expected 0 to 2^64 - 1"),
        ((PROGRAM, "--poll", "--yield"), "not allowed with"),
    ],
)
def test_wrong_options_are_named(arguments: tuple[str | Path, ...], message: str) -> None:
    ran = narrows("switch", *arguments)
    assert ran.returncode == 2
    assert message in ran.stderr, ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is not a pcap file"),
        (bytes(24), "is not a pcap file"),
        (None, "ends within the header of packet 1"),
    ],
)
def test_a_broken_pcap_file_is_named(tmp_path: Path, data: bytes | None, message: str) -> None:
    path = tmp_path / "a_in.pcap"
    if data is None:
        write_pcap(path, [(0, frame(0))])
        data = path.read_bytes()[: 24 + 7]
    path.write_bytes(data)
    ran = narrows(
        "switch", PROGRAM, "-i", f"1@{tmp_path}/a", "--use-files", "0", "--exit-at-end",
        "--grpc-server-addr", "127.0.0.1:0",
    )  # fmt: skip
    assert ran.returncode == 2
    assert "a_in.pcap" in ran.stderr
    assert message in ran.stderr
    assert "Traceback" not in ran.stderr
