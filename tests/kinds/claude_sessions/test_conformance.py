"""This kind of store keeps the contract."""

from __future__ import annotations

from pathlib import Path

import pytest

from mailstore.conformance import Harness, StoreContract
from tests.kinds.claude_sessions.claude_sessions_harness import ClaudeSessionsHarness


class TestClaudeSessions(StoreContract):
    @pytest.fixture
    def harness(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Harness:
        return ClaudeSessionsHarness(tmp_path, monkeypatch)
