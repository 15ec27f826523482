"""An installed package: one import name, and the files that a run needs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
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


@pytest.fixture(scope="module")
def user(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A user's machine: an environment with the wheel and its dependencies, and nothing else.

    The dependencies are those of this environment: a test loads none from a registry.
    """
    place = tmp_path_factory.mktemp("user")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place / "venv")], check=True)
    [site] = (place / "venv").glob("lib/python*/site-packages")
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    install = ["--python", str(place / "venv"), "install", "--no-deps", str(wheel)]
    subprocess.run([*PIP, *install], env=clean, check=True)
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return place / "venv"


def as_user(user: Path, cwd: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Runs a program of the environment; Rust, make and the checkout are out of its reach."""
    ran = subprocess.run(
        [str(user / "bin" / command[0]), *command[1:]],
        cwd=cwd, env={"PATH": str(user / "bin"), "HOME": str(cwd), "COLUMNS": "200"},
        capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran


def test_a_user_has_the_wheels_package(user: Path, tmp_path: Path) -> None:
    script = "import narrows, os; print(os.path.realpath(narrows.__file__))"
    ran = as_user(user, tmp_path, "python", "-c", script)
    assert Path(ran.stdout.strip()).is_relative_to(user.resolve())


def test_a_user_runs_and_reports_by_name(user: Path, tmp_path: Path) -> None:
    only = 'sweep.flow.variant=["new-aimd"]'
    shorter = ("--set", "duration=2s", "--set", "sweep.flow.count=[1]", "--set", only)
    ran = as_user(user, tmp_path, "narrows", "run", "new-aimd", *shorter)
    assert "results: results/new-aimd" in ran.stdout
    ran = as_user(user, tmp_path, "narrows", "report", "results/new-aimd")
    page = (tmp_path / ran.stdout.strip()).read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>") and 'class="chart"' in page


def test_a_user_reproduces_a_paper_by_name(user: Path, tmp_path: Path) -> None:
    as_user(user, tmp_path, "narrows", "reproduce", "jasem-2010", "--quick")
    assert (tmp_path / "results/reproduce/jasem-2010/report.html").stat().st_size > 100_000


def test_a_user_has_the_python_interface(user: Path, tmp_path: Path) -> None:
    script = (
        "import narrows; results = narrows.run('rate-change', duration='2s', quiet=True);"
        "print(results.queue.collect().height > 0, results.figure('queue_delay').name)"
    )
    assert as_user(user, tmp_path, "python", "-c", script).stdout == "True queue_delay\n"


def test_the_doctor_works_without_a_toolchain(user: Path, tmp_path: Path) -> None:
    ran = subprocess.run(
        [str(user / "bin/narrows"), "doctor"],
        cwd=tmp_path, env={"PATH": str(user / "bin")}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "target sim: ready" in ran.stdout, ran.stdout + ran.stderr


def test_one_wheel_serves_every_python_from_3_11(wheel: Path) -> None:
    assert re.fullmatch(r"narrows-[\d.]+-cp311-abi3-linux_\w+\.whl", wheel.name)


def test_the_engine_links_to_no_library_but_the_systems(wheel: Path) -> None:
    """auditwheel finds that the wheel can have a manylinux tag: no library must be added to it.

    libdpdk is loaded at run time, so it is not among them.
    """
    ran = subprocess.run(
        [sys.executable, "-m", "auditwheel", "show", str(wheel)],
        env={**os.environ, "COLUMNS": "500"}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert re.search(r'platform\s+tag:\s+"manylinux_2_\d+_', ran.stdout), ran.stdout
    assert "librte" not in ran.stdout


def test_the_engine_is_stripped(wheel: Path) -> None:
    """Without debugging information it is a fifth of its size."""
    [engine] = [
        each for each in zipfile.ZipFile(wheel).infolist() if "_engine.abi3" in each.filename
    ]
    assert engine.file_size < 20 << 20
