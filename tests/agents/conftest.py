"""Every test here runs a real program: marked `agents`, and skipped where the program can't be had."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agents.lab import Lab
from tests.agents.programs import program_named

HERE = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE) and item.get_closest_marker("program"):
            item.add_marker(pytest.mark.agents)


@pytest.fixture(autouse=True)
def _program(request: pytest.FixtureRequest) -> None:
    """Skip the test where a program that its marker names is missing."""
    for marker in request.node.iter_markers("program"):
        if missing := program_named(marker.args[0]).missing:
            pytest.skip(missing)


@pytest.fixture
def lab(tmp_path: Path, bare: str) -> Iterator[Lab]:
    root = tmp_path / "lab"
    root.mkdir()
    lab = Lab(root, bare)
    yield lab
    lab.close()
