"""`narrows switch` gives up its privileges once its ports are open (proc_pid_status(5))."""

from __future__ import annotations

import os
import pwd
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from narrows.testbed.cli.main import main
from tests.support.real_time import needs_dpdk
from tests.support.switch_command import P4INFO, PROGRAM, Running, start
from tests.support.world import ROOT, environment
from tests.switch.test_switch_command import frame, write_pcap

__all__ = ["start"]

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="root is needed")
SETS = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")


def statuses(process: int) -> list[dict[str, str]]:
    """The status of each thread of a process."""
    found = []
    for task in Path(f"/proc/{process}/task").iterdir():
        lines = (task / "status").read_text().splitlines()
        found.append(
            {key: value.strip() for key, _, value in (one.partition(":") for one in lines)}
        )
    return found


def test_no_thread_can_gain_a_privilege(start: Callable[..., Running]) -> None:
    running = start(PROGRAM, "--p4info", P4INFO, "--use-files", "600")
    found = statuses(running.process.pid)
    assert len(found) > 1
    assert {status["NoNewPrivs"] for status in found} == {"1"}


@needs_root
def test_no_thread_has_a_capability(start: Callable[..., Running]) -> None:
    running = start(PROGRAM, "--p4info", P4INFO, "--use-files", "600")
    for status in statuses(running.process.pid):
        assert {int(status[name], 16) for name in SETS} == {0}


@needs_root
def test_the_switch_becomes_another_user(tmp_path: Path, start: Callable[..., Running]) -> None:
    """What it writes after that still reaches its files."""
    write_pcap(tmp_path / "a_in.pcap", [(0, frame(0))])
    tmp_path.chmod(0o700)
    nobody = pwd.getpwnam("nobody")
    running = start(
        "--no-p4", "-i", f"1@{tmp_path}/a", "--use-files", "0", "--user", "nobody",
    )  # fmt: skip
    running.wait_for("all packets processed")
    for status in statuses(running.process.pid):
        assert set(status["Uid"].split()) == {str(nobody.pw_uid)}
        assert set(status["Gid"].split()) == {str(nobody.pw_gid)}
        assert "0" not in status["Groups"].split()
        assert {int(status[name], 16) for name in SETS} == {0}
    assert running.end() == (0, "")
    assert (tmp_path / "a_out.pcap").stat().st_size == 24


@pytest.mark.parametrize(
    ("name", "message"), [("no-such-user", "there is no such user"), ("root", "without privileges")]
)
def test_a_user_that_cannot_be_is_named(
    name: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["switch", "--no-p4", "--use-files", "600", "--user", name]) == 2
    said = capsys.readouterr().err
    assert f"--user: {name}" in said and message in said


KEEPS = """
from narrows.testbed.tools.switch.privileges import Capability, gain_no_more, keep
from pathlib import Path
gain_no_more()
keep({Capability.NET_BIND_SERVICE})
print(Path("/proc/self/status").read_text())
"""


@needs_root
def test_a_capability_that_is_needed_stays() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", KEEPS], cwd=ROOT, env=environment(), capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    [line] = [line for line in ran.stdout.splitlines() if line.startswith("CapEff")]
    assert int(line.split()[1], 16) == 1 << 10


@needs_root
@needs_dpdk
def test_no_thread_of_dpdk_has_a_capability(start: Callable[..., Running]) -> None:
    """Nor has one of the data path, though both are older than the switch's last privilege."""
    running = start("--no-p4", "--port", "1=net_ring0")
    found = statuses(running.process.pid)
    names = {status["Name"] for status in found}
    assert "data path" in names and any(name.startswith("eal-intr") for name in names), names
    for status in found:
        assert {int(status[name], 16) for name in SETS} == {0}, status["Name"]
    assert running.end() == (0, "")


@needs_root
@needs_dpdk
def test_live_ports_are_given_up_too(start: Callable[..., Running]) -> None:
    """The socket has the mode that only its owner can use."""
    # The kernel takes a socket's path of at most 107 bytes; a temporary directory's may be longer.
    with tempfile.TemporaryDirectory(dir="/tmp") as place:
        socket = Path(place) / "socket"
        device = f"net_memif0,role=server,id=0,socket={socket},socket-abstract=no"
        running = start("--no-p4", "--port", f"1={device}", "--user", "nobody")
        assert stat.S_IMODE(socket.stat().st_mode) == 0o600
        for status in statuses(running.process.pid):
            assert int(status["CapPrm"], 16) == 0
            assert "0" not in status["Uid"].split()
        assert running.end() == (0, "")
