"""Runs a mirror: reads both mailboxes, copies what is missing, and follows both until it is stopped."""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from hashlib import blake2b
from itertools import islice
from typing import NamedTuple

from mailstore.errors import ContentGone, MailError
from mailstore.mirroring.copying import copy_offers
from mailstore.mirroring.exchange import Exchange, StartAnew
from mailstore.mirroring.mirror_report import EXAMPLES, NOT_READ_BACK, MirrorEnd, MirrorLosses, MirrorStatus, Phase
from mailstore.mirroring.mirror_state import MirrorState
from mailstore.mirroring.side import MirrorTrouble, Settled, Side, trouble_with
from mailstore.records.events import Event
from mailstore.records.message import Message
from mailstore.store import Capability, Store
from mailstore.transfer.compare import (
    MESSAGE_FIELDS,
    Losses,
    compare,
    compare_files,
    compare_user,
    is_same_sender,
    told,
)

Opened = Callable[[], Store]
SECONDS_UNSAVED = 1.0
TRIES = 3
"""How often a mirror that is to run once asks for a text that is no longer where it was."""
MailboxUpdate = tuple[Side, Sequence[Event] | MailError]
AT_ONCE = 500
FIELDS = {name: label for name, label in MESSAGE_FIELDS.items() if name != "archived"}
"""A message may be archived in one mailbox and live in the other: that is each mailbox's own affair."""


class MirrorReports(NamedTuple):
    """Who is told what a mirror does: `progress` of a long activity, `status` whenever it has changed."""

    progress: Callable[[str, int, int], object]
    status: Callable[[MirrorStatus], object]


class MirrorPauses(NamedTuple):
    """How long to wait, in seconds: before trying again, at first and at most, and for what was written to be read."""

    first: float = 1.0
    most: float = 30.0
    read_back: float = 10.0


class Mirror:
    """A mirror between two mailboxes; `open` functions open them, as often as it is needed."""

    def __init__(
        self,
        urls: tuple[str, str],
        opened: tuple[Opened, Opened],
        state: MirrorState,
        reports: MirrorReports,
        *,
        is_both: bool = False,
        pauses: MirrorPauses = MirrorPauses(),  # noqa: B008 - it is immutable
    ) -> None:
        self._opened = opened
        self._state = state
        self._reports = reports
        self._pauses = pauses
        self.losses = MirrorLosses()
        self.is_unsaved = False
        """Whether the status has changed since it was saved."""
        self._saved = float("-inf")
        before = state.status()
        ends = {end.url: end for end in before.ends} if before is not None else {}
        first, second = (MirrorEnd(url, ends[url].written) if url in ends else MirrorEnd(url) for url in urls)
        self.status = MirrorStatus((first, second), is_both, started=time.time(), process=os.getpid())
        self.status.host = socket.gethostname()
        self.status.equal_at = before.equal_at if before is not None else None
        self._has_read = self.status.equal_at is not None
        self._delay = pauses.first

    async def run(self, *, once: bool = False) -> None:
        """Mirror until cancelled, or until both hold the same. Raises StoreError if it can't begin, or end, once."""
        try:
            while True:
                try:
                    await self._round(once)
                    return
                except StartAnew:
                    await asyncio.sleep(min(self._pauses.first, 0.1))
                except MirrorTrouble as trouble:
                    if once or not self._has_read:
                        raise trouble.error from trouble
                    self._note_trouble(trouble)
                    await asyncio.sleep(self._next_delay())
        finally:
            self._show("stopped")

    async def _round(self, once: bool) -> None:
        """Read both mailboxes, copy, and follow them. Raises StartAnew and MirrorTrouble."""
        async with self._sides() as sides:
            self.losses = MirrorLosses()
            exchange = Exchange(*sides, is_both=self.status.is_both, memory=self._state, losses=self.losses)
            self._show("reading", exchange)
            for side in sides:
                await asyncio.to_thread(self._read, exchange, side)
                side.back()
            self._has_read = True
            self._show("copying", exchange)
            await _Following(self, exchange, self._pauses, once=once).run()

    @asynccontextmanager
    async def _sides(self) -> AsyncIterator[tuple[Side, Side]]:
        stores: list[Store] = []
        try:
            for end, opened in zip(self.status.ends, self._opened, strict=True):
                try:
                    stores.append(await asyncio.to_thread(opened))
                except MailError as error:
                    raise MirrorTrouble(end.url, error) from error
            first, second = map(Side, stores, self.status.ends)
            for side in (first, second):
                side.can_be_followed = Capability.FOLLOW in side.store.capabilities
            yield first, second
        finally:
            for store in stores:
                store.close()

    def _read(self, exchange: Exchange, side: Side) -> None:
        """Read all of a mailbox."""
        number = 0
        with trouble_with(side):
            for batch in side.store.scan():
                exchange.take(side, batch, time.time())
                number += len(batch)
                self._reports.progress(f"reading {side.store.title}: {number:,} records", 0, 1)
        self._reports.progress(f"reading {side.store.title}: {number:,} records", 1, 1)

    def work(self, exchange: Exchange) -> None:
        """Compare and copy all that can be. Raises MirrorTrouble."""
        exchange.decide(time.time())
        trouble = compare_pairs(exchange)
        copy_offers(exchange, self._reports.progress)
        if trouble is not None:
            raise trouble

    def worked(self, exchange: Exchange) -> None:
        """Note that everything that could be done was done."""
        self._delay = self._pauses.first
        sides = (exchange.first, exchange.second)
        for side in sides:
            if not side.is_gone:
                side.end.cut_off, side.end.reason = None, ""
        if exchange.is_settled() and not any(side.is_gone for side in sides):
            self.status.equal_at = time.time()
        self._show("following", exchange)

    def waits(self, trouble: MirrorTrouble, exchange: Exchange) -> float:
        """Note what is wrong with a mailbox; return how long to wait, in seconds."""
        self._note_trouble(trouble, exchange)
        return self._next_delay()

    def _note_trouble(self, trouble: MirrorTrouble, exchange: Exchange | None = None) -> None:
        for end in self.status.ends:
            if end.url == trouble.url:
                end.cut_off = end.cut_off or time.time()
                end.reason = str(trouble.error)
        self._show("waiting", exchange)

    def _next_delay(self) -> float:
        delay, self._delay = self._delay, min(2 * self._delay, self._pauses.most)
        return delay

    def _show(self, phase: Phase, exchange: Exchange | None = None) -> None:
        status = self.status
        is_other = phase != status.phase
        status.phase, status.updated = phase, time.time()
        if exchange is not None:
            for side in exchange.targets:
                side.end.pending = len(side.offers)
        status.conflicts = list(self.losses.conflicts.values())[:EXAMPLES]
        status.conflict_number = len(self.losses.conflicts)
        status.losses = self.losses.all()
        self._reports.status(status)
        self.is_unsaved = True
        if is_other or time.monotonic() - self._saved >= SECONDS_UNSAVED:
            self.save()

    def save(self) -> None:
        """Save the status."""
        self._state.save_status(self.status)
        self.is_unsaved, self._saved = False, time.monotonic()


