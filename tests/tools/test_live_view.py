"""The live view: its stream and changes, whom it refuses, and the page in a browser."""

from __future__ import annotations

import json
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.by import By

from narrows.testbed.problems import InputError
from narrows.testbed.tools.live.feed import Change, ControlError, Feed, PortState, Snapshot
from narrows.testbed.tools.live.server import LiveServer
from tests.support import live_switch
from tests.support.browser import browser, needs_chromium, wait
from tests.support.live_switch import Between, LinuxHost, hosts  # noqa: F401
from tests.support.real_time import needs_dpdk
from tests.support.world import narrows


class Switch:
    """Stands for a switch: publishes a port, and takes changes."""

    def __init__(self) -> None:
        self.feed = Feed()
        self.changes = list[Change]()
        self.rate_bps = 20_000_000
        self.limit = 50
        self.server = LiveServer(self.feed, self.control)

    async def control(self, change: Change) -> None:
        if change.port != 2:
            raise ControlError(f"port {change.port}: no such port")
        self.changes.append(change)
        self.rate_bps = change.rate_bps or self.rate_bps
        if change.queue_limit and "packets" in change.queue_limit:
            self.limit = change.queue_limit["packets"]

    def publish(self, time_s: float) -> None:
        sent = int(self.rate_bps / 8 * time_s)
        counts = (sent, round(10 * time_s), 0, int(10 * time_s) % 40, 1500)
        limited = PortState("port 2", 2, self.rate_bps, {"packets": self.limit}, *counts)
        free = PortState("port 1", 1, None, {"packets": 64}, 0, 0, 0, 0, 0)
        self.feed.publish(Snapshot(time_s, [free, limited], {"flow 1": 14_480}))


@pytest.fixture
def switch() -> Iterator[Switch]:
    made = Switch()
    with made.server:
        yield made


