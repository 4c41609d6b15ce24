"""Steps are taken on the event loop, and what is to be done aside by a thread that nobody interrupts."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import aclosing, closing
from pathlib import Path
from threading import Event, get_ident

import pytest
from textual.events import Key

from console.running.idle import IdleTracker
from console.running.stepping import rest_after, stepped
from mailstore.steps import BackgroundWork, Steps
from tests.console.screen_text import opened
from tests.mailboxes import MailFiles


async def taken(steps: Steps[int]) -> list[int]:
    async with aclosing(stepped(steps, lambda worked: 0.0)) as found:
        return [each async for each in found]


async def test_only_what_is_aside_is_done_by_another_thread() -> None:
    here = get_ident()

    def steps() -> Steps[int]:
        assert get_ident() == here
        yield 1
        elsewhere = BackgroundWork(get_ident)
        yield elsewhere
        assert get_ident() == here != elsewhere.found()
        yield None
        yield 2

    assert await taken(steps()) == [1, 2]


async def test_what_fails_aside_is_raised_where_it_is_asked_for() -> None:
    def steps() -> Steps[int]:
        work = BackgroundWork(lambda: [][0])
        yield work
        with pytest.raises(IndexError):
            work.found()
        yield 3

    assert await taken(steps()) == [3]


@pytest.mark.parametrize("times", [1, 2, 3])
async def test_who_is_cancelled_waits_for_what_is_under_way_and_closes_it(times: int) -> None:
    begun, may_end, closed = Event(), Event(), Event()

    def hints() -> Iterator[list[str]]:
        try:
            begun.set()
            may_end.wait(10)
            yield []
        finally:
            closed.set()

    def steps() -> Steps[int]:
        some = hints()
        with closing(some):  # type: ignore[type-var]
            yield BackgroundWork(lambda: next(some))

    task = asyncio.create_task(taken(steps()))
    await asyncio.to_thread(begun.wait, 10)
    for _ in range(times):
        task.cancel()
        for _ in range(5):  # it is thrown into the task, and what that does about it is done
            await asyncio.sleep(0)
        assert not task.done()
    may_end.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert closed.is_set()


@pytest.mark.parametrize(("cost", "rests"), [(0.1, 3.0), (1.0, 15.0), (6.0, 48.0)])
def test_a_long_search_rests_no_longer_than_it_must_and_leaves_time_for_the_mail(cost: float, rests: float) -> None:
    assert rest_after(cost, 30) == pytest.approx(rests)


def test_work_rests_only_while_a_key_is_handled(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("console.running.idle.monotonic", lambda: now[0])
    idle = IdleTracker()
    assert idle.rest(0.003) == 0.0
    idle.note_key()
    assert [idle.rest(0.003), idle.rest(1.0)] == [0.003, 0.01]
    now[0] += 0.06
    assert idle.rest(0.003) == 0.0


async def test_a_key_is_noted_as_soon_as_it_is_queued(tmp_path: Path) -> None:
    async with opened(MailFiles(tmp_path).data) as seat:
        before = seat.app._idle._last_key
        seat.app.post_message(Key("j", "j"))
        assert seat.app._idle._last_key > before
