"""A gNMI server over a fake traffic manager."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from finsy.proto import gnmi_grpc

from tests.support.fake_traffic import FakeTraffic, served


@pytest.fixture
def target() -> FakeTraffic:
    return FakeTraffic()


@pytest.fixture
def stub(target: FakeTraffic) -> Iterator[Any]:
    with served(target) as address, grpc.insecure_channel(address) as channel:
        yield gnmi_grpc.gNMIStub(channel)
