"""Messages made of the files of inboxes (docs/formats/omo.md#records)."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping

from mailstore.kinds.omo.entries import BROADCAST, OmoEntry, SeenFile
from mailstore.kinds.omo.places import TeamRun
from mailstore.kit.bodies import first_line, mentions
from mailstore.records.message import NEVER, Location, Message

PLAIN = "message"
WITHOUT_TEXT = {
    "shutdown_request": "Asks to shut down",
    "shutdown_approved": "Shutdown approved",
    "shutdown_rejected": "Shutdown rejected",
}


def identity_of(message: Message) -> Hashable:
    """Return a message's identity, which doesn't depend on its location and number of copies."""
    return message.id, message.sender, message.timestamp, message.subject, message.thread


def roots_of(entries: Iterable[OmoEntry]) -> dict[str, str]:
    """Return, for each correlation id, the message that it names, else the first one with it."""
    known: set[str] = set()
    first: dict[str, tuple[float, str]] = {}
    for entry in entries:
        known.add(entry.id)
        if entry.correlation:
            this = (float("inf") if entry.time is None else entry.time, entry.id)
            first[entry.correlation] = min(this, first.get(entry.correlation, this))
    return {correlation: correlation if correlation in known else place[1] for correlation, place in first.items()}


def letter_of(
    team: TeamRun, copies: list[SeenFile], roots: Mapping[str, str], inboxes: Collection[str] = ()
) -> Message:
    """Return the message of some copies; `inboxes` are the names that a mention can refer to."""
    entry = copies[0].entry
    is_broadcast = entry.to == BROADCAST
    root = roots.get(entry.correlation, entry.id)
    subject = entry.summary or first_line(entry.body)
    said = WITHOUT_TEXT.get(entry.kind, "")
    return Message(
        id=entry.id,
        sender=team.named(entry.sender),
        recipients=("all",) if is_broadcast else tuple(dict.fromkeys(team.named(seen.inbox) for seen in copies)),
        timestamp=entry.timestamp,
        time=copies[0].time,
        subject=f"{said}: {subject}" if said and subject else said or subject,
        thread=None if root == entry.id else root,
        ttl_hours=NEVER,
        type="" if entry.kind == PLAIN else entry.kind,
        tags=tuple(f"reference:{each}" for each in entry.references),
        mentions=tuple(team.named(it) if it in inboxes else it for it in mentions(entry.body)),
        location=Location(copies[0].file, 0, len(entry.raw)),
        timed=entry.time is not None,
        is_listed=is_broadcast or len(copies) > 1,
    )
