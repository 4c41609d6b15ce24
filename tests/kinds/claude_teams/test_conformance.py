"""This kind of store keeps the contract."""

from __future__ import annotations

from pathlib import Path

import pytest

from mailstore.conformance import Harness, StoreContract
from tests.kinds.claude_teams.claude_teams_harness import ClaudeTeamsHarness
from tests.kinds.claude_teams.claude_transcripts_harness import ClaudeTranscriptsHarness


class TestClaudeTeams(StoreContract):
    @pytest.fixture
    def harness(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Harness:
        return ClaudeTeamsHarness(tmp_path, monkeypatch)


class TestClaudeTranscripts(StoreContract):
    @pytest.fixture
    def harness(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ClaudeTranscriptsHarness:
        return ClaudeTranscriptsHarness(tmp_path, monkeypatch)

    def test_unread_mail_that_comes_changes_a_path_that_is_watched(self, harness: Harness) -> None:
        pytest.skip("its messages were in an inbox, which is watched, before they are in a transcript")
