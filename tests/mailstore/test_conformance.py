"""Every kind of store that is ours keeps the contract."""

from __future__ import annotations

from pathlib import Path

import pytest

import mailstore
from mailstore.conformance import Harness, StoreContract
from tests.mailboxes import DIALECTS, Dialect
from tests.mailstore.haak_harness import HaakHarness
from tests.mailstore.memory_harness import MemoryHarness


class TestMemory(StoreContract):
    @pytest.fixture
    def harness(self) -> Harness:
        return MemoryHarness()


class TestHaak(StoreContract):
    @pytest.fixture(params=DIALECTS)
    def harness(self, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Harness:
        dialect: Dialect = request.param
        return HaakHarness(tmp_path, dialect, monkeypatch)


def test_only_the_suite_imports_pytest_and_nothing_imports_the_suite() -> None:
    layer = Path(mailstore.__file__).parent
    for path in layer.rglob("*.py"):
        if "conformance" not in path.parts:
            text = path.read_text(encoding="utf-8")
            assert "import pytest" not in text, path
            assert "mailstore.conformance" not in text, path
