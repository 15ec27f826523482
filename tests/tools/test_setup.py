"""`make` on a machine that lacks something: as root, as another user, and after a build."""

from __future__ import annotations

import dataclasses
import shutil
import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest

from narrows.testbed import needs
from narrows.testbed.paths import ROOT
from narrows.testbed.tools import bootstrap

COMPILER = next(need for need in needs.NEEDS if need.name == "C compiler")


class Machine:
    """A machine on which something is missing until its package is installed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, manager: str | None, euid: int) -> None:
        self.commands = list[str]()
        self.brings = "build-essential"
        lacking = dataclasses.replace(COMPILER, find=self.find)
        monkeypatch.setattr(needs, "NEEDS", [lacking])
        monkeypatch.setattr(needs, "package_manager", lambda: manager)
        monkeypatch.setattr("os.geteuid", lambda: euid)
        monkeypatch.setattr(
            bootstrap, "run_quietly", lambda cmd: self.commands.append(" ".join(cmd))
        )

    def find(self) -> str | None:
        return "cc" if any(self.brings in command for command in self.commands) else None


def test_as_root_the_package_manager_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(monkeypatch, "apt-get", 0)
    bootstrap.mend_machine()
    assert machine.commands == [
        "apt-get update",
        "apt-get install -y build-essential -o DPkg::Lock::Timeout=300",
    ]


@pytest.mark.parametrize(
    ("manager", "euid", "command"),
    [
        ("apt-get", 1000, "sudo apt-get install -y build-essential"),
        ("dnf", 1000, "sudo dnf install -y gcc"),
        (None, 0, "a C compiler of your system"),
    ],
)
def test_otherwise_the_exact_command_is_named(
    monkeypatch: pytest.MonkeyPatch, manager: str | None, euid: int, command: str
) -> None:
    machine = Machine(monkeypatch, manager, euid)
    with pytest.raises(bootstrap.BuildError, match="C compiler is missing") as refused:
        bootstrap.mend_machine()
    assert command in str(refused.value)
    assert not machine.commands


def test_a_package_that_does_not_help_is_no_success(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(monkeypatch, "dnf", 0)
    machine.brings = "something else"
    with pytest.raises(bootstrap.BuildError):
        bootstrap.mend_machine()


def test_an_old_rust_is_brought_up_by_rustup(monkeypatch: pytest.MonkeyPatch) -> None:
    commands = list[str]()
    old = dataclasses.replace(needs.RUST, find=lambda: None)
    monkeypatch.setattr(needs, "RUST", old)
    monkeypatch.setattr(needs, "NEEDS", [old])
    monkeypatch.setattr(shutil, "which", lambda name, path=None: f"/bin/{name}")
    monkeypatch.setattr(bootstrap, "run_quietly", lambda cmd: commands.append(" ".join(cmd)))
    with pytest.raises(bootstrap.BuildError, match=r"Rust 1\.85 is missing"):
        bootstrap.mend_machine()
    assert commands == [
        "rustup toolchain install stable --no-self-update",
        "rustup component add rustfmt clippy",
    ]


@pytest.mark.parametrize("keep", [False, True])
def test_a_stale_engine_is_kept_only_on_request(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, keep: bool
) -> None:
    commands = list[str]()

    def exit_code(command: Sequence[str]) -> int:
        commands.append(" ".join(command))
        return 0

    stamp = tmp_path / "engine.sha256"
    stamp.write_text("of other sources")
    monkeypatch.setattr(bootstrap, "STAMP", stamp)
    monkeypatch.setattr(bootstrap, "exit_code", exit_code)
    monkeypatch.setattr(bootstrap, "ENGINE", ("true",))
    bootstrap.build_engine(keep=keep)
    assert bool(commands) is not keep
    assert (stamp.read_text() == bootstrap.source_digest()) is not keep


def test_every_crate_is_a_source_of_the_engine() -> None:
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]
    assert set(bootstrap.RUST_ROOMS) == set(workspace["members"])


def test_the_engine_is_stale_when_a_source_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (
        "pyproject.toml",
        "requirements-dev.txt",
        "Cargo.toml",
        "Cargo.lock",
        "common/src/lib.rs",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    monkeypatch.setattr(bootstrap, "ROOT", tmp_path)
    found = {bootstrap.source_digest()}
    (tmp_path / "common/src/lib.rs").write_text("//! More.")
    found.add(bootstrap.source_digest())
    (tmp_path / "common/src/lib.rs").rename(tmp_path / "common/src/main.rs")
    found.add(bootstrap.source_digest())
    (tmp_path / "Cargo.lock").write_text("# newer")
    found.add(bootstrap.source_digest())
    assert len(found) == 4
    (tmp_path / "common/src/notes.md").write_text("no source")
    assert bootstrap.source_digest() in found
