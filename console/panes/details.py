"""A message's details: recipients and their states, receipts, file and offset."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

from console.panes.facts import FactPage, fact
from console.panes.way_rows import way_rows
from console.render.safe import visible_line
from console.render.short_text import clock, size_words
from console.words.symbols import STATES
from mailstore.queries.timeline import timeline
from mailstore.records.details import AttachedFile, LetterWay
from mailstore.records.message import Message
from mailstore.state.mailbox import Mailbox

EMPTY = Content(), Content()


def details(
    mailbox: Mailbox,
    message: Message,
    now: float,
    files: Sequence[AttachedFile] = (),
    ways: Sequence[LetterWay] = (),
) -> FactPage:
    """Return everything that the mailbox knows about a message, with its files and how it went."""
    rows: list[tuple[str, str]] = [
        ("id", message.id),
        ("from", message.sender),
        ("to", ", ".join(message.recipients)),
        ("time", message.timestamp + ("" if message.timed else "  (not a time: in file order)")),
        ("subject", message.subject),
        ("type", f"{message.type or '–'}{'  (cancelled)' * (mailbox.cancelled_by(message) is not None)}"),
        ("tags", ", ".join(message.tags) or "–"),
        ("answers", message.thread or "–"),
        ("thread", mailbox.root_of(message.id)),
    ]
    expiry = mailbox.expiry(message)
    rows.append(("expires", clock(expiry, now) if expiry is not None else "never"))
    if message.location is not None:
        where = message.location
        rows.append(("file", f"{where.file}  offset {where.offset:,}  length {where.length:,}"))
        rows += [("copy", place) for place in mailbox.places(message.id) if place != where.file]
    for file in files:
        rows.append(("attached", f"{file.name}  {file.problem if file.size is None else size_words(file.size)}"))
    parts = [fact(name, value) for name, value in rows]
    if ways:
        parts += [EMPTY, (Content(" "), Content("ways")), *way_rows(ways, now)]
    parts += [EMPTY, (Content(" "), Content("recipients"))]
    for name, standing in mailbox.states(message, now).items():
        since = f"  since {clock(standing.since, now)}" if standing.since is not None else ""
        by = f"  by {', '.join(standing.by)}" if standing.by else ""
        line = f"{visible_line(name)}: {standing.state.value}{since}{visible_line(by)}"
        reason = f"  {visible_line(standing.reason)}" if standing.reason else ""
        parts.append((Content(f"   {STATES[standing.state].glyph} "), Content.assemble(line, (reason, "$muted"))))
    parts += [EMPTY, (Content(" "), Content("timeline"))]
    for moment in timeline(mailbox, message, now):
        when = clock(moment.time, now) if moment.time is not None else "–"
        how = f"  {visible_line(moment.how)}" if moment.how else ""
        what = Content(f"   {when:>12}  {moment.what:<11} ")
        parts.append((what, Content.assemble(visible_line(moment.who), (how, "$muted"))))
    return FactPage(parts)
