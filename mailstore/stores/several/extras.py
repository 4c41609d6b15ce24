"""What the mailboxes of several offer beyond the contract, asked of the one that a name belongs to."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import BinaryIO

from msgspec.structs import replace

from mailstore.errors import ContentGone
from mailstore.optional import attachments, delayed, describe_agent, is_waiting, open_attachment, ways
from mailstore.records.agent_fact import AgentFact
from mailstore.records.attached_file import AttachedFile
from mailstore.records.letter_way import LetterWay
from mailstore.records.message import Message
from mailstore.records.scope import label_of
from mailstore.stores.several.part import SeveralPart

__all__ = ["SeveralExtras"]


class SeveralExtras(ABC):
    """Passes questions on to a mailbox, without its label; one that failed answers as if it had nothing to say."""

    @abstractmethod
    def _able(self) -> Mapping[str, SeveralPart]:
        """Return the mailboxes that did not fail, by label."""

    def attachments(self, message: Message, places: Sequence[str] = ()) -> Sequence[AttachedFile]:
        """Return the files of a message."""
        part = self._able().get(label_of(message.id))
        return () if part is None else attachments(part.store, part.scope.bare_message(message), _bare(part, places))

    def open_attachment(self, message: Message, name: str, places: Sequence[str] = ()) -> BinaryIO:
        """Open one of a message's files for reading. Raises ContentGone."""
        part = self._able().get(label_of(message.id))
        if part is None:
            raise ContentGone(f"the mailbox of {message.id} can't be read", "try again when it can be reached")
        return open_attachment(part.store, part.scope.bare_message(message), name, _bare(part, places))

    def describe_agent(self, name: str) -> Sequence[AgentFact]:
        """Return what an agent's mailbox knows of it."""
        part = self._able().get(label_of(name))
        return () if part is None else describe_agent(part.store, part.scope.bare(name))

    def ways(self, message: Message, places: Sequence[str] = ()) -> Sequence[LetterWay]:
        """Return how a message went."""
        part = self._able().get(label_of(message.id))
        return () if part is None else ways(part.store, part.scope.bare_message(message), _bare(part, places))

    def is_waiting(self, places: Sequence[str]) -> bool:
        """Return whether a message waits to be sent."""
        part = self._able().get(label_of(places[0])) if places else None
        return part is not None and is_waiting(part.store, _bare(part, places))

    def delayed(self) -> Mapping[str, LetterWay]:
        """Return the letters of all mailboxes that could not be sent yet."""
        return {
            part.scope.id(message_id): replace(way, recipient=part.scope.name(way.recipient))
            for part in self._able().values()
            for message_id, way in delayed(part.store).items()
        }


def _bare(part: SeveralPart, places: Sequence[str]) -> list[str]:
    return [part.scope.bare(place) for place in places]
