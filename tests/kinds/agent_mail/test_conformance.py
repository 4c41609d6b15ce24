"""This kind of store keeps the contract."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mailstore.conformance import Harness, StoreContract
from tests.kinds.agent_mail.agent_mail_harness import AgentMailHarness


class TestAgentMail(StoreContract):
    """A database whose server takes mail; without its server, the other kinds' tests of what is missing are enough."""

    @pytest.fixture
    def harness(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Harness]:
        harness = AgentMailHarness(tmp_path, monkeypatch, is_served=True)
        yield harness
        harness.close()
