"""This kind of store keeps the contract."""

from __future__ import annotations

from pathlib import Path

import pytest

from mailstore.conformance import Harness, StoreContract
from tests.kinds.mapped.mapped_harness import MappedLinesHarness, MappedRowsHarness


class TestMapped(StoreContract):
    @pytest.fixture(params=[MappedLinesHarness, MappedRowsHarness], ids=["lines", "rows"])
    def harness(self, request: pytest.FixtureRequest, tmp_path: Path) -> Harness:
        harness: Harness = request.param(tmp_path)
        return harness
