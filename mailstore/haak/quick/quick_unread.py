"""One agent's unread mail, read from the lines that name it instead of folding the mailbox: what a hook asks for.

The rules are those of every other command (`mailstore/rules/unread.py`); what is shorter is the reading. Where that
does not suffice (a damaged line that may be for the agent, an id that is used twice, an archival under way),
`Unusual` is raised, and the mailbox has to be folded. A long mailbox is read by its index as far as that reaches, and
line by line from there on; a row of the index stands for a message as its id does. Imports next to nothing
(docs/decisions/0015).
"""

from __future__ import annotations

import os
import time

from mailstore.files.scan import Unusual, quoted
from mailstore.haak.quick.line_match import LineMatcher
from mailstore.haak.quick.mail_index import kept_index
from mailstore.haak.quick.quick_records import check_archival, deliveries_in, reads_in, roster_in
from mailstore.haak_records.values import MESSAGE, NotARecord, id_in, message_fields, pick
from mailstore.kit.bodies import mentions
from mailstore.quick_answers import NotRegistered, QuickMessage
from mailstore.records.address import ROLE, role_key
from mailstore.records.protocol import LEAST_PREFIX
from mailstore.rules.audience import Facts
from mailstore.rules.unread import has_to_read, is_nobody, registered_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from typing import Any

    from mailstore.haak.quick.mail_index import MailIndex
    from mailstore.records.agent_table import AgentTable

    Record = dict[str, Any]
    ReadBy = dict[str, set[str | int]]

MAILBOX = "agent-mailbox.jsonl"


def quick_unread(mailbox: str, session_id: str, now: float) -> list[QuickMessage]:
    """Return what an agent has still to read, the oldest first; `now` in seconds since the epoch.

    `mailbox` is the path of the mailbox file. Raises NotRegistered, Unusual, and OSError.
    """
    stem = mailbox.removesuffix(".jsonl")
    check_archival(mailbox, stem)
    roster = roster_in(os.path.dirname(mailbox))  # noqa: PTH120 - pathlib costs more than all of this
    if len(roster) and is_nobody(session_id, roster):
        raise NotRegistered(session_id)
    matcher = LineMatcher(session_id, roster)
    reads = f"{stem}-reads.jsonl"
    index = kept_index(mailbox, reads, now)
    read = read_by(reads, [session_id], index)[session_id]
    delivered = deliveries_in(f"{stem}-deliveries.jsonl", session_id, matcher.called)
    start = session_id[:LEAST_PREFIX]
    missing = {each for each, texts in delivered.items() if any(text.startswith(start) for text in texts)}
    of_roles: dict[str, set[str | int]] | None = None
    messages: dict[str, QuickMessage] = {}
    for row, record in candidates(mailbox, matcher, read, delivered, index, roster, now):
        message = _message(record)
        missing.discard(message.id)
        if message.id in messages:
            raise Unusual("an id that is used twice")
        if "@" in message.content and matcher.may_mention(message.content):
            message.mentions = mentions(message.content)
        ways, named = matcher.ways_of(message), delivered.get(message.id, ())
        readers = dict.fromkeys(message.read_by)
        if any(way.kind is ROLE for way in ways) or named:
            if of_roles is None:
                holders = (name for role in matcher.roles for name in (role_key(role, roster), *roster.held(role)))
                of_roles = read_by(reads, holders, index)
            readers |= dict.fromkeys(name for name, ids in of_roles.items() if message.id in ids or row in ids)
        if has_to_read(session_id, message, Facts(readers, named), roster, now, opened=ways):
            message.registered_sender = registered_name(message.sender, roster)
            messages[message.id] = message
    if without_read(missing, read, index):
        raise Unusual("delivered, and nowhere")
    return sorted(messages.values(), key=lambda message: message.time)  # of one time, in the order of the file


def _message(record: Record) -> QuickMessage:
    content = pick(record, MESSAGE["content"])[0]
    text = "" if content is None else content
    try:
        fields = message_fields(record, text)[0] if isinstance(text, str) else {}
    except NotARecord as error:
        raise Unusual("not a message") from error
    message_id = id_in(record)
    if not message_id or not fields or fields["time"] is None:
        raise Unusual("a message without an id, a text or a time")
    return QuickMessage(message_id, text, fields)


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


def record_reads(mailbox: str, reader: str, message_ids: Iterable[str]) -> None:
    """Append read records for the mailbox file at a path. Raises MailboxBusy and StoreError."""
    from mailstore.files.append import append_lines
    from mailstore.files.owned import look_of

    now = time.time()
    stamp = f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(now))}.{int(now % 1 * 1000):03d}Z"
    append_lines(
        f"{mailbox.removesuffix('.jsonl')}-reads.jsonl",
        [
            f'{{"message_id":{quoted(each)},"reader_session_id":{quoted(reader)},"timestamp":"{stamp}"}}'.encode()
            for each in message_ids
        ],
        look_of(mailbox),
    )
