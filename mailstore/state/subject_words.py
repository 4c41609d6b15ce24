"""Finds words in the subject of a thread and in the names of its participants."""

from __future__ import annotations

from mailstore.records.address import resolve
from mailstore.records.roster import Roster
from mailstore.state.index import ThreadIndex


class WordFilter:
    """Words that must each be part of a thread's subject, or of the name of a participant."""

    def __init__(self, text: str, index: ThreadIndex, roster: Roster, user: str) -> None:
        self._words = text.casefold().split()
        self._index = index
        self._roster = roster
        self._user = user
        self._names: dict[str, str] = {}
        """What recipients resolved to when they were first looked up."""
        self._senders: dict[int, str] = {}
        self._heads: dict[int, str] = {}

    def are_in(self, root: int) -> bool:
        """Return whether a thread contains all words."""
        messages, members = self._index.messages, self._index.forest.members(root)
        top = root if messages.is_there(root) else min(filter(messages.is_there, members), key=messages.age)
        subject = messages.subjects[top].casefold()
        missing = [word for word in self._words if word not in subject]
        said = set[str]()
        for row in members if missing else ():
            if messages.is_there(row):
                for names in (self._sender(row), self._recipients(row)):
                    if names not in said:
                        said.add(names)
                        missing = [word for word in missing if word not in names]
                if not missing:
                    break
        return not missing

    def _sender(self, row: int) -> str:
        number = self._index.messages.senders[row]
        known = self._senders.get(number)
        if known is None:
            known = self._senders[number] = self._index.messages.sender(row).casefold()
        return known

    def _recipients(self, row: int) -> str:
        number = self._index.messages.heads[row]
        known = self._heads.get(number)
        if known is None:
            texts = self._index.messages.head(row).recipients
            known = self._heads[number] = "\n".join(map(self._name, texts)).casefold()
        return known

    def _name(self, text: str) -> str:
        known = self._names.get(text)
        if known is None:
            known = self._names[text] = resolve(text, self._roster, self._user).name
        return known

    def hold(self) -> bool:
        """Return whether all recipients still resolve to the same names."""
        return all(resolve(text, self._roster, self._user).name == name for text, name in self._names.items())

    def are_wider(self, other: WordFilter) -> bool:
        """Return whether every thread that contains the other words contains these."""
        return all(any(mine in word for word in other._words) for mine in self._words)
