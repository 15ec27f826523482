"""The environment of the Python processes that execute runs, and how they end."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import narrows

PACKAGES = Path(narrows.__file__).resolve().parents[1]


def environment() -> dict[str, str]:
    """This process's environment, with this checkout's modules first and memory in huge pages.

    A run cycles through thousands of packets and connections, which misses in the TLB without huge
    pages. The tunable needs glibc 2.35 or later. Existing paths and tunables are kept.
    """
    path, tunables = os.environ.get("PYTHONPATH"), os.environ.get("GLIBC_TUNABLES")
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, [str(PACKAGES), path])),
        "GLIBC_TUNABLES": ":".join(filter(None, ["glibc.malloc.hugetlb=1", tunables])),
    }


def exit_at_sigterm() -> None:
    """Makes SIGTERM raise an exception, so that this process cleans up."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
