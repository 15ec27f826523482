"""A switch with its P4Runtime server, and its primary controller."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.p4rt import Client, Served, client


@pytest.fixture
def served() -> Iterator[Served]:
    made = Served()
    yield made
    made.close()


@pytest.fixture
def primary(served: Served, request: pytest.FixtureRequest) -> Iterator[Client]:
    """It has pushed the module's `PROGRAM`, where there is one."""
    with client(served.address) as made:
        made.arbitrate()
        if program := getattr(request.module, "PROGRAM", None):
            made.push(program)
        yield made
