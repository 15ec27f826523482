"""`make setup` runs this module: it turns a fresh clone into a working `.venv`.

It uses only the standard library, and skips completed steps. It installs missing software as root
with the package manager, or prints the exact command. It creates `.venv`. It builds the extension
module if a Rust source, a Cargo file or pyproject.toml changed. It writes bytecode, for
interpreters without write permission.
"""

from __future__ import annotations

import compileall
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Sequence

from narrows.testbed import needs
from narrows.testbed.paths import ROOT

VENV = ROOT / ".venv"
RUST_PACKAGES = {"apt-get": ["rustup"], "dnf": ["rust", "cargo", "rustfmt", "clippy"]}
"""Packages tried as root; older distributions have no recent enough version."""
WAIT_FOR_LOCK = {"apt-get": ("-o", "DPkg::Lock::Timeout=300")}
"""Options to wait for another package manager, in seconds: machines update themselves at start."""
PIP = (str(VENV / "bin/python"), "-m", "pip", "install")
STAMP = VENV / "engine.sha256"
PROFILE = "dev"
"""Cargo's profile: optimised as a release, with libraries that `cargo test` shares."""
ENGINE = (
    *("cargo", "rustc", "--quiet", "--profile", PROFILE, "--lib", "--crate-type", "cdylib"),
    *("--manifest-path", "engine/Cargo.toml", "--features", "python,pyo3/extension-module"),
)
"""Builds the engine as setuptools-rust does, which then only copies it. It runs while the
dependencies are installed. setuptools-rust repeats a failed build and prints its errors.
"""
REQUIREMENTS = "requirements-dev.txt"
"""The dependencies, each with its version and the hashes of its files (`make lock`)."""
PYTHON_ROOMS = ("analysis", "common/schema", "controller", "switch/server", "testbed", "traffic")
RUST_ROOMS = ("common", "queueing", "switch", "hosts", "traffic", "dpdk", "fpga/driver", "engine")
BUILT_FROM = (".rs", ".toml", ".c")


class BuildError(Exception):
    """A step failed; the message has the command that repairs it."""


def main() -> int:
    """Runs the steps; returns exit code 1 after printing the reason if one fails.

    `--keep-engine` keeps an engine that is older than its sources.
    """
    keep_engine = "--keep-engine" in sys.argv[1:]
    try:
        mend_machine()
        make_venv()
        build_engine(keep=keep_engine)
        compile_rooms()
    except BuildError as error:
        print(f"setup: {error}", file=sys.stderr)
        return 1
    return 0


def mend_machine() -> None:
    """Installs missing software as root; otherwise prints the command. Raises `BuildError` if
    required software is still missing.
    """
    for need in needs.NEEDS:
        if need.find() or not need.set_up:
            continue
        command = need.mend()
        if install(need):
            print(f"setup: installed {need.name}", flush=True)
        elif need.required:
            raise BuildError(f"{need.name} is missing and is required:\n  {command}")
        else:
            print(f"setup: no {need.name} ({need.serves}); to get it: {command}", flush=True)


def install(need: needs.Need) -> bool:
    """Tries the package manager as root, or rustup as any user. Returns true if the need is then
    met.
    """
    manager = needs.package_manager()
    is_rust = need in (needs.RUST, needs.RUST_TOOLS)
    packages = RUST_PACKAGES if is_rust else need.packages
    has_rustup = shutil.which("rustup", path=needs.cargo_environment()["PATH"]) is not None
    can_install = manager is not None and manager in packages and os.geteuid() == 0
    if manager and can_install and not (is_rust and has_rustup):
        if manager == "apt-get":
            run_quietly(["apt-get", "update"])
        command = needs.install_command(manager, packages[manager])
        run_quietly([*command, *WAIT_FOR_LOCK.get(manager, ())])
    if is_rust and shutil.which("rustup", path=needs.cargo_environment()["PATH"]):
        run_quietly(["rustup", "toolchain", "install", "stable", "--no-self-update"])
        run_quietly(["rustup", "component", "add", "rustfmt", "clippy"])
    return need.find() is not None


def make_venv() -> None:
    """Creates `.venv` with this interpreter, unless a working one exists."""
    recent = "import sys; assert sys.version_info >= (3, 11)"
    if needs.output(str(VENV / "bin/python"), "-c", recent) is not None:
        return
    print(f"setup: making {VENV.name}", flush=True)
    venv.create(VENV, clear=True, with_pip=True)


