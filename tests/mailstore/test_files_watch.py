"""Being woken by what happens in a folder."""

from __future__ import annotations

import asyncio
import errno
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, aclosing
from pathlib import Path

import pytest

from mailstore.files import watch
from mailstore.files.watch import Inotify, wakeups
from tests.patience import PATIENCE

WAYS = {"linux": watch._queued, "elsewhere": watch._asked, "poll": None}
linux = pytest.mark.skipif(sys.platform != "linux", reason="Linux alone has such a queue")


@pytest.fixture(params=[pytest.param("linux", marks=linux), "elsewhere", "poll"])
def poll(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Take each of the ways to be woken in turn."""
    monkeypatch.setattr(watch, "_events", WAYS[request.param])
    return bool(request.param == "poll")


async def woken_by(waking: AsyncGenerator[bool, None], act: Callable[[], object]) -> None:
    """Be woken by what is done."""
    act()
    async with asyncio.timeout(PATIENCE):
        await anext(waking)


@pytest.fixture
def _no_tick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave only what happens to wake."""
    monkeypatch.setattr(watch, "TICK_SECONDS", 10 * PATIENCE)


@pytest.mark.usefixtures("_no_tick")
async def test_a_change_wakes(tmp_path: Path, poll: bool) -> None:
    file = tmp_path / "file"
    async with aclosing(wakeups(tmp_path, poll=poll)) as waking:
        await anext(waking)
        await woken_by(waking, lambda: file.write_text("one"))
        await woken_by(waking, lambda: file.write_text("one and two"))


@pytest.mark.usefixtures("_no_tick")
async def test_a_change_between_the_first_look_and_the_next_wakes(tmp_path: Path, poll: bool) -> None:
    for number in range(5):
        async with aclosing(wakeups(tmp_path, poll=poll)) as waking:
            await anext(waking)
            await woken_by(waking, (tmp_path / f"file{number}").touch)


@pytest.mark.usefixtures("_no_tick")
async def test_a_folder_below_counts_even_when_it_appears_later(tmp_path: Path, poll: bool) -> None:
    below = tmp_path / "below"
    async with aclosing(wakeups(tmp_path, ["below"], poll=poll)) as waking:
        await anext(waking)
        await woken_by(waking, below.mkdir)
        seen = 0
        for number in range(3):
            (below / f"file{number}").touch()
            async with asyncio.timeout(PATIENCE):
                await anext(waking)
            seen += 1
        assert seen == 3


async def test_a_folder_that_is_gone_is_waited_for_and_watched_again(
    tmp_path: Path, poll: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, away = tmp_path / "folder", tmp_path / "away"
    folder.mkdir()
    async with aclosing(wakeups(folder, poll=poll)) as waking:
        await anext(waking)
        monkeypatch.setattr(watch, "TICK_SECONDS", 10 * PATIENCE)
        await woken_by(waking, lambda: folder.rename(away))
        await woken_by(waking, lambda: away.rename(folder))
        for number in range(10):
            await woken_by(waking, (folder / f"file{number}").touch)


async def test_it_wakes_now_and_then_whatever_happens(
    tmp_path: Path, poll: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "TICK_SECONDS", 0.05)
    async with aclosing(wakeups(tmp_path, poll=poll)) as waking, asyncio.timeout(PATIENCE):
        for _ in range(4):
            await anext(waking)


async def test_a_folder_that_is_replaced_is_watched_in_its_place(
    tmp_path: Path, poll: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    async with aclosing(wakeups(folder, poll=poll)) as waking:
        await anext(waking)
        monkeypatch.setattr(watch, "TICK_SECONDS", 10 * PATIENCE)
        folder.rename(tmp_path / "away")
        folder.mkdir()
        for number in range(10):
            await woken_by(waking, (folder / f"file{number}").touch)


@linux
async def test_however_much_happens_before_a_look_it_wakes_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "TICK_SECONDS", 0.05)
    async with aclosing(wakeups(tmp_path)) as waking:
        await anext(waking)
        for number in range(500):
            with (tmp_path / f"file{number % 7}").open("a") as file:
                file.write("line\n")
        assert [await anext(waking) for _ in range(3)] == [True, False, False]


@linux
async def test_whoever_reads_and_locks_wakes_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import fcntl

    monkeypatch.setattr(watch, "TICK_SECONDS", 0.05)
    file = tmp_path / "file"
    file.write_text("text")
    async with aclosing(wakeups(tmp_path)) as waking:
        await anext(waking)
        with file.open("a+b") as opened:
            fcntl.flock(opened, fcntl.LOCK_EX)
            opened.seek(0)
            assert opened.read()
        list(tmp_path.iterdir())
        assert [await anext(waking) for _ in range(2)] == [False, False]


@linux
@pytest.mark.usefixtures("_no_tick")
@pytest.mark.parametrize("refusing", ["__init__", "watch"])
async def test_where_no_more_watches_are_to_be_had_it_looks_instead(
    tmp_path: Path, refusing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, "the limit of watches is reached")

    monkeypatch.setattr(Inotify, refusing, refuse)
    async with aclosing(wakeups(tmp_path)) as waking:
        await anext(waking)
        await woken_by(waking, (tmp_path / "file").touch)


async def test_of_many_folders_that_are_polled_each_waits_longer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []
    sleep = asyncio.sleep

    async def noted(seconds: float) -> None:
        pauses.append(seconds)
        await sleep(0)

    monkeypatch.setattr(watch, "TICK_SECONDS", 0.0)
    async with AsyncExitStack() as stack:
        for times in (1, 3):
            folders = [tmp_path / f"{times}-{number}" for number in range(times * watch.MOST_EAGER)]
            for folder in folders:
                folder.mkdir()
            opened = [await stack.enter_async_context(aclosing(wakeups(folder, poll=True))) for folder in folders]
            for waking in opened:
                await anext(waking)
            with monkeypatch.context() as context:
                context.setattr(asyncio, "sleep", noted)
                for waking in opened:
                    await anext(waking)
    assert min(pauses[watch.MOST_EAGER :]) >= 4 * watch.BUSY_SECONDS
    assert watch._polling == set()


@linux
def test_the_kernels_refusal_is_raised(tmp_path: Path) -> None:
    with Inotify() as queue, pytest.raises(FileNotFoundError):
        queue.watch(tmp_path / "nowhere")


async def test_it_can_be_closed_and_cancelled_at_any_time(tmp_path: Path, poll: bool) -> None:
    async with aclosing(wakeups(tmp_path, poll=poll)):
        pass
    async with aclosing(wakeups(tmp_path, poll=poll)) as waking:
        await anext(waking)

    async def follow() -> None:
        async with aclosing(wakeups(tmp_path, poll=poll)) as waking:
            async for _ in waking:
                started.set()

    started = asyncio.Event()
    task = asyncio.create_task(follow())
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert asyncio.all_tasks() == {asyncio.current_task()}
