"""Threads that answer late answer the same."""

from __future__ import annotations

import asyncio
import time

import pytest

from tests.lateness import LATE, be_late


@pytest.mark.parametrize(("asked", "waits"), [("60", 2), ("0", 0), ("", 0)])
async def test_threads_begin_and_end_late_where_it_is_asked_for(
    asked: str, waits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []
    monkeypatch.setattr(time, "sleep", waited.append)
    monkeypatch.setattr(asyncio, "to_thread", asyncio.threads.to_thread)
    monkeypatch.setenv(LATE, asked)
    be_late()
    assert await asyncio.to_thread(divmod, 7, 2) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        await asyncio.to_thread(divmod, 7, 0)
    assert len(waited) == 2 * waits
    assert all(0 <= seconds <= 0.06 for seconds in waited)
