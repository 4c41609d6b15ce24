"""This kind of store keeps the contract."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mailstore.conformance import Harness, StoreContract
from tests.kinds.hcom.hcom_harness import HcomHarness


class TestHcom(StoreContract):
    @pytest.fixture
    def harness(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Harness]:
        harness = HcomHarness(tmp_path, monkeypatch)
        yield harness
        harness.close()
