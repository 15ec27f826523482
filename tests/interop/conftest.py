"""A namespace for the kernel's TCP; tests are skipped by name if the machine cannot have one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Literal

import pytest

from narrows.testbed.targets.linux.namespaces import Plumbing, PlumbingError, missing
from tests.interop.port import Faults
from tests.interop.stack import Pair

MakePair = Callable[..., Pair]


@pytest.fixture
def plumbing() -> Iterator[Plumbing]:
    if lacking := missing():
        pytest.skip(lacking[0])
    with ExitStack() as stack:
        try:
            made = stack.enter_context(Plumbing())
            made.add_host("probe", "10.0.0.9", "02:00:00:00:00:09", "02:00:00:00:00:01")
        except PlumbingError as error:
            pytest.skip(f"the kernel as a peer: {error}")
        yield made


@pytest.fixture
def make_pair(plumbing: Plumbing) -> Iterator[MakePair]:
    """Makes the pair with the faults that the test requests."""
    with ExitStack() as stack:

        def make(seed: int = 1, ip_version: Literal[4, 6] = 4, **faults: float) -> Pair:
            return stack.enter_context(Pair(plumbing, Faults(**faults), seed, ip_version))

        yield make
