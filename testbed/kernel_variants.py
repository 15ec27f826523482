"""The variants that the Linux kernel's TCP can have: its own, its modules', and ours in eBPF.

`targets/linux/variants.py` registers them for the time of a run.
"""

from __future__ import annotations

import platform
from pathlib import Path

from narrows.testbed.paths import ROOT

SOURCES = ROOT / "hosts/ebpf"
AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
PREFIX = "nw_"


def ours() -> list[str]:
    """The variants that `hosts/ebpf/` has, by the names that a scenario uses."""
    return sorted(path.name.split(".")[0].replace("_", "-") for path in SOURCES.glob("*.bpf.c"))


def kernel_name(variant: str) -> str:
    """What one of our variants is called in the kernel, which has 15 characters for it."""
    return PREFIX + variant.replace("-", "_")


def built_in() -> list[str]:
    """What the kernel has itself, its modules that are loaded included."""
    return [name for name in available() if not name.startswith(PREFIX)]


def available() -> list[str]:
    """What a socket can be given now; nothing where the system is not Linux."""
    return AVAILABLE.read_text().split() if AVAILABLE.exists() else []


def is_known(variant: str) -> bool:
    """True when the kernel has a variant, a module of its, or `hosts/ebpf/`."""
    module = f"kernel/net/ipv4/tcp_{variant}.ko*"
    found = Path("/lib/modules", platform.release()).glob(module)
    return variant in ours() or variant in available() or any(found)
