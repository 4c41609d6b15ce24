"""This kind of store keeps the contract."""

from __future__ import annotations

from pathlib import Path

import pytest

from mailstore.conformance import Harness, StoreContract
from tests.kinds.agentazall.agentazall_harness import AgentAZAllHarness


class TestAgentAZAll(StoreContract):
    @pytest.fixture
    def harness(self, tmp_path: Path) -> Harness:
        return AgentAZAllHarness(tmp_path)
