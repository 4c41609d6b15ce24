"""This kind of store keeps the contract."""

from __future__ import annotations

from pathlib import Path

import pytest

from mailstore.conformance import Harness, StoreContract
from tests.kinds.omo.omo_harness import OmoHarness


class TestOmo(StoreContract):
    @pytest.fixture
    def harness(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Harness:
        return OmoHarness(tmp_path, monkeypatch)
