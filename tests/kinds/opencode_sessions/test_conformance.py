"""This kind of store keeps the contract."""

from __future__ import annotations

from pathlib import Path

import pytest

from mailstore.conformance import Harness, StoreContract
from tests.kinds.opencode_sessions.opencode_sessions_harness import OpenCodeHarness


class TestOpenCode(StoreContract):
    @pytest.fixture
    def harness(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Harness:
        return OpenCodeHarness(tmp_path, monkeypatch)