def build_engine(*, keep: bool = False) -> None:
    """Installs the dependencies and builds the extension into `narrows/`, if it is stale."""
    digest = source_digest()
    if any(ROOT.glob("narrows/_engine.*.so")) and STAMP.exists():
        if STAMP.read_text() == digest:
            return
        if keep:
            print("setup: the engine is older than its sources (make setup builds it)", flush=True)
            return
    print("setup: dependencies; building the engine (a few minutes the first time)", flush=True)
    with subprocess.Popen(
        ENGINE, cwd=ROOT, env=environment(), stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ):
        install_dependencies()
    run([*PIP, "--no-deps", "--no-build-isolation", "--editable", str(ROOT)])
    STAMP.write_text(digest)


def install_dependencies() -> None:
    """Installs the locked dependencies with uv, which takes a tenth of pip's processor time.

    pip installs uv, and everything where uv fails: uv doesn't read pip's configuration.
    """
    locked = ("--require-hashes", "--requirement")
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as only_uv:
        only_uv.write(requirement("uv", (ROOT / REQUIREMENTS).read_text(encoding="utf-8")))
        only_uv.flush()
        has_uv = succeeds([*PIP, "--only-binary", "uv", *locked, only_uv.name])
    uv = (str(VENV / "bin/uv"), "pip", "install", "--quiet")
    if not has_uv or not succeeds([*uv, *locked, REQUIREMENTS]):
        run([*PIP, *locked, REQUIREMENTS])


def requirement(name: str, requirements: str) -> str:
    """A package's lines, with its hashes, of a file's text. Raises `BuildError` without any."""
    found = re.search(rf"^{name}==(.*\\\n)*.*", requirements, re.MULTILINE)
    if not found:
        raise BuildError(f"{REQUIREMENTS} has no {name}")
    return f"{found[0]}\n"


def compile_rooms() -> None:
    """Compiles changed modules to bytecode; without it a start takes a seventh longer."""
    for room in PYTHON_ROOMS:
        compileall.compile_dir(ROOT / room, quiet=2)


def source_digest() -> str:
    """SHA-256 of the names and contents of all sources of the extension."""
    files = [ROOT / name for name in ("pyproject.toml", REQUIREMENTS, "Cargo.toml", "Cargo.lock")]
    for room in RUST_ROOMS:
        files += [path for path in (ROOT / room).rglob("*") if path.suffix in BUILT_FROM]
    # The extension has a shim for libdpdk if it is installed.
    digest = hashlib.sha256((needs.dpdk() or "").encode())
    for path in sorted(files):
        digest.update(f"{path.relative_to(ROOT)}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def environment() -> dict[str, str]:
    """Environment of every command: no questions, the venv's programs first, cargo on PATH."""
    found = needs.cargo_environment()
    found["PATH"] = f"{VENV / 'bin'}{os.pathsep}{found['PATH']}"
    found |= {"VIRTUAL_ENV": str(VENV), "DEBIAN_FRONTEND": "noninteractive"}
    found |= {"PYO3_PYTHON": str(VENV / "bin/python"), "PYO3_BUILD_EXTENSION_MODULE": "1"}
    found |= {"SETUPTOOLS_RUST_CARGO_PROFILE": PROFILE}
    found |= {"PIP_QUIET": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    # The versions are those of our own file.
    for constraint in ("PIP_CONSTRAINT", "UV_CONSTRAINT"):
        found.pop(constraint, None)
    found.pop("CONDA_PREFIX", None)  # a second active environment confuses the build
    return found


def run(command: Sequence[str]) -> None:
    """Runs a command that must succeed. Raises `BuildError` with the command."""
    code = exit_code(command)
    if code != 0:
        raise BuildError(f"a command failed with exit code {code}:\n  {' '.join(command)}")


def succeeds(command: Sequence[str]) -> bool:
    """Runs a command that may fail; what it prints says why."""
    return exit_code(command) == 0


def exit_code(command: Sequence[str]) -> int:
    """The exit code of a command without input, or 127 where it is missing."""
    try:
        return subprocess.run(
            command, cwd=ROOT, env=environment(), stdin=subprocess.DEVNULL, check=False
        ).returncode
    except FileNotFoundError:
        return 127


def run_quietly(command: Sequence[str]) -> None:
    """Runs a command that may fail; the caller checks its effect."""
    print(f"setup: {' '.join(command)}", flush=True)
    subprocess.run(
        command,
        cwd=ROOT,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        check=False,
    )


if __name__ == "__main__":
    sys.exit(main())
