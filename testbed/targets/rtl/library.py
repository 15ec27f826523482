"""Builds the model of the hardware bottleneck: Verilator makes a C++ class of fpga/rtl.

The library stays in the user's cache, under the SHA-256 of its sources and tools. So a change of
the RTL builds another one, and a run that finds its library starts at once.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from narrows.testbed.paths import ROOT

RTL = ROOT / "fpga/rtl"
MODEL = ROOT / "fpga/model"
TOP = "decisions_top"
PROGRAMS = {"verilator": "verilator", "g++": "g++"}
"""The programs that build it, each with its Debian package."""
RUNTIME = ("verilated.cpp", "verilated_threads.cpp")
"""Verilator's own sources that every model needs."""


class BuildError(RuntimeError):
    """The model could not be built."""


def missing() -> list[str]:
    """The programs that this machine lacks, each with its remedy."""
    return [
        f"{program} is not installed: apt-get install -y {package}"
        for program, package in PROGRAMS.items()
        if not shutil.which(program)
    ]


def rtl_sources(*folders: str) -> list[Path]:
    """The sources of folders of the RTL (the decisions), those that others need first."""
    shared = [RTL / f"{name}.sv" for name in ("narrows_pkg", "narrows_types", "narrows_board_pkg")]
    parts = [sorted((RTL / folder).glob("*.sv")) for folder in folders or ("decisions",)]
    return [*shared, *(source for part in parts for source in part)]


def library() -> Path:
    """The path of the library; builds it if it is not in the cache. Raises `BuildError`."""
    return cached("bottleneck", ".so", [*rtl_sources(), *sorted(MODEL.iterdir())], build)


def cached(name: str, suffix: str, sources: list[Path], make: Callable[[Path], Path]) -> Path:
    """What `make` builds of these sources, from the cache if they and Verilator are the same.
    Raises `BuildError`.
    """
    if lacking := missing():
        raise BuildError("; ".join(lacking))
    version = run(["verilator", "--version"], RTL)
    digest = hashlib.sha256(version.encode())
    for source in sources:
        digest.update(source.name.encode() + source.read_bytes())
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "narrows"
    built = cache / f"{name}-{digest.hexdigest()[:16]}{suffix}"
    if built.is_file():
        return built
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / f"{built.name}.lock").open("w") as lock:
        # Of several workers the first builds, and the others wait for it.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not built.is_file():
            with tempfile.TemporaryDirectory(dir=cache) as directory:
                # Renamed when complete: a build may be stopped.
                make(Path(directory)).replace(built)
    return built


def build(directory: Path) -> Path:
    """Builds the library in a directory. Raises `BuildError` with what the tool said."""
    verilate(TOP, [*rtl_sources(), MODEL / f"{TOP}.sv"], directory)
    options = ["-fPIC", "-shared", f"-I{MODEL}"]
    return compile_model([MODEL / "core.cpp"], options, directory / "core.so")


def verilate(top: str, sources: list[Path], directory: Path, *options: str) -> None:
    """Makes a C++ class of a module."""
    fast = ["-O3", "--x-assign", "fast", "--x-initial", "fast", "--noassert"]
    command = ["verilator", "--cc", "-Wno-fatal", "--top-module", top, *fast, *options]
    run([*command, "--Mdir", ".", *map(str, sources)], directory)


def compile_model(units: list[Path], options: list[str], built: Path) -> Path:
    """Compiles the class in a directory with units that use it."""
    directory = built.parent
    runtime = Path(run(["verilator", "--getenv", "VERILATOR_ROOT"], directory).strip()) / "include"
    includes = [f"-I{path}" for path in (".", runtime, runtime / "vltstd")]
    classes = sorted(path.name for path in directory.glob("*.cpp"))
    all_units = [*classes, *map(str, units), *(str(runtime / name) for name in RUNTIME)]
    command = ["g++", "-std=c++17", "-O2", *options, *includes, *all_units]
    run([*command, "-o", built.name, "-lpthread"], directory)
    return built


def run(command: list[str], directory: Path) -> str:
    """Runs a program; returns its output. Raises `BuildError` if it fails."""
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise BuildError(f"{command[0]} failed: {said[0] if said else 'no message'}")
    return done.stdout


if __name__ == "__main__":
    print(library())
