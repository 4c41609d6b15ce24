"""Every kind of store of the layer itself keeps the contract; `tests/kinds` tries the others."""

from __future__ import annotations

from pathlib import Path

import pytest

import mailstore
from mailstore.conformance import Harness, StoreContract
from mailstore.installed_kinds import LAYER, StoreKind
from tests.mailboxes import DIALECTS, Dialect
from tests.mailstore.haak_harness import HaakHarness
from tests.mailstore.loop_store import LoopHarness
from tests.mailstore.memory_harness import MemoryHarness
from tests.mailstore.wrapping_harness import ReadOnlyHarness, SeveralHarness


class TestMemory(StoreContract):
    @pytest.fixture
    def harness(self) -> Harness:
        return MemoryHarness()


class TestLoop(StoreContract):
    """A kind that is not on files."""

    @pytest.fixture
    def harness(self, monkeypatch: pytest.MonkeyPatch) -> Harness:
        monkeypatch.setitem(LAYER, "loop", StoreKind("tests.mailstore.loop_store:LoopStore"))
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
        monkeypatch.setitem(LAYER, "several", StoreKind("tests.mailstore.wrapping_harness:Unlabelled"))
        return SeveralHarness(tmp_path, monkeypatch)


def test_only_the_suite_imports_pytest_and_nothing_imports_the_suite() -> None:
    layer = Path(mailstore.__file__).parent
    for path in layer.rglob("*.py"):
        if "conformance" not in path.parts:
            text = path.read_text(encoding="utf-8")
            assert "import pytest" not in text, path
            assert "mailstore.conformance" not in text, path
