"""Pages about a message, its record, an agent, and problems in the settings."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rich.text import Text
from textual.content import Content

from console.panes.facts import MOST_SHOWN, FactPage, Row, beginning, fact
from console.panes.receipts import way_rows
from console.render.code import highlighted
from console.render.json_layout import laid_out
from console.render.markdown import reduced
from console.render.safe import visible, visible_line
from console.render.short_text import clock, size_words
from console.session import Session
from console.words.agent_words import doing_words, presence_line, usage_facts
from console.words.cut_off_words import cut_off_line
from console.words.styles import TextStyles
from console.words.symbols import AGENTS, SIGNS, STATES, TYPE_GLYPHS
from mailstore.queries.reading import Frontier, Frontiers
from mailstore.queries.timeline import timeline
from mailstore.records.details import AgentFact, AttachedFile, MessageWay
from mailstore.records.message import Message
from mailstore.records.roster import Agent, Status
from mailstore.state.mailbox import Mailbox

EMPTY = Content(), Content()


def details(
    mailbox: Mailbox,
    message: Message,
    now: float,
    files: Sequence[AttachedFile] = (),
    ways: Sequence[MessageWay] = (),
) -> FactPage:
    """Return everything that the mailbox knows about a message, with its files and how it went."""
    rows: list[tuple[str, str]] = [
        ("id", message.id),
        ("from", message.sender),
        ("to", ", ".join(message.recipients)),
        ("time", message.timestamp + ("" if message.timed else "  (not a time: in file order)")),
        ("subject", message.subject),
        ("type", f"{_type_words(message)}{'  (cancelled)' * (mailbox.cancelled_by(message) is not None)}"),
        ("tags", ", ".join(message.tags) or "–"),
        ("answers", message.thread or "–"),
        ("thread", mailbox.root_of(message.id)),
    ]
    signs = {
        "new to you": mailbox.is_unseen(message),
        "starred": message.id in mailbox.own_marks().starred,
        "attached file": bool(files),
    }
    if any(signs.values()):
        rows.insert(6, ("signs", ", ".join(f"{SIGNS[name].glyph} {name}" for name, holds in signs.items() if holds)))
    expiry = mailbox.expiry(message)
    rows.append(("expires", clock(expiry, now) if expiry is not None else "never"))
    if message.location is not None:
        where = message.location
        rows.append(("file", f"{where.file}  offset {where.offset:,}  length {where.length:,}"))
        rows += [("copy", place) for place in mailbox.places(message.id) if place != where.file]
    for file in files:
        rows.append(("attached", f"{file.name}  {file.problem if file.size is None else size_words(file.size)}"))
    parts = [fact(name, beginning(value)) for name, value in rows]
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


def _type_words(message: Message) -> str:
    """Return a message's type, after the glyph that lists show for it."""
    return " ".join(filter(None, (TYPE_GLYPHS.get(message.type or ""), message.type or "–")))


MOST_COLOURED = 60_000
"""Characters; longer records are laid out without colours."""


def record_page(raw: bytes, styles: TextStyles) -> Content:
    """Return a record, laid out if it is JSON, and then as it is in the store; control characters are visible.

    A long one is cut, and not laid out.
    """
    text = raw.decode("utf-8", "backslashreplace")
    as_it_is = beginning(text, visible, "\n\n")
    if len(text) > MOST_SHOWN:
        return as_it_is
    lines = laid_out(text)
    if lines is None or lines == [text.strip()]:
        return as_it_is
    code = visible("\n".join(lines))
    page = Content(code) if len(code) > MOST_COLOURED else Content.from_rich_text(_coloured(code, styles))
    return Content.assemble(
        ("JSON, formatted\n\n", "$muted"), page, ("\n\nAs it is in the file\n\n", "$muted"), as_it_is
    )


def _coloured(code: str, styles: TextStyles) -> Text:
    page = Text("\n").join(highlighted(code, "json", styles.code_theme))
    page.spans = [span._replace(style=reduced(span.style)) for span in page.spans if not isinstance(span.style, str)]
    return page


