"""The oracle is worth something only while it shares no code with what it judges."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

OF_THE_ORACLE = ["tests.oracle.records", "tests.oracle.people", "tests.oracle.rules", "tests.oracle.threads"]


@pytest.mark.parametrize("module", OF_THE_ORACLE)
def test_the_oracle_imports_nothing_of_the_program(module: str) -> None:
    code = f"import sys, {module}; print(*sorted({{name.partition('.')[0] for name in sys.modules}}))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2]
    )
    assert "tests" in done.stdout.split()
    assert not {"mailstore", "console", "themes", "msgspec", "numpy"} & set(done.stdout.split())
