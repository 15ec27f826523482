"""iperf3, curl and nc as peers of our TCP, which relays them to a socket on this machine."""

from __future__ import annotations

import hashlib
import json
import random
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.interop.conftest import MakePair
from tests.interop.stack import CHUNK_BYTES, Ours, Pair, Theirs
from tests.support.needs import programs

SEED = 5


def needs(program: str) -> pytest.MarkDecorator:
    return programs(program)


class Relay:
    """Our listening port, each of whose connections becomes one to a socket on this machine."""

    def __init__(self, pair: Pair, port: int, to_port: int) -> None:
        self.pair, self.to_port = pair, to_port
        self.links: list[tuple[Ours, Theirs]] = []
        pair.listen(port)
        pair.on_step.append(self.work)

    def work(self) -> None:
        while self.pair.accepted:
            sock = socket.create_connection(("127.0.0.1", self.to_port))
            sock.setblocking(False)
            self.links.append((self.pair.accepted.pop(0), Theirs(sock)))
        for ours, local in self.links:
            local.to_write += ours.received
            ours.received.clear()
            if ours.connection.is_read_to_end and not local.has_closed:
                local.closes = True
            # The path's speed limits how much we accept.
            local.reads = len(ours.to_write) < CHUNK_BYTES
            local.work()
            ours.to_write += local.received
            local.received.clear()
            ours.closes |= local.has_ended

    def close(self) -> None:
        for _, local in self.links:
            local.socket.close()


@contextmanager
def serving(content: bytes) -> Iterator[tuple[int, list[bytes]]]:
    """An HTTP server on this machine: its port, and the uploaded data."""
    uploads: list[bytes] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def do_PUT(self) -> None:
            uploads.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_port, uploads
        server.shutdown()
        thread.join()


def run(pair: Pair, *command: str, stdin: bytes = b"") -> bytes:
    """Runs a program in the kernel's namespace while the loop goes on; returns what it printed."""
    with subprocess.Popen(
        pair.host.command(*command),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as process:
        output: list[bytes] = []
        talk = threading.Thread(target=lambda: output.append(process.communicate(stdin)[0]))
        talk.start()
        try:
            pair.run_until(lambda: not talk.is_alive())
        finally:
            process.kill()
            talk.join()
    assert process.returncode == 0, output[0].decode()
    return output[0]


@needs("curl")
@pytest.mark.parametrize(("ip_version", "loss"), [(4, 0.0), (4, 0.01), (6, 0.0), (6, 0.01)])
def test_curl_fetches_and_uploads(
    make_pair: MakePair, tmp_path: Path, ip_version: int, loss: float
) -> None:
    content = random.Random(SEED).randbytes(2_000_000)
    pair = make_pair(ip_version=ip_version, delay_ms=1, loss=loss)
    with serving(content) as (port, uploads):
        relay = Relay(pair, 8080, port)
        address = pair.our_ip if ip_version == 4 else f"[{pair.our_ip}]"
        url = f"http://{address}:8080/"
        fetched = tmp_path / "fetched"
        run(pair, "curl", "-sS", "--max-time", "20", "-o", str(fetched), url, url)
        assert hashlib.sha256(fetched.read_bytes()).digest() == hashlib.sha256(content).digest()
        source = tmp_path / "source"
        source.write_bytes(content)
        run(pair, "curl", "-sS", "--max-time", "20", "-T", str(source), url)
        assert uploads == [content]
        relay.close()


@needs("iperf3")
@pytest.mark.parametrize("ip_version", [4, 6])
@pytest.mark.parametrize("reverse", [False, True], ids=["to us", "from us"])
def test_iperf3_sends_to_us_and_reads_all_from_us(
    make_pair: MakePair, reverse: bool, ip_version: int
) -> None:
    pair = make_pair(ip_version=ip_version, delay_ms=1)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = subprocess.Popen(
        ["iperf3", "--server", "--one-off", "--bind", "127.0.0.1", "--port", str(port)],
        stdout=subprocess.DEVNULL,
    )
    try:
        relay = Relay(pair, 5201, port)
        wait_for_listener(port)
        options = ["--bytes", "4000000", "--json", *(["--reverse"] if reverse else [])]
        report = json.loads(run(pair, "iperf3", "--client", pair.our_ip, *options))
        relay.close()
    finally:
        server.kill()
        server.wait()
    assert "error" not in report
    if reverse:
        assert report["end"]["sum_received"]["bytes"] >= 4_000_000
    else:
        # The server stops reading when the client reports its end on the control connection,
        # whatever is still in flight. The data connection begins with a cookie of 37 bytes.
        sent, received = (report["end"][key]["bytes"] for key in ("sum_sent", "sum_received"))
        delivered = max(ours.figure("delivered_bytes") for ours, _ in relay.links)
        assert received + 37 <= delivered <= sent + 37
        assert sent >= 4_000_000 and delivered > 1_000_000


def wait_for_listener(port: int) -> None:
    """Waits until something listens on a port of this machine, without connecting to it."""
    table = Path("/proc/net/tcp")
    entry = f"0100007F:{port:04X} 00000000:0000 0A"
    for _ in range(500):
        if entry in table.read_text():
            return
        threading.Event().wait(0.01)
    raise AssertionError(f"nobody listens on port {port}")


@needs("nc")
def test_nc_sends_and_receives(make_pair: MakePair) -> None:
    pair = make_pair(delay_ms=1, loss=0.01)
    content = random.Random(SEED).randbytes(300_000)
    pair.listen(7000)

    def answer() -> None:
        for ours in pair.accepted:
            if ours.connection.is_read_to_end and not ours.closes and not ours.to_write:
                ours.to_write += hashlib.sha256(ours.received).hexdigest().encode()
                ours.closes = True

    pair.on_step.append(answer)
    printed = run(pair, "nc", "-n", "-N", pair.our_ip, "7000", stdin=content)
    assert printed.decode() == hashlib.sha256(content).hexdigest()


def has_answer(ours: Ours) -> bool:
    return bool(ours.connection.state != "SYN-SENT")


@needs("nc")
def test_nc_listens(make_pair: MakePair) -> None:
    pair = make_pair()
    process = subprocess.Popen(
        pair.host.command("nc", "-n", "-l", "-N", pair.their_ip, "7001"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
    )
    try:
        # The port may not listen yet: if refused, connect again.
        for _ in range(100):
            ours = pair.connect(7001)
            if pair.runs_for(1, partial(has_answer, ours)) and not ours.connection.was_reset:
                break
            pair.runs_for(0.02)
        ours.to_write += b"across the border"
        ours.closes = True
        pair.run_until(lambda: ours.connection.is_read_to_end)
        assert process.communicate(timeout=10)[0] == b"across the border"
    finally:
        process.kill()
        process.wait()
