"""No kind of mailbox is needed by the rest: the program runs without each of them, and without all."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.without import error_without, faults_without, packages


def test_the_program_does_without_any_foreign_kind(tmp_path: Path) -> None:
    assert faults_without(list(packages()), tmp_path / "tree", is_quick=True) == []


@pytest.mark.parametrize("name", packages())
def test_the_error_for_a_mailbox_names_the_package_that_is_missing(name: str, tmp_path: Path) -> None:
    assert f"can't be loaded (No module named 'mailstore.kinds.{name}')" in error_without(name, tmp_path / "tree")
