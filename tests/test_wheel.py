"""An installed package: one import name, and the files that a run needs."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from narrows.testbed.tools import bootstrap
from tests.support.world import ROOT

PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout; the engine has been built by `make setup`."""
    out = tmp_path_factory.mktemp("wheel")
    options = ["--no-deps", "--no-build-isolation", "--wheel-dir", str(out)]
    built = subprocess.run(
        [*PIP, "wheel", *options, str(ROOT)],
        cwd=out, env=bootstrap.environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert built.returncode == 0, built.stderr
    [path] = out.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty environment with only the wheel."""
    site = tmp_path_factory.mktemp("site")
    subprocess.run([*PIP, "install", "--no-deps", "--target", str(site), str(wheel)], check=True)
    return site


def test_one_import_name_is_installed(installed: Path) -> None:
    names = {path.name for path in installed.iterdir()} - {"bin"}
    [information] = {name for name in names if name.endswith(".dist-info")}
    assert names - {information} == {"narrows"}
    assert (installed / "bin/narrows").exists()


def test_the_wheel_has_the_rooms_and_no_sources(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    rooms = {name.split("/")[1] for name in names if name.startswith("narrows/")}
    assert {"analysis", "controller", "p4", "scenarios", "switch", "testbed", "traffic"} <= rooms
    assert not [
        name for name in names if name.endswith((".rs", ".toml")) and "scenarios" not in name
    ]
    for needed in ("p4/build/v1model.json", "hosts/ebpf/narrows.bpf.h", "scenarios/new-aimd.toml"):
        assert f"narrows/{needed}" in names


def test_the_installed_package_finds_its_own_files(installed: Path) -> None:
    """Its folder stands for the checkout."""
    script = "from narrows.testbed.paths import ROOT; print(ROOT)"
    found = subprocess.run(
        [sys.executable, "-S", "-c", script],
        cwd=installed, capture_output=True, text=True, check=True,
    )  # fmt: skip
    root = Path(found.stdout.strip())
    assert root == installed / "narrows"
    assert (root / "p4/build/v1model.json").exists()