ROOM = 11
LONGEST = 20_000
"""Characters of a text that are shown."""


def agent_page(session: Session, agent: Agent, facts: Sequence[AgentFact]) -> FactPage:
    """Return a page about an agent."""
    now = session.now()
    presence = session.presence(agent)
    rows: list[tuple[str, str]] = [
        ("agent", agent.session_id),
        ("name", agent.name),
        ("role", agent.role),
        ("tags", ", ".join(agent.tags)),
        ("status", agent.status.value),
        ("state", presence_line(presence, now)),
        ("doing", doing_words(presence) or agent.activity),
        ("seen", "" if agent.last_seen is None else clock(agent.last_seen, now)),
        ("unread", str(session.mailbox.unread_count(agent.session_id))),
    ]
    if (lost := session.mailbox.cut_off_of(agent.session_id)) is not None:
        rows.append(("mailbox", cut_off_line(lost, now)))
    parts = [fact(name, value, ROOM) for name, value in rows if value]
    used = session.usage_now().get(agent.session_id)
    if used is not None:
        facts = [*facts, *usage_facts(used, session.config.attention.context_percent)]
    return FactPage([*parts, *([EMPTY] if facts else []), *map(_row, facts)])


def channel_page(session: Session, tag: str, frontiers: Frontiers) -> FactPage:
    """Return a page about a channel: how far each member has read."""
    mailbox, now = session.mailbox, session.now()
    behind = sum(bool(member.unread) for member in frontiers.members)
    rows = [
        ("channel", f"{mailbox.label(tag)} · {tag}"),
        ("messages", f"{frontiers.messages:,}" + ("" if frontiers.is_all else ", the newest of more")),
        ("readers", f"{len(frontiers.members)}, {behind or 'none'} with unread messages"),
    ]
    parts = [fact(name, value, ROOM) for name, value in rows]
    parts += [EMPTY, (Content(" "), Content("read up to"))]
    for member in frontiers.members:
        agent = mailbox.roster.get(member.name)
        glyph = AGENTS[agent.status].glyph if agent is not None else " "
        status = "" if agent is None or agent.status is Status.LIVING else f" · {agent.status.value}"
        words = f"  {_read_words(member, now)}{status}"
        parts.append((Content(f"   {glyph} "), Content.assemble(visible_line(member.name), (words, "$muted"))))
    return FactPage(parts)


def _read_words(member: Frontier, now: float) -> str:
    read, oldest = member.newest_read, member.oldest_unread
    if oldest is None:
        return "everything" if member.is_recorded or read is None else "reads are not recorded"
    latest = clock(read.time, now) if read is not None else "nothing"
    return f"{latest} · {member.unread} unread, the oldest of {clock(oldest.time, now)}"


def _row(known: AgentFact) -> Row:
    """Return a fact, whose text may have several lines; a warning stands out."""
    text = visible(known.value[:LONGEST])
    if known.is_warning:
        return fact(known.name, Content.assemble((f"{SIGNS['warning tag'].glyph} {text}", "$error")), ROOM)
    return fact(known.name, Content(text), ROOM)


PLACE = re.compile(r"(?P<file>[^\n]*?\.toml)(?::(?P<line>\d+))?: (?P<what>.*)", re.DOTALL)


def problem_page(problems: Sequence[str]) -> FactPage:
    """Return the problems by file, with their lines if known."""
    by_file: dict[str, list[Row]] = {}
    for problem in problems:
        place = PLACE.fullmatch(problem)
        line = place["line"] if place is not None else None
        label = f"  line {line}  " if line else "  • "
        what = place["what"] if place is not None else problem
        rows = by_file.setdefault(place["file"] if place is not None else "", [])
        rows.append((Content.styled(label, "$muted"), Content(visible_line(what))))
    rows = []
    for file, value in by_file.items():
        rows += [(Content(), Content.styled(visible_line(file), "bold $accent"))] if file else []
        rows += [*value, (Content(), Content())]
    return FactPage(rows or [(Content(), Content("No problems."))])
