"""The store over several mailboxes, with their failures contained."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import AsyncGenerator, Generator, Iterable, Iterator, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, ClassVar, Self, TypeVar

from msgspec.structs import replace

from mailstore.delegating import Delegating, StoreBehind
from mailstore.errors import DraftRefused, MailboxMissing, MailError, StoreError
from mailstore.location import without_secrets
from mailstore.records.events import Event, Mailboxes, Progress, Reset
from mailstore.records.message import Intervention, Message
from mailstore.records.roster import Agent
from mailstore.records.scope import KIND, LABEL, label_of, parts_of, url_of
from mailstore.registry import open_store
from mailstore.several.part import SeveralPart
from mailstore.store import Capabilities, Capability, WatchedPaths

if TYPE_CHECKING:
    from mailstore.records.draft import Draft
    from mailstore.rules.archive_plan import ArchivePlan, ArchiveReport, IsCancelled, Tell

REPLAYED = 1000
FIRST_PAUSE = 2.0
LONGEST_PAUSE = 30.0
"""Seconds before a mailbox that failed is opened again: after the first failure, and at most."""
T = TypeVar("T")


class SeveralStore(Delegating):
    """Mailboxes side by side: every name has its mailbox's label, and a write goes to one of them."""

    kind: ClassVar[str] = KIND
    summary: ClassVar[str] = "several mailboxes in one console: signalbox open A B C"
    declared: ClassVar[Capabilities] = Capabilities({Capability.ADOPT: "it is several mailboxes: name one"})

    def __init__(self, parts: Sequence[SeveralPart]) -> None:
        self._parts = {part.scope.label: part for part in parts}
        self._capabilities = self._common()
        self._ready: deque[list[Event]] = deque()
        self._scanning = self._scan()

    @classmethod
    def open(cls, location: str, *, poll: bool = False) -> Self:
        """Open the mailboxes that a location names as `LABEL=URL&…`; one that can't be opened is a problem."""
        named = parts_of(f"{KIND}:{location}")
        if not named or not all(LABEL.fullmatch(label) for label in named):
            shown = without_secrets(f"{KIND}:{location}").partition(":")[2]
            raise MailboxMissing(f"{shown} names no mailboxes", "signalbox open A B C opens several", "E300")
        parts = [SeveralPart(label, url, poll=poll) for label, url in named.items()]
        failures = [part.failure for part in parts if part.failure]
        if len(failures) == len(parts):
            raise failures[0]
        return cls(parts)

    @property
    def url(self) -> str:
        """Return the URL of these mailboxes together."""
        return url_of({label: part.url if part.failure else part.store.url for label, part in self._parts.items()})

    @property
    def title(self) -> str:
        return " ".join(self._parts)[:40]

    def _common(self) -> Capabilities:
        parts = list(self._parts.values())
        missing = {
            capability: parts[0].capabilities.why_not(capability)
            for capability in Capability
            if not any(capability in part.capabilities for part in parts)
        }
        return Capabilities({**missing, **self.declared.missing})

    @property
    def capabilities(self) -> Capabilities:
        """Return what can be done in at least one of them."""
        return self._capabilities

    def capabilities_for(self, name: str) -> Capabilities:
        """Return what can be done in the mailbox of a message or an agent."""
        part = self._parts.get(label_of(name))
        return self.capabilities if part is None else part.capabilities_for(name)

    def watched(self) -> WatchedPaths:
        """Return the paths of all of them; none if one can't be opened."""
        return WatchedPaths() if any(part.failure for part in self._parts.values()) else super().watched()

    # Reading

    def scan(self) -> Iterator[list[Event]]:
        """Yield everything, once, in turns of one batch per mailbox."""
        yield from self._scanning

    def _scan(self) -> Iterator[list[Event]]:
        yield [Mailboxes(tuple(self._parts))]
        scans = {part.scope.label: part.scan() for part in self._parts.values()}
        while scans:
            for label in list(scans):
                batch = next(scans[label], None)
                if batch is None:
                    del scans[label]
                else:
                    yield from self._told(self._parts[label], batch)
            # the first progress says that the newest mail of all of them has been yielded
            if all(self._parts[label].progress for label in scans):
                yield [self._progress()]

    def _progress(self) -> Progress:
        known = [part.progress for part in self._parts.values() if part.progress]
        return Progress(sum(progress.done for progress in known), sum(progress.total for progress in known))

    async def changes(self) -> AsyncGenerator[list[Event], None]:
        """Yield what is added to any of them."""
        import asyncio

        came = asyncio.Event()

        def put(part: SeveralPart, batch: list[Event]) -> None:
            self._ready.extend(self._told(part, batch))
            came.set()

        async def carry(part: SeveralPart) -> None:
            while part.failure is not None or Capability.FOLLOW in part.capabilities:
                if part.failure is not None:
                    await self._reopened(part)
                    put(part, part.take([Reset("it can be reached")]))
                try:
                    async with aclosing(part.store.changes()) as changes:
                        async for batch in changes:
                            put(part, part.take(batch))
                    return
                except MailError as error:
                    put(part, part.fail(error))

        while (batch := await asyncio.to_thread(next, self._scanning, None)) is not None:
            yield batch
        tasks = [asyncio.create_task(carry(part)) for part in self._parts.values()]
        try:
            while True:
                while self._ready:
                    yield self._ready.popleft()
                came.clear()
                if not self._ready:
                    await came.wait()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _reopened(self, part: SeveralPart) -> None:
        """Wait until a mailbox that failed can be opened: it is tried again and again, ever less often."""
        import asyncio

        pause = FIRST_PAUSE
        await asyncio.sleep(pause)
        while not await asyncio.to_thread(part.reopen):
            pause = min(2 * pause, LONGEST_PAUSE)
            await asyncio.sleep(pause)
        self._capabilities = self._common()

    def _told(self, part: SeveralPart, batch: list[Event]) -> Iterator[list[Event]]:
        """Yield a batch of one mailbox; if it resets, the events of the others are replayed."""
        if batch and isinstance(batch[0], Reset):
            yield [batch[0], Mailboxes(tuple(self._parts))]
            for other in self._parts.values():
                if other is not part:
                    yield from (other.reported[at : at + REPLAYED] for at in range(0, len(other.reported), REPLAYED))
                    if other.lost is not None:
                        yield [other.lost]
            batch = batch[1:]
        if batch:
            yield batch

    def _holders(self) -> list[StoreBehind]:
        return [StoreBehind(part.store, part.scope) for part in self._parts.values() if part.failure is None]

    def _holder(self, name: str) -> StoreBehind | None:
        part = self._parts.get(label_of(name))
        return None if part is None or part.failure is not None else StoreBehind(part.store, part.scope)

    def candidates(self, words: Sequence[str]) -> Generator[list[str]]:
        """Yield the hints of each mailbox in turn; without hints, all ids of the mailbox, newest first."""
        hints = [part.candidates(words) for part in self._parts.values()]
        try:
            while hints:
                for hint in list(hints):
                    ids = next(hint, None)
                    if ids is None:
                        hints.remove(hint)
                    else:
                        yield ids
        finally:
            for hint in hints:
                hint.close()

    def _part(self, name: str) -> SeveralPart:
        part = self._parts.get(label_of(name))
        if part is None:
            raise StoreError(f"{name!r} is in none of the mailboxes", f"there are {', '.join(self._parts)}", "E301")
        return part

    # Writing

    def check_draft(self, draft: Draft) -> None:
        """Accept any draft: the mailbox that it is for checks it."""

    sends_files: ClassVar[bool] = True  # the mailbox that it is sent in says whether it does

    def write_message(self, draft: Draft) -> Message:
        """Send in the mailbox of the recipients, or of the answered message."""
        part = self._addressed(draft)
        return part.scope.message(part.store.send(self._bare(draft, part)))

    def why_not_acknowledged(self, message_id: str) -> str:
        held = self._holder(message_id)
        return held.store.why_not_acknowledged(held.scope.bare(message_id)) if held else "its mailbox can't be opened"

    def write_acknowledgements(self, reader: str, message_ids: Sequence[str]) -> int:
        count = 0
        for store, scope in self._holders():
            if own := [scope.bare(each) for each in message_ids if label_of(each) == scope.label]:
                count += store.acknowledge(scope.bare(reader), own)
        return count

    def would_wake(self, draft: Draft, names: Iterable[str]) -> list[str]:
        """Return which agents a draft's text would wake in the mailbox that it is for."""
        try:
            part = self._addressed(draft)
        except DraftRefused:
            return []
        if part.failure is not None:
            return []
        own = [part.scope.bare(name) for name in names if label_of(name) == part.scope.label]
        return [part.scope.id(name) for name in part.store.would_wake(self._bare(draft, part), own)]

    def is_for_named(self, draft: Draft) -> bool:
        """Ask the mailbox that a draft is for."""
        try:
            part = self._addressed(draft)
        except DraftRefused:
            return False
        return part.failure is None and part.store.is_for_named(self._bare(draft, part))

    @staticmethod
    def _bare(draft: Draft, part: SeveralPart) -> Draft:
        bare = part.scope.bare
        return draft.model_copy(
            update={
                "sender": bare(draft.sender),
                "recipients": tuple(map(bare, draft.recipients)),
                "thread": draft.thread if draft.thread is None else bare(draft.thread),
                "audience": tuple(map(bare, draft.audience)),
            }
        )

    def _addressed(self, draft: Draft) -> SeveralPart:
        named = {label_of(name) for name in (*draft.recipients, draft.thread or "", draft.sender)} & set(self._parts)
        if len(named) > 1:
            raise DraftRefused(
                "to", f"names {len(named)} mailboxes", "one message goes to one mailbox: send two", "E347"
            )
        able = [label for label, part in self._parts.items() if Capability.SEND in part.capabilities]
        for label in named or (able if len(able) == 1 else ()):
            return self._parts[label]
        example = f"{next(iter(self._parts))}/NAME"
        raise DraftRefused("to", "doesn't say in which mailbox", f"write its label before the name: {example}", "E346")

    def write_reads(self, reader: str, message_ids: Sequence[str]) -> int:
        """Record in each mailbox that a reader has read its messages."""
        count = 0
        for part in self._parts.values():
            own = [part.scope.bare(each) for each in message_ids if label_of(each) == part.scope.label]
            if own and Capability.MARK_READ in part.capabilities:
                count += part.store.mark_read(part.scope.bare(reader), own)
        return count

    def write_agent(self, agent: Agent) -> None:
        """Register an agent in its mailbox, or replace its entry there."""
        part = self._part(agent.session_id)
        part.store.update_agent(part.scope.bare_agent(agent))

    def write_intervention(self, intervention: Intervention) -> None:
        """Append to the journal of the mailbox that the action is about."""
        able = [part for part in self._parts.values() if Capability.RECORD in part.capabilities]
        part = self._part(intervention.message_id) if intervention.message_id else able[0]
        part.store.record(part.scope.bare_intervention(intervention))

    def write_archive(
        self, plan: ArchivePlan, *, progress: Tell | None, is_cancelled: IsCancelled | None
    ) -> ArchiveReport:
        """Archive the threads of each mailbox there; one that can't archive keeps its threads."""
        from mailstore.rules.archive_plan import ArchiveReport

        reports: list[tuple[str, ArchiveReport]] = []
        for label, part in self._parts.items():
            bare = part.scope.bare
            own = tuple(tuple(map(bare, ids)) for ids in plan.threads if label_of(ids[0]) == label)
            if own and Capability.ARCHIVE in part.capabilities:
                its = replace(plan, threads=own)
                reports.append((label, part.store.archive(its, progress=progress, is_cancelled=is_cancelled)))
        return ArchiveReport(
            archived=sum(report.archived for _, report in reports),
            kept=sum(report.kept for _, report in reports),
            files=tuple(f"{label}/{file}" for label, report in reports for file in report.files),
            run=" ".join(report.run for _, report in reports if report.run),
            is_cancelled=any(report.is_cancelled for _, report in reports),
            mended=tuple(f"{label}: {words}" for label, report in reports for words in report.mended),
        )

    def close(self) -> None:
        for part in self._parts.values():
            part.close()


