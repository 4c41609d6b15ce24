"""A store of agent teams: one team, or all the teams of a folder, existing or gone."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

from mailstore.errors import ContentGone, DraftRefused, StoreError
from mailstore.kit.locating import unreadable
from mailstore.kit.part_reader import PartReader
from mailstore.kit.team_folders.files import TeamLocation
from mailstore.kit.team_folders.seen_journal import SeenJournal, gone_words
from mailstore.kit.team_folders.seen_source import SeenSource
from mailstore.kit.watched_store import WatchedStore
from mailstore.records.message import Message
from mailstore.store import Capabilities, Capability

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mailstore.records.draft import Draft

MARKS = frozenset("/\\\x00")


class SeenTeamsStore(WatchedStore):
    """Teams whose program deletes mail and teams: what was seen is kept in a journal, and shown from there."""

    source_type: ClassVar[type[SeenSource[Any]]]
    journal_type: ClassVar[type[SeenJournal[Any]]]
    never_seen: ClassVar[str]
    """Why a message may be in no inbox."""

    def __init__(self, place: Any, *, poll: bool = False) -> None:
        self._place: TeamLocation = place
        self._source = self.source_type(place)
        declared = self.declared
        self._capabilities = declared.without(self.notice, Capability.SEND) if place.is_gone else declared
        super().__init__(PartReader(self._source), place.folder, poll=poll)

    @property
    @abstractmethod
    def name(self) -> str:
        """Return what the team, or the folder of teams, is called."""

    @property
    def title(self) -> str:
        return f"{self.name} (gone)" if self._place.is_gone else self.name

    @property
    def notice(self) -> str:
        """Return since when the team is gone, if it was gone when opened."""
        folder, called = self._place.folder, self.source_type.called
        if not self._place.is_gone:
            return ""
        if self._place.is_several:
            return f"{folder} is gone: showing what was seen of its {called}s"
        return gone_words(f"{called} {folder.name}", self.journal_type(folder).gone_since())

    @property
    def capabilities(self) -> Capabilities:
        return self._capabilities

    def raw(self, message: Message) -> bytes:
        """Return the bytes of a message's record as last seen. Raises ContentGone."""
        raw: bytes = self._seen(message).entry.raw
        return raw

    def _seen(self, message: Message) -> Any:
        """Return what was seen of a message; if this store hasn't seen it, from the files and the journal."""
        if (seen := self._source.find(message)) is not None:
            return seen
        anew = self.source_type(self._place, is_keeping=False)
        try:
            for part in anew.parts(closely=True):
                anew.read(part)
        except OSError as error:
            raise ContentGone(
                f"{self._place.folder} can't be read", f"was the {self.source_type.called} deleted?", "E289"
            ) from error
        if (seen := anew.find(message)) is None:
            raise ContentGone(f"message {message.id} is in no inbox", self.never_seen, "E311")
        return seen

    def _teams(self) -> list[Any]:
        """Return the teams, or the one team."""
        return self._source.teams() if self._place.is_several else [self._place.at(self._place.folder.name)]

    def _teams_for(self, draft: Draft) -> list[Any]:
        """Return the existing teams. Raises DraftRefused if the draft is for one that is gone, and StoreError."""
        try:
            names = self._place.existing()
        except OSError as error:
            raise unreadable(self._place.folder, error) from error
        for name in self._place.journaled():
            gone = self._place.at(name)
            if name not in names and any(recipient.endswith(gone.suffix) for recipient in draft.recipients):
                since = self.journal_type(gone.folder).gone_since()
                raise DraftRefused(
                    "to", gone_words(f"{self.source_type.called} {name}", since), "write to a running team"
                )
        return [self._place.at(name) for name in names]


def is_member_name(name: str) -> bool:
    """Say whether a member's name can be that of an inbox."""
    return name.isprintable() and not name.startswith(".") and not MARKS & set(name) and len(name) <= 200


def full_name(recipient: str, known: Mapping[str, object], bare: Mapping[str, Sequence[str]]) -> str:
    """Return a recipient's name in the mailbox; `known` has those names, `bare` the ones that members have in teams.

    Raises DraftRefused for anybody who is not a member, or whose name is that of several.
    """
    if recipient in known:
        return recipient
    meant = [name for name in bare.get(recipient, ()) if name in known]
    if len(meant) > 1:
        raise DraftRefused("to", f"{recipient!r} is in {len(meant)} teams", f"use {' or '.join(meant)}", "E514")
    if not meant:
        raise DraftRefused("to", f"{recipient!r} is not a member", f"members: {', '.join(known) or 'none'}", "E515")
    return meant[0]


def sent_to_some(reached: Sequence[str], others: Sequence[str], error: Exception) -> StoreError:
    """Return the error for a message that could not be written to all of its recipients."""
    sent, missed = ", ".join(reached), ", ".join(others)
    return StoreError(f"sent to {sent}, not to {missed} ({error})", f"send it to {missed} alone", "E512")