class _Following:
    """Takes what both mailboxes yield, works on it, and tries again what failed."""

    def __init__(self, mirror: Mirror, exchange: Exchange, pauses: MirrorPauses, *, once: bool) -> None:
        self._mirror = mirror
        self._exchange = exchange
        self._pauses = pauses
        self._once = once
        self._tries = 0
        self._came: asyncio.Queue[MailboxUpdate] = asyncio.Queue(maxsize=16)

    async def run(self) -> None:
        """Follow until cancelled, or until nothing is left to do. Raises StartAnew and MirrorTrouble."""
        sides = (self._exchange.first, self._exchange.second)
        tasks = [asyncio.create_task(self._pump(side)) for side in sides if side.can_be_followed]
        try:
            await self._loop()
        finally:
            for task in tasks:
                task.cancel()
            for task in tasks:
                with suppress(asyncio.CancelledError):
                    await task

    async def _pump(self, side: Side) -> None:
        changes = side.store.changes()
        try:
            async with aclosing(changes):
                async for batch in changes:
                    await self._came.put((side, batch))
        except MailError as error:
            await self._came.put((side, error))

    async def _loop(self) -> None:
        exchange, clock = self._exchange, asyncio.get_running_loop().time
        retry: float | None = clock()
        while True:
            if retry is not None and retry <= clock():
                wait = await self._work()
                retry = None if wait is None else clock() + wait
            if self._once and exchange.is_settled():
                return
            try:
                # not wait_for: in Python 3.11 a cancellation is lost in it where something comes at the same moment
                async with asyncio.timeout(self._limit(retry, clock())):
                    came = await self._came.get()
            except TimeoutError:
                if self._once and retry is None:
                    self._note_unread()
                    return
                if self._mirror.is_unsaved:
                    self._mirror.save()
                continue
            were_gone = exchange.first.is_gone, exchange.second.is_gone
            self._take(came)
            while not self._came.empty():
                self._take(self._came.get_nowait())
            # while a mailbox is in trouble, what comes waits with the rest, unless one is back
            if retry is None or were_gone != (exchange.first.is_gone, exchange.second.is_gone):
                retry = clock()

    def _limit(self, retry: float | None, now: float) -> float | None:
        """Return how long to wait for something to come, in seconds."""
        if self._once and retry is None:
            return self._pauses.read_back
        limits = [max(0.0, retry - now)] if retry is not None else []
        return min([*limits, *([SECONDS_UNSAVED] if self._mirror.is_unsaved else [])], default=None)

    async def _work(self) -> float | None:
        """Do what is to be done; return the seconds after which to try again what failed."""
        try:
            await asyncio.to_thread(self._mirror.work, self._exchange)
        except MirrorTrouble as trouble:
            self._tries += 1
            if self._once and (self._tries == TRIES or not isinstance(trouble.error, ContentGone)):
                raise
            return self._mirror.waits(trouble, self._exchange)
        self._mirror.worked(self._exchange)
        return None

    def _take(self, came: MailboxUpdate) -> None:
        side, events = came
        if isinstance(events, MailError):
            raise MirrorTrouble(side.name, events)
        self._exchange.take(side, events, time.time())

    def _note_unread(self) -> None:
        for side in self._exchange.targets:
            for message in side.awaited.values():
                self._mirror.losses.lost("message", side.name, message.id, message.subject, NOT_READ_BACK)


