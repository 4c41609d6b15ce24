"""Run tests on a system without what Linux alone has, in one process.

python -m tests.elsewhere {macos,wsl} [PYTEST WORDS]

Programs that the tests start run on this one.
"""

from __future__ import annotations

import sys

import pytest

from tests.elsewhere.pretending import SYSTEMS, become

if __name__ == "__main__":
    wanted = next((system for system in SYSTEMS if sys.argv[1:2] == [system]), None)
    if wanted is None:
        sys.exit(f"name one of {', '.join(SYSTEMS)}")
    become(wanted)
    sys.exit(pytest.main(["-n0", "-q", "-p", "no:cacheprovider", *(sys.argv[2:] or ["tests/mailstore"])]))
