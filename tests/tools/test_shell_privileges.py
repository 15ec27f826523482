"""`narrows shell` gives up its privileges before its program runs (proc_pid_status(5))."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import pytest

from narrows.testbed.problems import InputError
from narrows.testbed.targets.linux.namespaces import missing
from narrows.testbed.tools.shell import asker
from narrows.testbed.tools.shell.asker import Asker
from tests.support.needs import programs, without
from tests.support.real_time import needs_dpdk
from tests.support.world import ROOT, environment
from tests.tools.test_shell import SERVER, nothing_left, readable_by_all
from tests.tools.test_shell import shell as shell_command

__all__ = ["nothing_left"]

needs_namespaces = without(missing())
NOBODY = 65534
LOOK = 'cat /proc/$$/status; echo; cat /proc/$PPID/task/*/status; kill -USR1 $$; echo "$HOME"'
"""The program's status, then those of the shell's threads."""
SETS = ("CapInh", "CapPrm", "CapEff", "CapAmb")


def looked(out: Path, **variables: str) -> tuple[dict[str, set[str]], dict[str, set[str]], str]:
    """What the program and the shell are: each key of their status with its values, and the
    program's home.
    """
    words = ["--out", str(out), "--server", SERVER, "--rate", "20Mbps"]
    done = subprocess.run(
        shell_command(*words, "--", "sh", "-c", f"trap : USR1; {LOOK}"),
        capture_output=True, text=True, timeout=120, check=False, env=environment() | variables,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    program, _, rest = done.stdout.partition("\n\n")
    shell, _, home = rest.rstrip().rpartition("\n")
    return statuses(program), statuses(shell), home


def statuses(text: str) -> dict[str, set[str]]:
    found = defaultdict[str, set[str]](set)
    for line in text.splitlines():
        key, _, value = line.partition(":")
        found[key].add(value.strip())
    return found


@needs_dpdk
@needs_namespaces
@pytest.mark.usefixtures("nothing_left")
def test_the_program_keeps_what_the_shell_gives_up(tmp_path: Path) -> None:
    program, shell, _ = looked(tmp_path)
    assert len(shell["Pid"]) > 2
    for name in SETS:
        assert {int(value, 16) for value in shell[name]} == {0}, name
    assert shell["NoNewPrivs"] == {"1"} and {int(value, 16) for value in shell["CapBnd"]} == {0}
    own = statuses(Path("/proc/self/status").read_text())
    for name in (*SETS, "CapBnd", "NoNewPrivs", "Uid"):
        assert program[name] == own[name], name


@needs_dpdk
@needs_namespaces
@programs("setpriv")
@pytest.mark.usefixtures("nothing_left")
def test_whoever_called_sudo_runs_the_program() -> None:
    if not readable_by_all(Path(sys.executable), Path(os.__file__), ROOT / "pyproject.toml"):
        pytest.skip("another user cannot read this checkout")
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o711)
        out = Path(name) / "results"
        program, shell, home = looked(out, SUDO_UID=str(NOBODY))
        for one in (program, shell):
            assert {uid for value in one["Uid"] for uid in value.split()} == {str(NOBODY)}
            assert {int(value, 16) for value in one["CapPrm"]} == {0}
        assert program["NoNewPrivs"] == {"0"} and home != os.environ.get("HOME")
        owners = {path.stat().st_uid for path in (out, *out.rglob("*"))}
        assert owners == {NOBODY}


def test_only_sudo_says_who_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asker, "is_root_of_all", lambda: True)
    monkeypatch.delenv("SUDO_UID", raising=False)
    assert Asker.find(None).account is None
    monkeypatch.setenv("SUDO_UID", str(NOBODY))
    found = Asker.find(None)
    assert found.uid == NOBODY and found.command(["id"])[-2:] == ["--", "id"]
    assert Asker.find("root").account is None
    monkeypatch.setattr(asker, "is_root_of_all", lambda: False)
    assert Asker.find(None).account is None


def test_results_of_another_user_are_refused(tmp_path: Path) -> None:
    """Without privileges, root could not replace them."""
    (tmp_path / "points.json").touch()
    Asker(tmp_path.stat().st_uid, (), None).check(tmp_path)
    if os.geteuid() == 0:
        os.chown(tmp_path / "points.json", NOBODY, -1)
        with pytest.raises(InputError, match=r"points\.json: belongs to another user"):
            Asker(0, (), None).check(tmp_path)


def test_a_closed_directory_is_refused(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    with pytest.raises(InputError, match="is closed to the user that the shell becomes"):
        Asker(closed.stat().st_uid + 1, (), None).check(closed / "results")