def named_together(given: Iterable[str], *, poll: bool = False) -> str:
    """Return the URL of several mailboxes, each given as `URL` or `LABEL=URL`. Raises StoreError.

    The default label is the kind, then the title, then one of these with a number.
    """
    parts: dict[str, str] = {}
    for text in given:
        label, sign, url = text.partition("=")
        if not sign or not LABEL.fullmatch(label):
            label, url = "", text
        if label in parts:
            raise StoreError(f"two mailboxes are called {label!r}", "give each a label of its own: LABEL=URL", "E298")
        names, url = _names(url, poll)
        parts[label or _free(names, parts)] = url
    return url_of(parts)


def _names(url: str, poll: bool) -> tuple[list[str], str]:
    """Return possible labels and the absolute URL; a mailbox that can't be opened keeps the given one."""
    try:
        with open_store(url, poll=poll) as store:
            return [store.kind, *re.split(r"[/\\]", store.title)], store.url
    except MailError:
        return [part for part in re.split(r"[/\\:]", without_secrets(url)) if part][::-1], url


def _free(names: list[str], taken: Iterable[str]) -> str:
    used = set(taken)
    fit = [name for name in (re.sub(r"[^A-Za-z0-9_.-]", "-", name).strip(".-_")[:20] for name in names) if name]
    for name in fit or ["mailbox"]:
        if name not in used and LABEL.fullmatch(name):
            return name
    first = (fit or ["mailbox"])[0]
    return next(label for number in range(2, 1000) if (label := f"{first}-{number}") not in used)
