"""This kind of store keeps the contract."""

from __future__ import annotations

from pathlib import Path

import pytest

from mailstore.conformance import Harness, StoreContract
from tests.kinds.agenties.agenties_harness import AgentiesHarness


class TestAgenties(StoreContract):
    @pytest.fixture
    def harness(self, tmp_path: Path) -> Harness:
        return AgentiesHarness(tmp_path)
