"""This kind of store keeps the contract."""

from __future__ import annotations

from pathlib import Path

import pytest

from mailstore.conformance import Harness, StoreContract
from tests.kinds.codex_threads.codex_threads_harness import CodexHarness


class TestCodex(StoreContract):
    @pytest.fixture
    def harness(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Harness:
        return CodexHarness(tmp_path, monkeypatch)
