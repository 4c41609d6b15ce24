"""One of the two mailboxes of a mirror: what is known to be in it, and what is to be written into it."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager

import msgspec
from msgspec.structs import replace

from mailstore.errors import MailError
from mailstore.kit.known_records import DATED, Fact, FactKey, KnownFacts, key_of, keys_of, read_at
from mailstore.mirroring.agent_lines import AgentLines
from mailstore.mirroring.mirror_report import MirrorEnd
from mailstore.records.message import Delivery, Intervention, Message, Receipt
from mailstore.store import Store
from mailstore.transfer.compare import Fate
from mailstore.transfer.copies import JoinedCopies


class Settled(msgspec.Struct, frozen=True, gc=False):
    """What is kept of a message that was compared with its counterpart: numbers for its place and for its header."""

    place: int
    header: int


def place_of(known: Message | Settled) -> int:
    """Return a number for the place of a message's record, the same when the record is yielded again."""
    return known.place if isinstance(known, Settled) else hash(known.location or known.position)


def header_of(message: Message) -> int:
    """Return a number for what a message's header says that a copy has from it."""
    return hash(replace(message, location=None, archived=False, read_by=()))


def settled(message: Message) -> Settled:
    """Return what is kept of a message."""
    return Settled(place_of(message), header_of(message))


class MirrorOffers:
    """What is to be written into a mailbox, found in the other one."""

    def __init__(self) -> None:
        self.messages: dict[str, Message] = {}
        self.deliveries: dict[str, list[Delivery]] = {}
        self.facts: dict[FactKey, Receipt | Intervention] = {}
        self.sessions: dict[str, None] = {}

    def __len__(self) -> int:
        return len(self.messages) + sum(map(len, self.deliveries.values())) + len(self.facts) + len(self.sessions)

    def add(self, fact: Fact) -> None:
        """Offer a fact."""
        if isinstance(fact, Delivery):
            self.deliveries.setdefault(fact.message_id, []).append(fact)
        elif (known := self.facts.get(key := key_of(fact))) is None or read_at(fact) < read_at(known):
            self.facts[key] = fact

    def withdraw(self, fact: Fact) -> None:
        """Offer a fact no longer: it came in another way, a read no later than it was offered."""
        if isinstance(fact, Delivery):
            left = [
                delivery
                for delivery in self.deliveries.get(fact.message_id, ())
                if delivery.recipient != fact.recipient
            ]
            if left:
                self.deliveries[fact.message_id] = left
            else:
                self.deliveries.pop(fact.message_id, None)
        else:
            for key in keys_of(fact):
                if (known := self.facts.get(key)) is not None and (key[0] != DATED or read_at(fact) <= read_at(known)):
                    del self.facts[key]

    def undelivered(self) -> Iterator[Delivery]:
        """Yield the deliveries of messages that are not offered themselves."""
        for message_id, deliveries in self.deliveries.items():
            if message_id not in self.messages:
                yield from deliveries


class Side:
    """A mailbox with what it is known to hold."""

    def __init__(self, store: Store, end: MirrorEnd) -> None:
        self.store = store
        self.end = end
        self.copies = JoinedCopies()
        self.messages: dict[str, Message | Settled] = {}
        """By id."""
        self.fates: dict[Hashable, Fate] = {}
        self.user_names: set[str] = set()
        self.facts = KnownFacts()
        self.early: dict[str, list[Delivery]] = {}
        """Deliveries of messages that were not seen yet: programs write them first."""
        self.agents: dict[str, AgentLines] = {}
        self.awaited: dict[str, Message] = {}
        """Messages of the other mailbox that were written here and not read back yet."""
        self.awaited_lines: dict[str, bytes] = {}
        """By agent, the digest of the line that was written here and not read back yet."""
        self.offers = MirrorOffers()
        self.can_be_followed = True
        self.is_gone = False
        """Whether the mailbox itself says that it can't be reached."""

    def holds(self, message_id: str) -> bool:
        """Return whether a message is here, or will be once everything is written."""
        return message_id in self.messages or message_id in self.awaited or message_id in self.offers.messages

    @property
    def name(self) -> str:
        """The mailbox's URL, without secrets."""
        return self.end.url

    def cut_off(self, reason: str, now: float) -> None:
        """Note that the mailbox can't be reached."""
        self.is_gone = True
        if self.end.cut_off is None:
            self.end.cut_off = now
        self.end.reason = reason

    def back(self) -> None:
        """Note that the mailbox can be reached."""
        self.is_gone = False
        self.end.cut_off, self.end.reason = None, ""


class MirrorTrouble(Exception):
    """One of the two mailboxes can't be read or written at the moment; `url` names it."""

    def __init__(self, url: str, error: MailError) -> None:
        super().__init__(str(error))
        self.url = url
        self.error = error


@contextmanager
def trouble_with(side: Side) -> Iterator[None]:
    """Turn an error of a mailbox into MirrorTrouble."""
    try:
        yield
    except MailError as error:
        raise MirrorTrouble(side.name, error) from error
