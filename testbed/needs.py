"""The software that Narrows needs, what this machine has of it, and the commands that install the
rest.

Standard library only, and importable before anything is installed. `narrows doctor` prints this
list, and `tools/bootstrap.py` installs from it. Targets and hosts use it to report what they lack.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

LEAST_RUST = (1, 85)
LEAST_PYTHON = (3, 11)

# The command of the Rust project's installation page, https://rustup.rs.
GET_RUSTUP = "curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y"
MORE_HUGEPAGES = "sysctl -w vm.nr_hugepages=128"
GET_P4C = "https://github.com/p4lang/p4c#installing-packaged-versions-of-p4c"
GET_BMV2 = "https://github.com/p4lang/behavioral-model#installing-bmv2"


class EngineMissingError(Exception):
    """The extension module is not built; the message has the command that builds it."""


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0))


@dataclass(frozen=True)
class Need:
    """Software or a property of the machine that a part of Narrows needs."""

    name: str
    serves: str
    """The parts that do not work without it."""
    find: Callable[[], str | None]
    """Returns what was found, or None."""
    packages: dict[str, Sequence[str]]
    """The packages that contain it, by package manager."""
    otherwise: str = ""
    """The remedy without a package: a command, or an address."""
    required: bool = False
    """True if nothing runs without it."""
    set_up: bool = False
    """True if `make` installs it when possible."""

    def mend(self) -> str:
        """The command that installs it on this machine."""
        manager = package_manager()
        if manager and manager in self.packages:
            sudo = "" if os.geteuid() == 0 else "sudo "
            return sudo + " ".join(install_command(manager, self.packages[manager]))
        return self.otherwise


def package_manager() -> str | None:
    """`apt-get` or `dnf`, whichever is installed."""
    return next((name for name in ("apt-get", "dnf") if shutil.which(name)), None)


def install_command(manager: str, packages: Sequence[str]) -> list[str]:
    """The command that installs packages without asking."""
    return [manager, "install", "-y", *packages]


def output(*command: str) -> str | None:
    """The output of a command, or None if it is missing or fails."""
    try:
        ran = subprocess.run(
            command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
        )
    except OSError:
        return None
    return ran.stdout.strip() if ran.returncode == 0 else None


def cargo_environment() -> dict[str, str]:
    """The environment with rustup's default directory on PATH."""
    home = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
    path = os.environ.get("PATH", "")
    if str(home / "bin") not in path.split(os.pathsep):
        path = path + os.pathsep + str(home / "bin")
    return {**os.environ, "PATH": path}


def python() -> str | None:
    """This interpreter's version, if recent enough."""
    version = ".".join(map(str, sys.version_info[:3]))
    return f"{version} ({sys.executable})" if sys.version_info >= LEAST_PYTHON else None


def venv_module() -> str | None:
    """Debian and Ubuntu ship Python without `ensurepip`; both are needed for an environment."""
    return "venv and ensurepip" if find_spec("venv") and find_spec("ensurepip") else None


def python_headers() -> str | None:
    """The directory of Python.h."""
    for key in ("include", "platinclude"):
        if (Path(sysconfig.get_path(key)) / "Python.h").exists():
            return sysconfig.get_path(key)
    return None


def c_compiler() -> str | None:
    """A C compiler, which Rust links with."""
    return next((path for name in ("cc", "gcc", "clang") if (path := shutil.which(name))), None)


def rust() -> str | None:
    """rustc's version, if recent enough and cargo is installed too."""
    path = cargo_environment()["PATH"]
    rustc = shutil.which("rustc", path=path)
    if rustc is None or shutil.which("cargo", path=path) is None:
        return None
    version = output(rustc, "--version")
    found = re.match(r"rustc (\d+)\.(\d+)", version or "")
    return version if found and (int(found[1]), int(found[2])) >= LEAST_RUST else None


def rust_tools() -> str | None:
    """rustfmt and clippy."""
    path = cargo_environment()["PATH"]
    cargo = shutil.which("cargo", path=path)
    if cargo and output(cargo, "fmt", "--version") and output(cargo, "clippy", "--version"):
        return "rustfmt and clippy"
    return None


def on_path(*names: str) -> Callable[[], str | None]:
    """Finds the first of some programs."""
    return lambda: next((path for name in names if (path := shutil.which(name))), None)


def p4c() -> str | None:
    """p4c's bmv2 back end."""
    return shutil.which(os.environ.get("P4C") or "p4c-bm2-ss")


def dpdk() -> str | None:
    """libdpdk's version."""
    version = output("pkg-config", "--modversion", "libdpdk")
    return f"libdpdk {version}" if version else None


def hugepages() -> str | None:
    """The number of free hugepages of 2 MiB."""
    try:
        free = int(Path("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages").read_text())
    except (OSError, ValueError):
        return None
    return f"{free} of 2 MiB" if free else None


def all_on_path(*names: str) -> Callable[[], str | None]:
    """Finds programs that are needed together."""
    return lambda: ", ".join(names) if all(map(shutil.which, names)) else None


