"""Background traffic as pktgen's scripts: the phases against arithmetic, the script against pktgen.

NARROWS_PKTGEN names the `pktgen` of DPDK 22.11 or later, which is started as root on a tap.
"""

from __future__ import annotations

import json
import os
import pty
import re
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections import Counter
from pathlib import Path

import dpkt
import polars as pl
import pytest

from narrows.testbed import engine
from narrows.testbed.cli.main import main
from narrows.testbed.scenario import sweep
from narrows.testbed.scenario.plan import make_plan
from narrows.traffic.pktgen.profile import SLOT_PS, Phase, ProfileError, Stream, phases
from narrows.traffic.pktgen.script import script
from tests.support.world import narrows
from tests.traffic.test_generate import SCENARIO as BACKGROUND

MS = 10**9
PKTGEN = os.environ.get("NARROWS_PKTGEN")
GBPS = 10**9
SCENARIO = BACKGROUND.replace('duration = "1s"', 'duration = "2s"')


def stream(at_ps: list[int], payload_bytes: int = 1000) -> Stream:
    macs = ("02:00:00:00:00:01", "02:ff:00:01:00:01")
    return Stream("f", *macs, "10.0.0.1", "10.1.0.1", 10001, 5001, payload_bytes, at_ps)


def test_a_constant_rate_is_one_phase() -> None:
    # 100 packets a second for 2 s: one a slot.
    [phase] = phases(stream([n * SLOT_PS for n in range(200)]))
    assert phase == Phase(0, 200 * SLOT_PS, 200)
    assert phase.packets_per_second == 100
    # 7 a second: a packet every 14.28 slots, mostly none.
    [phase] = phases(stream([n * 10**12 // 7 for n in range(70)]))
    assert phase.packets == 70
    assert phase.packets_per_second == pytest.approx(7, rel=0.02)


def test_bursts_and_pauses_are_phases() -> None:
    # 50 ms of 1,000 a second, 100 ms of nothing, three times, from 30 ms on.
    starts = [(30 + 150 * n) * MS for n in range(3)]
    found = phases(stream([start + n * MS for start in starts for n in range(50)]))
    assert list(found) == [Phase(start, 50 * MS, 50) for start in starts]


def test_nothing_is_lost_or_added() -> None:
    at = sorted((n * 7919 * MS) % (1500 * MS) for n in range(4001))
    found = list(phases(stream(at)))
    assert sum(phase.packets for phase in found) == 4001
    for phase in found:
        end = phase.start_ps + phase.length_ps
        assert phase.packets == sum(phase.start_ps <= one < end for one in at)


def test_frames_are_padded_or_refused() -> None:
    # 8 of UDP, 20 of IP, 14 of Ethernet, 4 of check sequence.
    assert stream([0], 500).frame_bytes == 546
    assert stream([0], 1).frame_bytes == 64
    assert stream([0], 1472).frame_bytes == 1518
    with pytest.raises(ProfileError, match="messages of 1473 B: expected 1472 at most"):
        _ = stream([0], 1473).frame_bytes


def test_the_rate_is_a_share_of_the_link() -> None:
    # 1,000 packets a second of 1,046 + 20 bytes; a link of 1 Gb/s carries 117,260 of them.
    text = script("t", [stream([n * MS for n in range(1000)])], GBPS)
    [percent] = re.findall(r'^phase\(0, "0", 1000, ([\d.]+)\)$', text, re.M)
    assert 117_260 * float(percent) / 100 == pytest.approx(1000.5, abs=0.01)
    with pytest.raises(ProfileError, match="1000 packets per second; the link carries 117"):
        script("t", [stream([n * MS for n in range(1000)])], 10**6)


def test_phases_of_streams_are_in_the_order_of_time() -> None:
    first = stream([n * SLOT_PS for n in range(3)])
    second = stream([5 * MS + 2 * SLOT_PS + n * MS for n in range(15)])
    text = script("t", [first, second], GBPS)
    calls = re.findall(r'^phase\((\d+), "(\d)", (\d+),', text, re.M)
    assert calls[0][:2] == ("0", "0")
    assert sum(int(packets) for _, port, packets in calls if port == "1") == 15


def command(tmp_path: Path, *more: str) -> tuple[int, Path]:
    """`narrows pktgen` on the scenario."""
    source, out = tmp_path / "s.toml", tmp_path / "s.lua"
    source.write_text(SCENARIO)
    return main(["pktgen", str(source), "--out", str(out), *more]), out


def test_a_scenarios_background_is_what_its_hosts_write(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out = command(tmp_path)
    said = capsys.readouterr().out
    assert code == 0
    # 1.5 s of 200 messages a second; bulk has none.
    assert "port 0: flow.1 (cbr x 1): 300 packets of 546 B" in said
    assert "port 1: flow.2 (on-off x 2): " in said
    text = out.read_text()
    assert 'source_ip = "10.0.0.2", destination_ip = "10.1.0.2"' in text
    assert "source_port = 10002, destination_port = 5001" in text
    assert re.search(r'^phase\(\d+, "0", 300,', text, re.M)
    again, same = command(tmp_path, "--set", "seed=1")
    assert (again, same.read_text()) == (0, text)
    other, changed = command(tmp_path, "--set", "seed=2")
    assert other == 0
    assert changed.read_text() != text


def test_it_is_written_when_the_scenarios_hosts_write(tmp_path: Path) -> None:
    source = tmp_path / "s.toml"
    source.write_text(SCENARIO)
    [point] = sweep.read(source)
    plan = make_plan(point.scenario, str(source))
    found = engine.application_messages(json.dumps(plan), plan["duration_ps"] or 0)
    engine.run(json.dumps(plan), str(tmp_path))
    table = pl.read_parquet(tmp_path / "messages.parquet").sort("flow", "message")
    for flow in (2, 3, 4):
        ours = [(at, length) for number, at, length in found if number == flow]
        rows = table.filter(pl.col("flow") == flow)
        theirs = list(rows.select("written_ps", "length_bytes").iter_rows())
        # The last ones were not read when the run ended.
        assert 0 <= len(ours) - len(theirs) <= 50
        assert ours[: len(theirs)] == theirs
    assert {number for number, _, _ in found} == {2, 3, 4}


def test_a_scenario_without_background(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "s.toml"
    source.write_text(SCENARIO.split('[[flow]]\nvariant = "reno"\nstart')[0])
    assert main(["pktgen", str(source), "--out", str(tmp_path / "x")]) == 2
    assert "no background traffic" in capsys.readouterr().err
    code, _ = command(tmp_path, "--set", 'duration="completion"')
    assert code == 2
    code, _ = command(tmp_path, "--link", "500kbps")
    assert code == 2
    assert "the link carries" in capsys.readouterr().err


TAP = "nrwpktgen0"


def lacking() -> str | None:
    """Why pktgen can't be run here."""
    if not PKTGEN:
        return "NARROWS_PKTGEN does not name DPDK's pktgen"
    if os.geteuid() != 0:
        return "not root (pktgen sends to a tap)"
    return None if shutil.which("ip") else "ip is not installed"


def received(until: threading.Event, frames: list[bytes]) -> None:
    """The IPv4 packets of UDP that come out of the tap."""
    while not until.is_set():
        up = subprocess.run(["ip", "link", "set", TAP, "up"], capture_output=True, check=False)
        if up.returncode == 0:
            break
        time.sleep(0.02)
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) as tap:
        tap.setsockopt(socket.SOL_SOCKET, 33, 1 << 26)  # SO_RCVBUFFORCE
        tap.bind((TAP, 0x0800))
        tap.settimeout(0.2)
        while not until.is_set():
            try:
                frame = tap.recv(2048)
            except TimeoutError:
                continue
            except OSError:
                return
            if frame[23] == 17:
                frames.append(frame)


@pytest.mark.skipif(lacking() is not None, reason=str(lacking()))
def test_pktgen_sends_what_the_script_says(tmp_path: Path) -> None:
    cut = SCENARIO.split('[[flow]]\nvariant = "reno"\ncount')[0]
    (tmp_path / "s.toml").write_text(cut)
    out = tmp_path / "s.lua"
    assert main(["pktgen", str(tmp_path / "s.toml"), "--out", str(out)]) == 0
    done = tmp_path / "done"
    with out.open("a") as text:
        text.write(f'io.open("{done}", "w"):close()\n')
    frames, ended = list[bytes](), threading.Event()
    reader = threading.Thread(target=received, args=(ended, frames))
    # It wants a terminal, 1.5 GB without hugepages, and two cores.
    ours, theirs = pty.openpty()
    eal = ["-l", "0-1", "--no-pci", "--no-huge", "-m", "1500", "--file-prefix", TAP]
    arguments = [*eal, f"--vdev=net_tap0,iface={TAP}", "--", "-T", "-m", "1.0", "-f", str(out)]
    assert PKTGEN
    process = subprocess.Popen(
        [PKTGEN, *arguments], stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
    )
    os.close(theirs)
    drained = threading.Thread(target=drain, args=(ours,))
    drained.start()
    reader.start()
    try:
        until = time.monotonic() + 60
        while not done.exists():
            assert process.poll() is None, f"pktgen ended with {process.returncode}"
            assert time.monotonic() < until, "the script did not end"
            time.sleep(0.1)
        time.sleep(1)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
        ended.set()
        reader.join()
        drained.join()
        os.close(ours)
        shutil.rmtree(f"/var/run/dpdk/{TAP}", ignore_errors=True)
    # Exactly the script's packets for one stream: 300 messages of 500 B.
    sent, capture = Counter(map(unnumbered, frames)), tmp_path / "ours.pcap"
    [(one, count)] = sent.items()
    assert (socket.inet_ntoa(one[26:30]), int.from_bytes(one[34:36], "big")) == ("10.0.0.2", 10002)
    assert (count, len(one)) == (300, 542)
    # Our generator's are the same, byte for byte.
    generate = ["generate", str(tmp_path / "s.toml"), "--count", "20"]
    assert narrows(*generate, "--port", f"net_pcap0,tx_pcap={capture}").returncode == 0
    with capture.open("rb") as file:
        assert {unnumbered(frame) for _, frame in dpkt.pcap.Reader(file)} == {one}


def unnumbered(frame: bytes) -> bytes:
    """A packet without its identification, which pktgen counts, and the checksum over it."""
    return frame[:18] + bytes(2) + frame[20:24] + bytes(2) + frame[26:]


def drain(terminal: int) -> None:
    """Reads its screen output, so that it is not blocked."""
    try:
        while os.read(terminal, 65536):
            pass
    except OSError:
        return
