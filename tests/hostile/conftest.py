from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.hostile.faults import Bench


@pytest.fixture(scope="session")
def bench() -> Iterator[Bench]:
    with Bench() as bench:
        yield bench
