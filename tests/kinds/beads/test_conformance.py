"""This kind of store keeps the contract."""

from __future__ import annotations

from pathlib import Path

import pytest

from mailstore.conformance import Harness, StoreContract
from tests.kinds.beads.beads_harness import BeadsHarness, BeadsTablesHarness


class TestBeads(StoreContract):
    @pytest.fixture(params=[BeadsHarness, BeadsTablesHarness], ids=["export", "tables"])
    def harness(self, request: pytest.FixtureRequest, tmp_path: Path) -> Harness:
        harness: Harness = request.param(tmp_path)
        return harness