def fetch(url: str, body: object = None, **headers: str) -> tuple[int, str]:
    content = None if body is None else json.dumps(body).encode()
    asked = urllib.request.Request(url, content, headers)
    try:
        with urllib.request.urlopen(asked, timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def first_event(url: str) -> Any:
    with urllib.request.urlopen(url + "events", timeout=10) as stream:
        return json.loads(stream.readline().decode().removeprefix("data: "))


def test_the_stream_has_the_latest_snapshot(switch: Switch) -> None:
    for time_s in (0.1, 0.2, 0.3):
        switch.publish(time_s)
    event = first_event(switch.server.address)
    assert event["time_s"] == 0.3
    assert event["ports"][1]["transmitted_bytes"] == 750_000
    assert event["windows_bytes"] == {"flow 1": 14_480}


def test_a_change_reaches_the_controller(switch: Switch) -> None:
    address = switch.server.address + "change"
    own = {"X-Narrows": "1"}
    assert fetch(address, {"port": 2, "rate_bps": 5_000_000}, **own)[0] == 200
    assert fetch(address, {"port": 2, "queue_limit": {"bytes": 30_000}}, **own)[0] == 200
    assert switch.changes == [
        Change(2, rate_bps=5_000_000),
        Change(2, queue_limit={"bytes": 30_000}),
    ]


def test_a_refused_change_has_its_reason(switch: Switch) -> None:
    body = {"port": 7, "rate_bps": 5_000_000}
    code, said = fetch(switch.server.address + "change", body, **{"X-Narrows": "1"})
    assert (code, json.loads(said)) == (409, {"error": "port 7: no such port"})


@pytest.mark.parametrize(
    "body",
    [
        [], {}, {"port": 2}, {"port": 2, "rate_bps": 0}, {"port": 2, "rate_bps": "5"},
        {"port": 2, "rate_bps": True}, {"port": -1, "rate_bps": 5}, {"port": 2, "x": 1},
        {"port": 2, "queue_limit": 5}, {"port": 2, "queue_limit": {"bdp": 1}},
        {"port": 2, "queue_limit": {"packets": 2**64}}, {"port": 2, "x": "y" * 1000},
    ],
)  # fmt: skip
def test_a_wrong_change_is_refused(switch: Switch, body: object) -> None:
    code, _ = fetch(switch.server.address + "change", body, **{"X-Narrows": "1"})
    assert code == 400 and not switch.changes


def test_a_change_without_end_is_not_kept(switch: Switch) -> None:
    """The server answers after the first kilobyte of a body that never ends."""
    port = int(switch.server.address.rsplit(":", 1)[1].strip("/"))
    head = f"POST /change HTTP/1.1\r\nHost: localhost:{port}\r\nX-Narrows: 1\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(f"{head}Content-Length: {10**12}\r\n\r\n{'x' * 2000}".encode())
        assert connection.recv(100).startswith(b"HTTP/1.1 400")


def test_other_sites_are_refused(switch: Switch) -> None:
    body = {"port": 2, "rate_bps": 5_000_000}
    # Without the header, as a form of another site sends it.
    assert fetch(switch.server.address + "change", body)[0] == 403
    # A name of another site that leads to this machine.
    assert fetch(switch.server.address, Host="evil.example")[0] == 400
    assert not switch.changes


def test_a_busy_port_is_named(switch: Switch) -> None:
    port = int(switch.server.address.rsplit(":", 1)[1].strip("/"))
    with pytest.raises(InputError, match=f"--live: {port}"):
        LiveServer(Feed(), switch.control, port)


def test_the_end_closes_open_streams() -> None:
    made = Switch()
    with made.server:
        made.publish(0.1)
        stream = urllib.request.urlopen(made.server.address + "events", timeout=10)
        stream.readline()
    began = time.monotonic()
    with stream:
        stream.read()
    assert time.monotonic() - began < 5


@needs_chromium
def test_the_page_shows_and_changes_a_port(switch: Switch, tmp_path: Path) -> None:
    with browser(tmp_path) as driver:
        switch.publish(0.1)
        driver.get(switch.server.address)
        began = time.monotonic()

        def lines(chart: str) -> int:
            switch.publish(0.2 + time.monotonic() - began)
            script = f"""return [...document.querySelectorAll("#{chart} .js-line")]
              .filter(line => (line.getAttribute("d") ?? "").includes("L")).length"""
            return int(driver.execute_script(script))

        for chart in ("queue-chart", "rate-chart", "drops-chart", "windows-chart"):
            wait(driver, lambda chart=chart: lines(chart) > 0)
        # The port with a rate is shown first.
        assert driver.find_element(By.ID, "port").get_attribute("value") == "2"
        assert driver.find_element(By.ID, "rate-text").text == "20.0 Mb/s"
        assert driver.find_element(By.ID, "queue-text").text == "50 packets"
        move = """const slider = document.getElementById(arguments[0]);
          slider.value = arguments[1];
          slider.dispatchEvent(new Event("input"));
          slider.dispatchEvent(new Event("change"));"""
        # A quarter of the way down is a sixteenth to the power of a half.
        driver.execute_script(move, "rate", 250)
        wait(driver, lambda: len(switch.changes) == 1)
        driver.execute_script(move, "queue", 750)
        wait(driver, lambda: len(switch.changes) == 2)
        assert switch.changes == [
            Change(2, rate_bps=5_000_000),
            Change(2, queue_limit={"packets": 200}),
        ]
        wait(driver, lambda: lines("rate-chart") and "5.00" in driver.find_element(
            By.ID, "rate-text").text)  # fmt: skip
        logs: Any = driver
        logged = [entry["message"] for entry in logs.get_log("browser")]
        assert not [line for line in logged if "favicon" not in line]
        switch.feed.close()
        wait(driver, lambda: driver.find_element(By.ID, "state").text == "the run has ended")


@live_switch.needs("iperf3")
@needs_dpdk
def test_a_switch_is_changed_through_gnmi(
    hosts: tuple[LinuxHost, LinuxHost],  # noqa: F811
) -> None:
    options = ("--rate", "2=20Mbps", "--queue", "2=50packets", "--live")
    with Between(hosts, *options) as between:
        address = between.running.wait_for("live view at").split()[-1]
        before = ports_of(address)
        assert before[2]["rate_bps"] == 20_000_000 and before[1]["rate_bps"] is None
        between.round_trips_ms(5)
        own = {"X-Narrows": "1"}
        change = address + "change"
        assert fetch(change, {"port": 2, "rate_bps": 5_000_000}, **own) == (200, "{}")
        assert fetch(change, {"port": 2, "queue_limit": {"packets": 9}}, **own) == (200, "{}")
        code, said = fetch(change, {"port": 9, "rate_bps": 5_000_000}, **own)
        assert code == 409 and "9" in json.loads(said)["error"]
        time.sleep(0.3)
        after = ports_of(address)[2]
        assert (after["rate_bps"], after["queue_limit"]) == (5_000_000, {"packets": 9})
        # Five echoes of 98 bytes.
        assert after["transmitted_bytes"] - before[2]["transmitted_bytes"] >= 5 * 98
        between.end()


def ports_of(address: str) -> dict[int, Any]:
    return {port["number"]: port for port in first_event(address)["ports"]}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--use-files", "0"], "--live: expected a live port"),
        (["-i", "1@x", "--grpc-server-ssl"], "--live: expected no --grpc-server-ssl"),
    ],
)
def test_a_view_that_cannot_be_is_refused(options: list[str], said: str) -> None:
    done = narrows("switch", "--no-p4", "--live", *options)
    assert done.returncode == 2 and said in done.stderr
