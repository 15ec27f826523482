"""What a test needs of the machine; the same lack always has the same words.

`make test` ends with a line for each reason to skip (tests/conftest.py), so a reason names one
missing thing.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence

import pytest


def programs(*names: str) -> pytest.MarkDecorator:
    """Skips a test where one of these programs is missing."""
    return without([f"{name} is not installed" for name in names if not shutil.which(name)])


def without(lacking: Sequence[str]) -> pytest.MarkDecorator:
    """Skips a test where something is missing, for the first reason of the list."""
    return pytest.mark.skipif(bool(lacking), reason=lacking[0] if lacking else "nothing is missing")
