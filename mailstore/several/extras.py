"""What the mailboxes of several offer beyond the contract, asked of the one that a name belongs to."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from msgspec.structs import replace

from mailstore.errors import ContentGone
from mailstore.optional import (
    SearchHints,
    acknowledge,
    attachments,
    delayed,
    describe_agent,
    is_waiting,
    late_writers,
    open_attachment,
    raw_problem,
    ways,
    why_not_acknowledged,
)
from mailstore.records.agent_fact import AgentFact
from mailstore.records.attached_file import AttachedFile
from mailstore.records.letter_way import LetterWay
from mailstore.records.message import Message, Problem
from mailstore.records.scope import label_of
from mailstore.several.part import SeveralPart

if TYPE_CHECKING:
    from mailstore.rules.archive_plan import LateWriter

__all__ = ["SeveralExtras"]


class SeveralExtras:
    """Passes questions on to a mailbox, without its label; one that failed answers as if it had nothing to say."""

    _parts: Mapping[str, SeveralPart]

    def _able(self) -> dict[str, SeveralPart]:
        """Return the mailboxes that did not fail, by label."""
        return {label: part for label, part in self._parts.items() if part.failure is None}

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

    def keep_index(self, folder: Path) -> None:
        """Keep an index of each mailbox that can have one."""
        for part in self._able().values():
            if isinstance(part.store, SearchHints):
                part.store.keep_index(folder)

    def raw_problem(self, problem: Problem) -> bytes | None:
        """Return the record that a problem is about, of a mailbox without lines. Raises ContentGone."""
        part = self._able().get(label_of(problem.file))
        if part is None:
            return None
        bare = replace(problem, file=part.scope.bare(problem.file))
        return raw_problem(part.store, bare)

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

    def why_not_acknowledged(self, message_id: str) -> str:
        """Ask the mailbox of the message."""
        part = self._able().get(label_of(message_id))
        if part is None:
            return "its mailbox can't be opened"
        return why_not_acknowledged(part.store, part.scope.bare(message_id))

    def acknowledge(self, reader: str, message_ids: Sequence[str]) -> int:
        """Acknowledge messages, each in its mailbox."""
        count = 0
        for part in self._parts.values():
            if own := [part.scope.bare(each) for each in message_ids if label_of(each) == part.scope.label]:
                count += acknowledge(part.store, part.scope.bare(reader), own)
        return count

    def late_writers(self) -> list[LateWriter]:
        """Return the programs that have a file of any of them open."""
        return [
            replace(writer, file=f"{label}/{writer.file}")
            for label, part in self._able().items()
            for writer in late_writers(part.store)
        ]


def _bare(part: SeveralPart, places: Sequence[str]) -> list[str]:
    return [part.scope.bare(place) for place in places]
