"""Every kind of store that is ours keeps the contract."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import mailstore
from mailstore.conformance import Harness, StoreContract
from mailstore.registry import _OURS
from tests.mailboxes import DIALECTS, Dialect
from tests.mailstore.agent_mail_harness import AgentMailHarness
from tests.mailstore.agentazall_harness import AgentAZAllHarness
from tests.mailstore.agenties_harness import AgentiesHarness
from tests.mailstore.beads_harness import BeadsHarness, BeadsTablesHarness
from tests.mailstore.channels_harness import ChannelsHarness
from tests.mailstore.claude_teams_harness import ClaudeTeamsHarness
from tests.mailstore.claude_transcripts_harness import ClaudeTranscriptsHarness
from tests.mailstore.haak_harness import HaakHarness
from tests.mailstore.hcom_harness import HcomHarness
from tests.mailstore.loop_store import LoopHarness
from tests.mailstore.mapped_harness import MappedLinesHarness, MappedRowsHarness
from tests.mailstore.memory_harness import MemoryHarness
from tests.mailstore.neo_harness import NeoHarness
from tests.mailstore.omo_harness import OmoHarness
from tests.mailstore.wrapping_harness import ReadOnlyHarness, SeveralHarness


class TestMemory(StoreContract):
    @pytest.fixture
    def harness(self) -> Harness:
        return MemoryHarness()


class TestLoop(StoreContract):
    """A kind that is not on files."""

    @pytest.fixture
    def harness(self, monkeypatch: pytest.MonkeyPatch) -> Harness:
        monkeypatch.setitem(_OURS, "loop", "tests.mailstore.loop_store:LoopStore")
        return LoopHarness()


class TestHaak(StoreContract):
    @pytest.fixture(params=DIALECTS)
    def harness(self, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Harness:
        dialect: Dialect = request.param
        return HaakHarness(tmp_path, dialect, monkeypatch)


class TestReadOnly(StoreContract):
    """A store that stands before another one."""

    @pytest.fixture
    def harness(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Harness:
        return ReadOnlyHarness(tmp_path, "table", monkeypatch)


class TestSeveral(StoreContract):
    """Two mailboxes as one, of which the suite uses the first."""

    @pytest.fixture
    def harness(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Harness:
        monkeypatch.setitem(_OURS, "several", "tests.mailstore.wrapping_harness:Unlabelled")
        return SeveralHarness(tmp_path, monkeypatch)


class TestAgentAZAll(StoreContract):
    @pytest.fixture
    def harness(self, tmp_path: Path) -> Harness:
        return AgentAZAllHarness(tmp_path)


class TestAgenties(StoreContract):
    @pytest.fixture
    def harness(self, tmp_path: Path) -> Harness:
        return AgentiesHarness(tmp_path)


class TestBeads(StoreContract):
    @pytest.fixture(params=[BeadsHarness, BeadsTablesHarness], ids=["export", "tables"])
    def harness(self, request: pytest.FixtureRequest, tmp_path: Path) -> Harness:
        harness: Harness = request.param(tmp_path)
        return harness


class TestChannels(StoreContract):
    @pytest.fixture
    def harness(self, tmp_path: Path) -> Harness:
        return ChannelsHarness(tmp_path)


class TestClaudeTeams(StoreContract):
    @pytest.fixture
    def harness(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Harness:
        return ClaudeTeamsHarness(tmp_path, monkeypatch)


class TestClaudeTranscripts(StoreContract):
    @pytest.fixture
    def harness(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ClaudeTranscriptsHarness:
        return ClaudeTranscriptsHarness(tmp_path, monkeypatch)


class TestAgentMail(StoreContract):
    """A database whose server takes mail; without its server, the other kinds' tests of what is missing are enough."""

    @pytest.fixture
    def harness(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Harness]:
        harness = AgentMailHarness(tmp_path, monkeypatch, is_served=True)
        yield harness
        harness.close()


class TestNeo(StoreContract):
    @pytest.fixture
    def harness(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Harness]:
        harness = NeoHarness(tmp_path, monkeypatch)
        yield harness
        harness.close()


class TestHcom(StoreContract):
    @pytest.fixture
    def harness(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Harness]:
        harness = HcomHarness(tmp_path, monkeypatch)
        yield harness
        harness.close()


class TestOmo(StoreContract):
    @pytest.fixture
    def harness(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Harness:
        return OmoHarness(tmp_path, monkeypatch)


class TestMapped(StoreContract):
    @pytest.fixture(params=[MappedLinesHarness, MappedRowsHarness], ids=["lines", "rows"])
    def harness(self, request: pytest.FixtureRequest, tmp_path: Path) -> Harness:
        harness: Harness = request.param(tmp_path)
        return harness


def test_only_the_suite_imports_pytest_and_nothing_imports_the_suite() -> None:
    layer = Path(mailstore.__file__).parent
    for path in layer.rglob("*.py"):
        if "conformance" not in path.parts:
            text = path.read_text(encoding="utf-8")
            assert "import pytest" not in text, path
            assert "mailstore.conformance" not in text, path
