"""A test's needs of the machine; the same missing thing always has the same words.

`make test` ends with a line for each reason to skip (tests/conftest.py), so a reason names one
missing thing.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence

import pytest


def programs(*names: str) -> pytest.MarkDecorator:
    """Skips a test if one of these programs is missing."""
    return without([f"{name} is not installed" for name in names if not shutil.which(name)])


def without(lacking: Sequence[str]) -> pytest.MarkDecorator:
    """Skips a test if something is missing, with the first reason of the list."""
    return pytest.mark.skipif(bool(lacking), reason=lacking[0] if lacking else "nothing is missing")
