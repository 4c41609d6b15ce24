"""One of several mailboxes: its events with its label, and its failures contained."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, suppress

from mailstore.errors import MailError
from mailstore.location import without_secrets
from mailstore.records.events import Back, Event, Gone, Progress, Reset
from mailstore.records.message import Message, Problem
from mailstore.records.scope import WHOLE, Scope
from mailstore.registry import open_store
from mailstore.store import Capabilities, Capability, Store

AT_ONCE = 256


class SeveralPart:
    """A mailbox that may have failed; then it emits a problem, has no capabilities, and can be opened again.

    `reported` are its valid events so far, to be replayed after a reset; `lost` says that it can't be reached now.
    """

    def __init__(self, label: str, url: str, *, poll: bool = False) -> None:
        self.scope = Scope(label)
        self.url = without_secrets(url)
        self.reported: list[Event] = []
        self.progress: Progress | None = None
        self.lost: Gone | None = None
        self.failure: MailError | None = None
        self._given, self._poll = url, poll
        self._store: Store | None = None
        self._open()

    def _open(self) -> None:
        try:
            self._store = open_store(self._given, poll=self._poll)
            self.failure = None
        except MailError as error:
            self.failure = error

    def reopen(self) -> bool:
        """Open a mailbox that failed anew; return whether that succeeded. Blocks."""
        self.close()
        self._store, self.progress = None, None
        self._open()
        return self.failure is None

    @property
    def store(self) -> Store:
        """Return the mailbox's store. Raises the error that it failed with."""
        if self._store is None:
            raise self.failure or MailError("the mailbox can't be opened", "check its location", "E299")
        return self._store

    @property
    def capabilities(self) -> Capabilities:
        """The capabilities; none if the mailbox can't be opened."""
        if self._store is None:
            return Capabilities(dict.fromkeys(Capability, str(self.failure)))
        return self._store.capabilities

    def capabilities_for(self, name: str) -> Capabilities:
        """Return what can be done with a message or an agent, given with the label."""
        return self.capabilities if self._store is None else self._store.capabilities_for(self.scope.bare(name))

    def scan(self) -> Iterator[list[Event]]:
        """Yield everything; a failure becomes a problem of this mailbox."""
        try:
            for batch in self.store.scan():
                yield self.take(batch)
        except MailError as error:
            yield self.fail(error)

    def candidates(self, words: Sequence[str]) -> Generator[list[str]]:
        """Yield the labelled ids of its messages that may contain one of some words."""
        hint = None if self._store is None or self._may_be_of_label(words) else self._store.candidates(words)
        if hint is None:
            reported = [event.id for event in reversed(self.reported) if isinstance(event, Message)]
            yield from (reported[at : at + AT_ONCE] for at in range(0, len(reported), AT_ONCE))
            return
        with closing(hint):
            for ids in hint:
                yield [self.scope.id(each) for each in ids]

    def _may_be_of_label(self, words: Sequence[str]) -> bool:
        """Return whether a word may match the label, which the mailbox itself doesn't know."""
        label = self.scope.id("all").casefold()
        folded = [word.casefold() for word in words]
        return any(word in label or "/" in word or ":" in word for word in folded)

    def fail(self, error: MailError) -> list[Event]:
        """Return the events that report a failure."""
        self.failure = error
        return self.take([Problem(WHOLE, 1, 0, str(error)), Gone(str(error))])

    def take(self, batch: Sequence[Event]) -> list[Event]:
        """Return a batch's events with this mailbox's label, and remember the valid ones."""
        result: list[Event] = []
        for event in batch:
            if isinstance(event, Progress):
                self.progress = event
            elif isinstance(event, Reset):
                self.lost = None
                self.reported.clear()
                result = [Reset(f"{self.scope.label}: {event.reason}")]
            elif isinstance(event, Gone):
                since = time.time() if event.since is None else event.since
                self.lost = Gone(event.reason, since if self.lost is None else self.lost.since, self.scope.label)
                result.append(self.lost)
            elif isinstance(event, Back):
                self.lost = None
                result.append(Back(self.scope.label))
            else:
                result.append(self._keep(self.scope.event(event)))
        return result

    def _keep(self, event: Event) -> Event:
        self.reported.append(event)
        return event

    def close(self) -> None:
        with suppress(MailError):
            self.store.close()
