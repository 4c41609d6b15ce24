"""Random histories of a mailbox: what followed them has the same answers as whoever reads it anew."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from functools import partial
from random import Random
from typing import Any

import pytest

from mailstore.conformance.following import following, scanned
from mailstore.conformance.harness import Feature, Harness
from mailstore.conformance.samples import ANN, BOB, agent, at, hello, message_record
from mailstore.records.events import Event
from mailstore.state.mailbox import Mailbox
from mailstore.state.views import View
from mailstore.store import Capability

STEPS, AT_ONCE = 6, 3


def answers(events: Iterable[Event], now: float) -> dict[str, Any]:
    """Return what a mailbox answers that was folded from some events."""
    mailbox = Mailbox()
    mailbox.fold(events, now)
    mailbox.advance(now)
    result: dict[str, Any] = {"counts": mailbox.counts(), "dead": []}
    for message in mailbox.messages():
        states = {name: state.value for name, state in mailbox.bare_states(message, now).items()}
        said = message.sender, message.recipients, message.subject, message.thread, message.type, message.archived
        result[f"message {message.id}"] = said, states, mailbox.summary(mailbox.root_of(message.id)).participants
    for one in mailbox.dead_letters(now):
        result["dead"].append((one.message.id, one.recipient, one.state.value))
    for name in (ANN, BOB, "user"):
        result[f"unread {name}"] = [message.id for message in mailbox.unread(name, now)]
    for known in mailbox.roster:
        result[f"agent {known.session_id}"] = known.status.value, known.role, sorted(known.tags)
    for kind in ("all", "for-you", "dead", "waiting"):
        result[f"view {kind}"] = list(mailbox.threads(View(kind)))
    return result


class History:
    """Does to a mailbox, at random, what its kind lets other programs do."""

    def __init__(self, harness: Harness, seed: int) -> None:
        self._harness = harness
        self._chance = Random(seed)
        self._ids: list[str] = []
        self._frozen: set[str] = set()
        self._deeds: list[Callable[[], object]] = [self._message] * 3
        for needed, deed in (
            (Feature.AGENT, self._agent),
            (Feature.RECORDS, self._read),
            (Capability.SEND, self._send),
            (Capability.MARK_READ, self._mark),
        ):
            why = harness.why_not(needed) if isinstance(needed, Feature) else harness.capabilities.why_not(needed)
            self._deeds += [] if why else [deed]

    def step(self) -> None:
        """Let a few things happen."""
        for _ in range(self._chance.randint(1, AT_ONCE)):
            (self._chance.choice(self._deeds) if self._ids else self._message)()

    def answers(self, now: float) -> dict[str, Any]:
        """Return what a new reader finds."""
        with self._harness.open() as other:
            return answers(scanned(other), now)

    def _can(self, feature: Feature) -> bool:
        return not self._harness.why_not(feature)

    def _message(self) -> None:
        number = len(self._ids)
        pair = [ANN, BOB] if self._can(Feature.ANY_NAME) and self._chance.random() < 0.5 else [BOB, ANN]
        parent = self._chance.choice([None, *self._ids]) if self._can(Feature.THREAD) else None
        record = message_record(f"m{number}", number, sender=pair[0], recipient=pair[1], thread=parent)
        self._harness.message(record)
        self._ids.append(record["id"])

    def _agent(self) -> None:
        fields = {"role": self._chance.choice(["clerk", "critic"])} if self._can(Feature.ROLES) else {}
        name = self._chance.choice([ANN, BOB])
        if self._can(Feature.FREEZE) and self._chance.random() < 0.5:
            self._frozen.add(name)  # for good: a roster may not tell that an agent was once frozen
        self._harness.agent(agent(name, status="frozen" if name in self._frozen else "living", **fields))

    def _read(self) -> None:
        read = {"message_id": self._chance.choice(self._ids), "reader": self._chance.choice([ANN, BOB])}
        self._harness.read({**read, "timestamp": at(1000)})

    def _send(self) -> None:
        with self._harness.open() as other:
            other.send(hello(self._harness))

    def _mark(self) -> None:
        with self._harness.open() as other:
            other.mark_read(self._harness.reader, [self._chance.choice(self._ids)])


class HistoryContract:
    """Tests that whoever follows a mailbox knows what its files say."""

    @pytest.mark.parametrize("seed", [1, 2])
    def test_who_follows_a_mailbox_knows_what_a_new_reader_finds(self, harness: Harness, seed: int) -> None:
        harness.need(Capability.FOLLOW)
        harness.make()
        history, now = History(harness, seed), time.time()
        history.step()

        async def story() -> None:
            with harness.open() as store:
                before = scanned(store)

                def knows(events: list[Event], there: dict[str, Any]) -> bool:
                    return answers([*before, *events], now) == there

                async with following(store) as came:
                    for _ in range(STEPS):
                        await asyncio.to_thread(history.step)
                        there = await asyncio.to_thread(history.answers, now)
                        await came.until(partial(knows, there=there))

        asyncio.run(story())
