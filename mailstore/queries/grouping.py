"""Count the hits of a search by sender, channel, type and thread, and narrow the search to one of those."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Literal

import msgspec

from mailstore.queries.language.tree import Either
from mailstore.queries.query import parse
from mailstore.records.address import TAG, resolve
from mailstore.records.message import Message
from mailstore.state.mailbox import Mailbox

By = Literal["sender", "channel", "type", "thread"]
BY: tuple[By, ...] = ("sender", "channel", "type", "thread")
FIELDS: dict[By, str] = {"sender": "from", "channel": "tag", "type": "type"}
"""The field of a query that finds one group's messages again."""
NEEDS_QUOTES = re.compile(r"""[\s()"]""")


class HitGroup(msgspec.Struct, frozen=True):
    """The hits that have a sender, channel, type or thread in common; `name` is the tag, or the id of the root."""

    by: By
    name: str
    messages: int


class HitCounts:
    """How many hits each sender, channel, type and thread has; a message to two channels counts in both."""

    def __init__(self, mailbox: Mailbox) -> None:
        self._mailbox = mailbox
        self._counts: dict[By, Counter[str]] = {by: Counter() for by in BY}

    def add(self, messages: Iterable[Message]) -> None:
        """Count some hits."""
        mailbox, counts = self._mailbox, self._counts
        for message in messages:
            counts["sender"][message.sender] += 1
            counts["thread"][mailbox.root_of(message.id)] += 1
            counts["type"].update([message.type] if message.type else ())
            addresses = (resolve(text, mailbox.roster, mailbox.user) for text in message.recipients)
            counts["channel"].update({address.name for address in addresses if address.kind is TAG})

    def groups(self, by: By) -> list[HitGroup]:
        """Return the groups of one kind, the largest first."""
        ordered = sorted(self._counts[by].items(), key=lambda item: (-item[1], item[0]))
        return [HitGroup(by, name, number) for name, number in ordered]


def narrowed(text: str, group: HitGroup, now: float) -> str:
    """Return a query that finds only the hits of a sender, channel or type. Raises QueryError as `parse` does."""
    value = f'"={group.name}"' if NEEDS_QUOTES.search(group.name) else f"={group.name}"
    whole = f"({text})" if isinstance(parse(text, now), Either) else text
    return f"{whole} {FIELDS[group.by]}:{value}"
