"""The public names of the kit: what type checkers see is what there is, and nothing is imported before it is used."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import mailstore.kit

STUB = ast.parse(Path(mailstore.kit.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
HOMES = {name.name: node.module or "" for node in STUB.body if isinstance(node, ast.ImportFrom) for name in node.names}


def test_type_checkers_see_the_names_that_there_are() -> None:
    assert sorted(HOMES) == sorted(mailstore.kit.__all__)


@pytest.mark.parametrize("name", sorted(HOMES))
def test_a_public_name_is_the_one_of_its_module_and_documented(name: str) -> None:
    found = getattr(mailstore.kit, name)
    assert found is getattr(import_module(HOMES[name]), name)
    assert not callable(found) or found.__doc__


def test_a_name_that_is_not_public_is_not_there() -> None:
    with pytest.raises(AttributeError, match="no attribute 'salvaged'"):
        mailstore.kit.salvaged  # noqa: B018 - the look-up is what is tested


def test_the_kit_is_imported_without_what_a_hook_can_not_afford() -> None:
    program = (
        "import sys; import mailstore.kit.bodies, mailstore.kit.timestamps\n"
        "sys.exit(' '.join({'msgspec', 'asyncio', 'sqlite3', 'mailstore.store'} & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
