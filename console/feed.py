"""Feed a store's events into the mailbox, in slices so short that they never delay a key, and have them shown."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from asyncio.subprocess import DEVNULL
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing
from threading import Event as Flag
from time import perf_counter, time

from console.commands.table import BY_ID
from console.notifications.notifier import Notifier, NotifyingApp
from console.running.idle import IdleTracker, load_modules
from console.running.prefetch import Prefetch
from console.screens.main_screen import MainScreen
from mailstore.errors import StoreError
from mailstore.folding import COMPLETE_URL, kept
from mailstore.records.events import Event, Gone, Reset
from mailstore.records.scope import parts_of
from mailstore.registry import complete_url
from mailstore.resumable import Resumable, Stale
from mailstore.state.arrivals import Arrivals
from mailstore.state.mailbox import Mailbox
from mailstore.store import Capability, Store

SLICE_SECONDS = 0.003
SLICE_EVENTS = 24
RESTS = 2
"""How many times as long as other work folding rests while a key is handled: mail can wait."""
QUEUED_BATCHES = 8
ERROR_SECONDS = 15.0
USAGE_SECONDS = 10.0
"""How often to look what agents have used."""


async def events(store: Store, scan: Callable[[], Iterator[list[Event]]]) -> AsyncGenerator[list[Event] | None]:
    """Yield the batches of a scan, then None, then the changes; never blocks the event loop.

    The scan runs in a thread, at most a few batches ahead of the consumer.
    """
    async for batch in _scanned(scan):
        yield batch
    yield None
    if Capability.FOLLOW in store.capabilities:
        async for batch in store.changes():
            yield batch


async def _scanned(batches: Callable[[], Iterator[list[Event]]]) -> AsyncGenerator[list[Event]]:
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[list[Event] | None] = asyncio.Queue(QUEUED_BATCHES)
    stopped = Flag()

    def scan() -> None:
        try:
            for batch in batches():
                if stopped.is_set():
                    return
                asyncio.run_coroutine_threadsafe(queue.put(batch), loop).result()
        finally:
            with contextlib.suppress(RuntimeError):
                asyncio.run_coroutine_threadsafe(queue.put(None), loop)

    scanning = asyncio.create_task(asyncio.to_thread(scan))
    try:
        while (batch := await queue.get()) is not None:
            yield batch
        await scanning
    finally:
        stopped.set()
        while not queue.empty():
            queue.get_nowait()


class MailFeed:
    """Folds what a store tells, has it drawn, and says what of it you should know; runs on the event loop."""

    def __init__(
        self, app: NotifyingApp, screen: MainScreen, prefetch: Prefetch, idle: IdleTracker, moment: float | None = None
    ) -> None:
        self._app, self._screen, self._session = app, screen, screen.session
        self._prefetch = prefetch
        self._idle = idle
        self._moment = moment
        """The moment of the past to show once all mail was read, in seconds since the epoch; None for live."""
        self._notifier = Notifier(app, screen.session)
        self._arrivals = Arrivals()
        self._has_offered_archival = False
        self.has_marks = asyncio.Event()
        """Set once the user's own state was read, or can't be."""

    async def run(self) -> None:
        """Feed the store's events until the end; a long store is indexed by another process first."""
        session, prefetch, store = self._session, self._prefetch, self._session.store
        try:
            session.live.fold(await asyncio.to_thread(session.personal.load), session.clock())
            self.has_marks.set()
            if Capability.RECORD not in store.capabilities or parts_of(session.url):
                from console.hooks.steering import records_beside

                session.live.fold(await asyncio.to_thread(records_beside, session.url), session.clock())
            if isinstance(store, Resumable) and await asyncio.to_thread(store.is_long):
                preview = await asyncio.to_thread(prefetch.late_preview)
                if not prefetch.is_preview:
                    preview = await asyncio.to_thread(store.glimpse)
                await self._sliced(preview, is_loading=True)
                mailbox = await self._whole(store, may_use_snapshot=True)
                while mailbox is not None:
                    self._adopt(mailbox)
                    self._show(is_loading=False)
                    if not await self._followed(store):
                        return
                    mailbox = await self._whole(store, may_use_snapshot=False)
                await asyncio.to_thread(store.begin_anew)
            is_loading = True
            async with aclosing(events(store, store.scan if prefetch.is_preview else prefetch.rest)) as batches:
                async for batch in batches:
                    is_loading = is_loading and batch is not None
                    await self._sliced(batch or [], is_loading=is_loading)
        except Exception as error:  # whatever it is, nothing is read any more
            self.has_marks.set()
            unexpected = f"internal error ({type(error).__name__}), open the mailbox again"
            reason = error.problem if isinstance(error, StoreError) else unexpected
            session.live.fold([Gone(reason)], session.clock())
            self._screen.mail_changed(False)
            if not isinstance(error, StoreError):
                raise
            self._app.notify(str(error), severity="error", timeout=ERROR_SECONDS)

    async def _whole(self, store: Resumable, *, may_use_snapshot: bool) -> Mailbox | None:
        """Return a long store's mailbox, indexed by another process unless there is a snapshot; None if that fails."""
        user, personal = self._session.user, self._session.personal
        for is_kept in (True, False) if may_use_snapshot else (False,):
            if not is_kept:
                await _fold_elsewhere(self._session.url, user)
            mailbox = await asyncio.to_thread(kept, store, user, time())
            if mailbox is not None:
                marks = await asyncio.to_thread(personal.all_seen)
                await asyncio.to_thread(mailbox.fold, marks, time())
                return mailbox
        return None

    async def _followed(self, store: Resumable) -> bool:
        """Feed the changes; return whether everything must be read again, because the files were replaced."""
        try:
            await asyncio.to_thread(store.confirm)
        except Stale:
            return True
        async with aclosing(store.changes()) as batches:
            async for batch in batches:
                if any(isinstance(event, Reset) for event in batch) and await asyncio.to_thread(store.is_long):
                    return True
                await self._sliced(batch, is_loading=False)
        return False

    async def _sliced(self, batch: list[Event], *, is_loading: bool) -> None:
        start = perf_counter()
        for at in range(0, len(batch), SLICE_EVENTS):
            self.fold(batch[at : at + SLICE_EVENTS])
            if (took := perf_counter() - start) > SLICE_SECONDS:
                self._show(is_loading=is_loading)
                await asyncio.sleep(RESTS * self._idle.rest(took))
                start = perf_counter()
        self._show(is_loading=is_loading)

    def fold(self, batch: list[Event]) -> None:
        """Take events into the mailbox, and note those of which you should know."""
        session, mailbox = self._session, self._session.live
        resets = [event for event in batch if isinstance(event, Reset)]
        if resets and session.moment is None:
            self._screen.keep_place()
        if session.is_loading:
            mailbox.fold(batch, session.clock())
        else:
            arrived = self._arrivals.fold(mailbox, batch, session.clock())
            session.arrived.update((message.id, None) for message in arrived)
            if self._screen.parts is not None:
                self._screen.parts.mail_arrived(arrived)
            self._notifier.note(arrived)
        for event in resets:
            session.forget_bodies()
            self._app.notify(f"Reloaded: {event.reason}")

    def _adopt(self, mailbox: Mailbox) -> None:
        """Replace the mailbox, which was a preview or is outdated, by a complete one."""
        is_reload = not self._session.is_loading
        self._session.adopt(mailbox)
        self._idle.freeze_garbage()
        self._notifier.start_from(mailbox)
        if is_reload:
            self._app.notify("Reloaded: the files were replaced")

    def _show(self, *, is_loading: bool) -> None:
        """Have the screen draw what was folded."""
        was_loading = self._session.is_loading
        self._screen.mail_changed(is_loading)
        self._idle.collect_soon()
        if was_loading and not is_loading:
            self._notifier.note()  # mail that was there is not new
            if self._moment is not None:
                self._screen.call_after_refresh(self._screen.travel, self._moment)
        if not is_loading:
            self._offer_archival()

    def _offer_archival(self) -> None:
        """Suggest archiving, once, if the mailbox has many messages."""
        session = self._session
        limit, number = session.config.archive.offer_past, session.live.counts().messages
        if self._has_offered_archival or not limit or number <= limit or session.why_not(Capability.ARCHIVE):
            return
        self._has_offered_archival = True
        key = BY_ID["archive"].key_label(session.keymap)
        self._screen.tell(f"The mailbox has {number:,} messages · {key}: review what can be archived")

    def tick(self) -> None:
        """Notify of what a second that passed has made a dead letter."""
        if not self._session.is_loading:
            self._notifier.note()
            self._notifier.note_waiting()

    async def follow_usage(self) -> None:
        """Show what agents have used, as often as that may change on the screen."""
        await load_modules("console.state.agent_usage")
        from console.state.agent_usage import UsageReader

        session = self._session
        reader = UsageReader(session.store)
        while True:
            if not session.is_loading:
                sessions = {agent: hook.session_id for agent, hook in session.hooked.live.items()}
                usages = await asyncio.to_thread(reader.read, sessions)
                if usages != session.usage:
                    session.usage = usages
                    self._screen.mail_changed(session.is_loading)
            await asyncio.sleep(USAGE_SECONDS)

    async def follow_hooks(self) -> None:
        """Show what agents are doing as their hooks know it."""
        await load_modules("console.hooks.hook_watch")
        from console.hooks.hook_watch import hooked_changes

        session = self._session
        async for hooked in hooked_changes(session.url, session.clock):
            session.hooked = hooked
            if not session.is_loading:
                self._notifier.note_waiting()
            if session.moment is None:
                self._screen.mail_changed(session.is_loading)


async def _fold_elsewhere(url: str, user: str) -> None:
    """Index a store in another process, which saves a snapshot: it has a core of its own, and no screen to delay."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "mailstore.folding", url, user),
        env={**os.environ, COMPLETE_URL: complete_url(url)},
        stdin=DEVNULL,
        stdout=DEVNULL,
        stderr=DEVNULL,
    )
    try:
        await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
