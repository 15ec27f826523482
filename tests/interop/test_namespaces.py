"""Namespaces leave nothing behind, however their owner ends."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from narrows.testbed.targets.linux.namespaces import NAMESPACES, Plumbing, PlumbingError, sweep

OWNER = """
import sys
from narrows.testbed.targets.linux.namespaces import Plumbing
with Plumbing() as plumbing:
    host = plumbing.add_host("a", "10.0.0.1", "02:00:00:00:00:01", "02:00:00:00:00:02")
    print(host.name, host.outside, flush=True)
    sys.stdin.read()
"""


def stands(namespace: str, outside: str) -> bool:
    found = {(NAMESPACES / namespace).exists(), Path("/sys/class/net", outside).exists()}
    assert len(found) == 1, "a namespace without its veth, or a veth without its namespace"
    return found.pop()


@pytest.mark.parametrize(
    ("end", "is_left"),
    [(None, False), (signal.SIGINT, False), (signal.SIGKILL, True)],
    ids=["done", "interrupted", "killed"],
)
@pytest.mark.usefixtures("plumbing")
def test_the_next_owner_sweeps_what_a_killed_one_left(
    end: signal.Signals | None, is_left: bool
) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", OWNER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as owner:
        assert owner.stdout
        names = owner.stdout.readline().split()
        sweep()
        assert stands(*names), "its owner lives"
        if end:
            owner.send_signal(end)
        owner.communicate()
    assert stands(*names) is is_left
    sweep()
    assert not stands(*names)


def test_processes_inside_end_with_the_namespace(plumbing: Plumbing) -> None:
    with Plumbing() as other:
        host = other.add_host("b", "10.0.0.1", "02:00:00:00:00:01", "02:00:00:00:00:02")
        command = host.command("sh", "-c", "echo; exec sleep 60")
        sleeper = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert sleeper.stdout
        sleeper.stdout.readline()
    with sleeper:
        assert sleeper.wait(timeout=10) == -signal.SIGKILL


def test_a_name_that_no_interface_can_have_is_refused(plumbing: Plumbing) -> None:
    with pytest.raises(PlumbingError, match='host name "Sender 1"; expected 1 to 9 lower-case'):
        plumbing.add_host("Sender 1", "10.0.0.1", "02:00:00:00:00:01", "02:00:00:00:00:02")
