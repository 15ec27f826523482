"""The Python processes that do a run: their environment, and how they end."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import narrows

PACKAGES = Path(narrows.__file__).resolve().parents[1]


def environment() -> dict[str, str]:
    """This process's environment, with this checkout's modules first and memory in huge pages.

    A run goes through thousands of packets and connections in turn. glibc from 2.35 on asks for
    huge pages, which Linux then gives. Paths and tunables that were set before are kept.
    """
    path, tunables = os.environ.get("PYTHONPATH"), os.environ.get("GLIBC_TUNABLES")
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, [str(PACKAGES), path])),
        "GLIBC_TUNABLES": ":".join(filter(None, ["glibc.malloc.hugetlb=1", tunables])),
    }


def exit_at_sigterm() -> None:
    """Lets SIGTERM end this process by an exception, so that it takes away what it has made."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
