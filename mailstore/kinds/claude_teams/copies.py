"""Group the entries of a team's inboxes that are copies of one message."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable

import msgspec

from mailstore.kinds.claude_teams.entries import InboxEntry
from mailstore.kinds.claude_teams.notices import Notice
from mailstore.kinds.claude_teams.places import Team
from mailstore.kit.bodies import first_line, mentions
from mailstore.records.message import NEVER, Location, Message

AT_ONCE_SECONDS = 5.0
"""Maximum time between the copies of a broadcast."""
MOST_AT_ONCE = 200
"""Messages alike in the same seconds among which the one is sought that an entry is a copy of."""
PLAIN = "message"


class SeenEntry(msgspec.Struct, frozen=True, gc=False):
    """An entry that is or was in an inbox, with its position among equal entries, time, location and notice.

    `id` is the id of the message if this is its first copy.
    """

    id: str
    entry: InboxEntry
    ordinal: int
    time: float
    location: Location
    notice: Notice | None

    @property
    def body(self) -> str:
        """Return the text as shown to a user."""
        return self.notice.body if self.notice else self.entry.text


def grouped(entries: Iterable[SeenEntry]) -> list[list[SeenEntry]]:
    """Group the copies of each message, newest message first, with its first copy in front.

    Copies have the same sender and text, are in different inboxes, and have the same id or nearly the same time.
    """
    alike: defaultdict[tuple[str, str], list[SeenEntry]] = defaultdict(list)
    for seen in entries:
        alike[seen.entry.sender, seen.entry.text].append(seen)
    groups: list[list[SeenEntry]] = []
    for copies in alike.values():
        copies.sort(key=lambda seen: (seen.time, seen.entry.inbox, seen.ordinal))
        groups += _grouped_alike(copies)
    groups.sort(key=lambda group: -group[0].time)
    return groups


def _grouped_alike(copies: Iterable[SeenEntry]) -> list[list[SeenEntry]]:
    """Group entries with the same sender and text, given in order of time."""
    groups: list[list[SeenEntry]] = []
    inboxes: list[set[str]] = []
    recent = 0
    free: defaultdict[str, int] = defaultdict(int)
    """Every group before has an entry of the inbox already."""
    for seen in copies:
        inbox = seen.entry.inbox
        at = max(free[inbox], recent)
        while at < len(groups) and inbox in inboxes[at]:
            at += 1
        free[inbox] = at
        candidates = range(at, min(at + MOST_AT_ONCE, len(groups)))
        home = next(
            (
                candidate
                for candidate in candidates
                if inbox not in inboxes[candidate] and _belongs(seen, groups[candidate][0])
            ),
            None,
        )
        if home is None:
            while recent < len(groups) and seen.time - groups[recent][0].time > AT_ONCE_SECONDS:
                recent += 1
            home = len(groups)
            groups.append([])
            inboxes.append(set())
        groups[home].append(seen)
        inboxes[home].add(inbox)
    return groups


def _belongs(seen: SeenEntry, first: SeenEntry) -> bool:
    """Return whether an entry of another inbox is a copy of a first one."""
    if first.entry.message_id and first.entry.message_id == seen.entry.message_id:
        return True
    if seen.entry.time is None or first.entry.time is None:
        return seen.entry.timestamp == first.entry.timestamp
    return seen.time - first.time <= AT_ONCE_SECONDS


def id_of(team: Team, entry: InboxEntry, ordinal: int) -> str:
    """Return the id of a message from its first copy: the record's own, else one derived from constant fields."""
    if entry.message_id:
        return f"{entry.message_id}{team.suffix}"
    text = hashlib.sha256(entry.text.encode("utf-8", "replace")).hexdigest()
    facts = json.dumps([team.name, entry.inbox, entry.sender, entry.timestamp, text, ordinal])
    return hashlib.sha256(facts.encode()).hexdigest()[:24]


def identity_of(message: Message) -> Hashable:
    """Return a message's identity, which doesn't depend on its location and number of copies."""
    return message.id, message.sender, message.timestamp, message.subject


def message_of(team: Team, copies: list[SeenEntry], inboxes: Collection[str] = ()) -> Message:
    """Return the message of a group of copies; `inboxes` are the names that a mention can refer to."""
    first = copies[0]
    entry, said = first.entry, first.notice
    recipients = dict.fromkeys(team.named(seen.entry.inbox) for seen in copies)
    sender = team.named(entry.sender)
    if said and said.is_for_user and sender != "user":
        recipients.pop("user", None)
        recipients["user"] = None
    return Message(
        id=first.id,
        sender=sender,
        recipients=tuple(recipients),
        timestamp=entry.timestamp,
        time=first.time,
        subject=said.subject if said else entry.summary.strip() or first_line(entry.text),
        ttl_hours=NEVER,
        type=said.type if said else "" if entry.type == PLAIN else entry.type,
        mentions=()
        if said
        else tuple(team.named(mention) if mention in inboxes else mention for mention in mentions(entry.text)),
        location=first.location,
        timed=entry.time is not None,
        is_tracked=False,
        is_listed=len(copies) > 1,
    )
