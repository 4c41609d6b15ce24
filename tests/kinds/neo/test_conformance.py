"""This kind of store keeps the contract."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mailstore.conformance import Harness, StoreContract
from tests.kinds.neo.neo_harness import NeoHarness


class TestNeo(StoreContract):
    @pytest.fixture
    def harness(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Harness]:
        harness = NeoHarness(tmp_path, monkeypatch)
        yield harness
        harness.close()
