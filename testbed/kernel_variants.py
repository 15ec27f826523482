"""The variants of the Linux kernel's TCP: built in, from modules, and ours in eBPF.

`targets/linux/variants.py` registers ours for the duration of a run.
"""

from __future__ import annotations

import platform
from pathlib import Path

from narrows.testbed.paths import ROOT

SOURCES = ROOT / "hosts/ebpf"
AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
PREFIX = "nw_"


def ours() -> list[str]:
    """The variants in `hosts/ebpf/`, by their names in scenarios."""
    return sorted(path.name.split(".")[0].replace("_", "-") for path in SOURCES.glob("*.bpf.c"))


def kernel_name(variant: str) -> str:
    """The kernel's name of one of our variants; the kernel allows 15 characters."""
    return PREFIX + variant.replace("-", "_")


def built_in() -> list[str]:
    """The kernel's own variants, including those of loaded modules."""
    return [name for name in available() if not name.startswith(PREFIX)]


def available() -> list[str]:
    """The variants available to a socket now; empty on other systems than Linux."""
    return AVAILABLE.read_text().split() if AVAILABLE.exists() else []


def is_known(variant: str) -> bool:
    """True if the kernel, one of its modules, or `hosts/ebpf/` has a variant."""
    module = f"kernel/net/ipv4/tcp_{variant}.ko*"
    found = Path("/lib/modules", platform.release()).glob(module)
    return variant in ours() or variant in available() or any(found)
