"""This kind of store keeps the contract."""

from __future__ import annotations

from pathlib import Path

import pytest

from mailstore.conformance import Harness, StoreContract
from tests.kinds.channels.channels_harness import ChannelsHarness


class TestChannels(StoreContract):
    @pytest.fixture
    def harness(self, tmp_path: Path) -> Harness:
        return ChannelsHarness(tmp_path)