def ebpf_tools() -> str | None:
    """Finds the tools that compile and load variants in eBPF."""
    headers = Path("/usr/include/bpf/bpf_helpers.h")
    return all_on_path("clang", "bpftool")() if headers.exists() else None


def kernel_types() -> str | None:
    """The running kernel's description of its own types."""
    path = Path("/sys/kernel/btf/vmlinux")
    return str(path) if path.exists() else None


def root() -> str | None:
    """True if this process may create namespaces and load eBPF."""
    return "yes" if os.geteuid() == 0 else None


def veth() -> str | None:
    """True if the kernel supports veths, tried in a temporary namespace."""
    made = output("unshare", "--map-root-user", "--net", "ip", "link", "add", "type", "veth")
    return None if made is None else "yes"


def update_rust() -> str:
    """The command that installs a recent Rust."""
    return "rustup update stable && rustup default stable" if shutil.which("rustup") else GET_RUSTUP


PYTHON_PACKAGE = f"python{sys.version_info.major}.{sys.version_info.minor}"

RUST = Need("Rust 1.85", "everything", rust, {}, update_rust(), required=True, set_up=True)
RUST_TOOLS = Need("rustfmt and clippy", "make lint, make test", rust_tools,
                  {}, "rustup component add rustfmt clippy", set_up=True)  # fmt: skip

NEEDS = [
    Need("Python 3.11", "everything", python, {"apt-get": ["python3"], "dnf": ["python3"]},
         "https://www.python.org/downloads/", required=True, set_up=True),
    Need("Python's venv module", "everything", venv_module,
         {"apt-get": [f"{PYTHON_PACKAGE}-venv"], "dnf": ["python3"]},
         "a Python that has it: https://www.python.org/downloads/", required=True, set_up=True),
    Need("C compiler", "everything (Rust links with it)", c_compiler,
         {"apt-get": ["build-essential"], "dnf": ["gcc"]},
         "a C compiler of your system (macOS: xcode-select --install)", required=True, set_up=True),
    RUST,
    RUST_TOOLS,
    Need("Python headers", "building other extensions (ours does not need them)", python_headers,
         {"apt-get": [f"{PYTHON_PACKAGE}-dev"], "dnf": ["python3-devel"]}, set_up=True),
    Need("p4c", "make p4", p4c, {}, GET_P4C),
    Need("simple_switch_grpc", "target bmv2, tests against it", on_path("simple_switch_grpc"),
         {}, GET_BMV2),
    Need("libdpdk", "target dpdk, narrows shell, live ports of narrows switch", dpdk,
         {"apt-get": ["libdpdk-dev", "pkg-config"], "dnf": ["dpdk-devel", "pkgconf-pkg-config"]},
         "https://core.dpdk.org/download/", set_up=True),
    Need("dpdk-testpmd", "comparison in make bench", on_path("dpdk-testpmd"),
         {"apt-get": ["dpdk-dev"], "dnf": ["dpdk"]}),
    Need("hugepages", "faster packets in real time", hugepages, {}, MORE_HUGEPAGES),
    Need("iperf3 and curl", "tests of the live switch", all_on_path("iperf3", "curl"),
         {"apt-get": ["iperf3", "curl"], "dnf": ["iperf3", "curl"]}),
    Need("ip, tc and ethtool", "--hosts linux, narrows shell, tests against the kernel's TCP",
         all_on_path("ip", "tc", "ethtool"),
         {"apt-get": ["iproute2", "ethtool"], "dnf": ["iproute", "iproute-tc", "ethtool"]}),
    Need("veth", "--hosts linux, narrows shell, tests against the kernel's TCP", veth,
         {}, "modprobe veth"),
    Need("Chromium and its driver", "tests of the report", all_on_path("chromium", "chromedriver"),
         {"apt-get": ["chromium", "chromium-driver"], "dnf": ["chromium", "chromedriver"]}),
    Need("tshark and iperf3", "tests of narrows export", all_on_path("tshark", "iperf3"),
         {"apt-get": ["tshark", "iperf3"], "dnf": ["wireshark-cli", "iperf3"]}),
    Need("clang, bpftool and libbpf's headers", "narrows kernel (variants in eBPF)", ebpf_tools,
         {"apt-get": ["clang", "bpftool", "libbpf-dev"],
          "dnf": ["clang", "bpftool", "libbpf-devel"]}),
    Need("types of the kernel", "narrows kernel (variants in eBPF)", kernel_types, {},
         "use a kernel with CONFIG_DEBUG_INFO_BTF, such as those of distributions"),
    Need("root", "--hosts linux, narrows kernel (variants in eBPF), tests against the kernel's TCP",
         root, {}, "put sudo before the command"),
]  # fmt: skip


def lacking(part: str) -> list[str]:
    """What is missing for a part of Narrows (a word of `serves`), with its remedy."""
    missing = [need for need in NEEDS if part in need.serves and need.find() is None]
    return [f"{need.name} (to install: {need.mend()})" for need in missing]
