"""A mailbox on a NATS server keeps the contract."""

from __future__ import annotations

import pytest

from mailstore.conformance import Harness, StoreContract
from tests.kinds.nats.nats_harness import NatsHarness


class TestNats(StoreContract):
    @pytest.fixture
    def harness(self, nats_box: NatsHarness) -> Harness:
        return nats_box
