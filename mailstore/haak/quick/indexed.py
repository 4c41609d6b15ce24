"""Read a mailbox by its index as far as that reaches, and line by line from there on; where there is none, all lines.

A row of the index stands for a message as its id does. Imports next to nothing (docs/decisions/0015).
"""

from __future__ import annotations

from mailstore.haak.quick.quick_records import reads_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from typing import Any

    from mailstore.haak.quick.line_match import LineMatcher
    from mailstore.haak.quick.mail_index import MailIndex
    from mailstore.records.agent_table import AgentTable

    Record = dict[str, Any]
    ReadBy = dict[str, set[str | int]]


def read_by(reads: str, readers: Iterable[str], index: MailIndex | None) -> ReadBy:
    """Return by reader which messages it has read, as ids and rows. Raises Unusual and OSError."""
    found: ReadBy = {name: {*ids} for name, ids in reads_in(reads, readers, index.reads_end if index else 0).items()}
    if index is not None:
        for name, read in found.items():
            read.update(index.read_by(name))
            read.update(message_id for message_id, row in index.unarrived.items() if row in read)
    return found


def candidates(
    mailbox: str,
    matcher: LineMatcher,
    read: set[str | int],
    delivered: Collection[str],
    index: MailIndex | None,
    roster: AgentTable[Any],
    now: float,
) -> Iterator[tuple[int | None, Record]]:
    """Yield the messages that may be an agent's and unread, with their rows, in the order of the file.

    Raises Unusual and OSError.
    """
    if index is None:
        yield from ((None, record) for record in matcher.candidates(mailbox, read, delivered))
        return
    of_agent = now - roster.longest_suspension(matcher.session_id)
    was_frozen = any(map(roster.was_frozen, (name for role in matcher.roles for name in roster.held(role))))
    of_role = -float("inf") if was_frozen else now
    named = index.naming(matcher.may_mean, lambda name: of_role if matcher.may_mean_role(name) else of_agent)
    yield from index.records(mailbox, named, delivered, read)
    for record in matcher.candidates(mailbox, read, delivered, index.mail_end, index.has):
        yield None, record


def without_read(message_ids: set[str], read: set[str | int], index: MailIndex | None) -> set[str]:
    """Return those of some messages that are not among the ones that were read."""
    left = {each for each in message_ids if each not in read}
    return {each for each in left if read.isdisjoint(index.rows_of(each))} if index and left else left