def header_number(*messages: Message) -> int:
    """Return a number of 63 bits that stands for what some headers say, whatever their order, the same in every run."""
    said = sorted(
        "\0".join((message.sender, *message.recipients, "", message.thread or "", message.subject))
        for message in messages
    )
    digest = blake2b("\1".join(said).encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest) >> 1


def compare_pairs(exchange: Exchange) -> MirrorTrouble | None:
    """Compare all pairs whose mailboxes can be reached; return why some could not be compared. Raises MirrorTrouble."""
    first, second = exchange.first, exchange.second
    left: dict[str, bool] = {}
    trouble: MirrorTrouble | None = None
    while exchange.pairs and not (first.is_gone or second.is_gone):
        some = {message_id: exchange.pairs[message_id] for message_id in islice(exchange.pairs, AT_ONCE)}
        unread = _compare_some(exchange, some)
        for message_id, is_own in some.items():
            del exchange.pairs[message_id]
            if message_id in unread:
                left[message_id], trouble = is_own, unread[message_id]
    exchange.pairs |= left
    return trouble


def _compare_some(exchange: Exchange, some: dict[str, bool]) -> dict[str, MirrorTrouble]:
    """Compare some pairs; return those that have a text that can't be read now."""
    unread: dict[str, MirrorTrouble] = {}
    first, second = exchange.first, exchange.second
    pairs: list[tuple[Message, Message]] = []
    equal: list[tuple[str, int]] = []
    for message_id, is_own in some.items():
        ours, theirs = first.messages.get(message_id), second.messages.get(message_id)
        if isinstance(ours, Settled | None) or isinstance(theirs, Settled | None):
            continue
        if not is_own and exchange.compared.get(message_id) == header_number(ours, theirs):
            _note_losses(exchange, ours, theirs, True, is_own=False)
            exchange.settle(ours, theirs)
        else:
            pairs.append((ours, theirs))
    with trouble_with(first):
        our_texts = list(first.store.contents([ours for ours, _ in pairs]))
    with trouble_with(second):
        their_texts = list(second.store.contents([theirs for _, theirs in pairs]))
    for (ours, theirs), our_text, their_text in zip(pairs, our_texts, their_texts, strict=True):
        if isinstance(our_text, MailError):
            unread[ours.id] = MirrorTrouble(first.name, our_text)
            continue
        if isinstance(their_text, MailError):
            unread[ours.id] = MirrorTrouble(second.name, their_text)
            continue
        is_own = some[ours.id]
        if not is_own and is_conflict(ours, theirs, our_text, their_text):
            exchange.losses.conflict(ours, theirs)
        else:
            _note_losses(exchange, ours, theirs, our_text == their_text, is_own=is_own)
            equal.append((ours.id, header_number(ours, theirs)))
            exchange.losses.conflicts.pop(ours.id, None)
        exchange.settle(ours, theirs)
    if equal:
        exchange.memory.note_compared(equal)
    return unread


def is_conflict(ours: Message, theirs: Message, our_text: str, their_text: str) -> bool:
    """Say whether two messages of one id are two messages; what else differs may be what one kind can't hold."""
    return our_text != their_text or not is_same_sender(ours.sender, theirs.sender)


def _note_losses(exchange: Exchange, ours: Message, theirs: Message, is_text_equal: bool, *, is_own: bool) -> None:
    losses, sides = Losses(), (exchange.first, exchange.second)
    compare(losses, ours.id, ours, theirs, MESSAGE_FIELDS if is_own else FIELDS)
    files = (
        side.store.attachments(one, side.copies.places(one.id)) for side, one in zip(sides, (ours, theirs), strict=True)
    )
    compare_files(losses, ours.id, *files)
    compare_user(losses, ours, exchange.first.user_names, exchange.second.user_names)
    if ours.ttl_hours != theirs.ttl_hours:
        losses.add("ttl hours", ours.id, told("ttl_hours", ours.ttl_hours), told("ttl_hours", theirs.ttl_hours))
    if not is_text_equal:
        losses.add("text", ours.id, ours.subject, "different text")
    add_losses(exchange.losses, exchange.second.name, losses, ours.id)


def add_losses(losses: MirrorLosses, target: str, lost: Losses, record: str) -> None:
    """Add the differences of one record to those of a mirror."""
    for loss in lost.all():
        losses.add(loss.field, target, record, loss.before, loss.after)
