"""The commands of the line-mode console."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module

from console.cli.loading import Loaded, find_message
from console.cli.parser import run_module
from console.cli.plain import put
from console.cli.terminal_io import guarded
from console.cli.thread import branch
from console.commands.shell import COMMANDS as CLI
from console.errors import Refused, UsedWrongly
from console.hooks.sessions.live import hooked_agents
from console.plain.news import News
from console.render.safe import visible_line
from console.render.short_text import age
from console.sending.delivery import delivery_of
from console.session import Session
from console.words.cut_off_words import cut_off_line, cut_off_news
from mailstore.records.events import Seen
from mailstore.records.message import Message
from mailstore.state.arrivals import Arrivals
from mailstore.state.connections import CutOff
from mailstore.state.views import View, ViewKind
from mailstore.store import Capability
from mailstore.writing.replying import reply_to

PASSED_ON = {
    "agents": "console.cli.agents",
    "attention": "console.cli.attention",
    "away": "console.cli.away",
    "channels": "console.cli.channels",
    "dead-letters": "console.cli.dead_letters",
    "doctor": "console.cli.doctor",
    "overview": "console.cli.overview",
    "roster": "console.cli.roster",
    "search": "console.cli.search",
    "thread": "console.cli.thread",
    "timeline": "console.cli.timeline",
}
"""Commands of the command line that also run here, with their modules."""
WRITING = {"dead-letters", "roster"}
"""Commands that may write; with --observe they only list."""
VIEWS: dict[str, ViewKind] = {
    "for-you": "for-you",
    "unread": "unread",
    "dead": "dead",
    "waiting": "waiting",
    "all": "all",
    "archive": "archive",
}
LISTED = 20


@dataclass(frozen=True, slots=True)
class PlainCommand:
    """A command's usage, help text, and method."""

    usage: str
    help: str
    method: str


COMMANDS = {
    "threads": PlainCommand(
        "threads [VIEW] [FROM]", f"List the threads of a view: {', '.join(VIEWS)}, #CHANNEL", "threads"
    ),
    "open": PlainCommand("open N or ID", "Read a thread of the last list and mark it as seen", "open"),
    "next": PlainCommand("next", "Read the next thread with unseen mail", "next"),
    "reply": PlainCommand("reply N or ID", "Reply to a message; between agents, to both sides", "reply"),
    "send": PlainCommand("send [ADDRESS]", "Write a message", "send"),
    "status": PlainCommand("status", "Show how many messages there are", "status"),
    "help": PlainCommand("help", "List the commands", "help"),
    "quit": PlainCommand("quit", "Quit", "quit"),
}


class PlainDesk:
    """A line-mode console on one mailbox; `ask` returns a line for a prompt, None at the end of the input."""

    def __init__(self, session: Session, news: News, ask: Callable[[str], str | None]) -> None:
        self.session = session
        self._news = news
        self._ask = ask
        self._listed: list[str] = []
        self._arrivals = Arrivals()
        self._lost: dict[str, CutOff] = {}
        self.is_left = False

    def run(self, line: str) -> None:
        """Run a line; report errors in it."""
        guarded(self._run, [line])

    def _run(self, lines: list[str]) -> int:
        try:
            words = shlex.split(lines[0])
        except ValueError as error:
            raise UsedWrongly(f"can't parse the line ({error})", "close the quotes", "E238") from error
        if not words:
            return 0
        name, rest = words[0].lower(), words[1:]
        if name in COMMANDS:
            getattr(self, f"_{COMMANDS[name].method}")(rest)
            return 0
        if name not in PASSED_ON:
            raise UsedWrongly(f'unknown command "{words[0]}"', "help lists the commands", "E235")
        if name in WRITING and self.session.observe and rest and rest[0] not in ("list",):
            raise Refused("nothing is written with --observe", "open the mailbox without --observe", "E185")
        words = [*map(self._unnumbered, rest), "--store", self.session.url]
        return run_module(import_module(PASSED_ON[name]), name, CLI[name].summary, words)

    def tell_news(self) -> None:
        """Apply new events, and print a line for each message for the user."""
        events = self._news.take()
        if not events:
            return
        mailbox = self.session.mailbox
        for message in self._arrivals.fold(mailbox, events, self.session.now()):
            if mailbox.is_mine(message) and message.sender != self.session.user:
                put(f"New for you: {self._line(message)}")
        before, self._lost = self._lost, {lost.label: lost for lost in mailbox.cut_off()}
        for words in cut_off_news(before, self._lost, self.session.now()):
            put(words)

    def _line(self, message: Message) -> str:
        return visible_line(f"{message.subject or '(no subject)'}, from {message.sender}, id {message.id}")

    def _unnumbered(self, word: str) -> str:
        """Return the id that a number of the last list stands for."""
        if word.isdecimal() and 0 < int(word) <= len(self._listed):
            return self._listed[int(word) - 1]
        return word

    @property
    def _loaded(self) -> Loaded:
        return Loaded(self.session.store, self.session.mailbox, self.session.now())

    def _message(self, words: Sequence[str], what: str) -> Message:
        if len(words) != 1:
            raise UsedWrongly(f"{what} needs one message", f"write {what} N (of the last list) or {what} ID", "E236")
        return find_message(self.session.mailbox, self._unnumbered(words[0]))

    # Commands

    def _threads(self, words: list[str]) -> None:
        mailbox, now = self.session.mailbox, self.session.now()
        start = int(words.pop()) if words and words[-1].isdecimal() else 1
        name = words[0] if words else "all"
        if name.startswith("#"):
            tags = [channel.tag for channel in mailbox.channels() if mailbox.label(channel.tag) == name]
            view = View("channel", tags[0]) if tags else None
        else:
            view = View(VIEWS[name]) if name in VIEWS else None
        if view is None:
            raise UsedWrongly(f'unknown view "{name}"', f"use {', '.join(VIEWS)} or #CHANNEL", "E237")
        self._listed = list(mailbox.threads(view))
        part = self._listed[max(0, start - 1) : start - 1 + LISTED]
        for number, root in enumerate(part, start):
            summary = mailbox.summary(root)
            seen = f", {summary.unseen} unread" if summary.unseen else ""
            seen += f", {summary.quiet} muted or snoozed" if summary.quiet else ""
            people = ", ".join(map(mailbox.label, summary.participants))
            size = f"{summary.messages} message{'s' * (summary.messages != 1)}"
            text = (
                f"{number}. {summary.subject or '(no subject)'}. {size}{seen}. {people}. {age(now - summary.last_time)}"
            )
            put(visible_line(text))
        left = len(self._listed) - (start - 1 + len(part))
        more = f", {left} more: threads {name} {start + LISTED}" if left > 0 else ""
        put(f"{len(self._listed)} thread{'s' * (len(self._listed) != 1)} in {visible_line(name)}{more}")

    def _open(self, words: list[str]) -> None:
        message = self._message(words, "open")
        self._read(self.session.mailbox.root_of(message.id))

    def _read(self, root: str) -> None:
        mailbox = self.session.mailbox
        for node in mailbox.tree(root):
            put(branch(self._loaded, node))
        fresh = [
            thread_message for thread_message in mailbox.thread_messages(root) if mailbox.is_unseen(thread_message)
        ]
        mailbox.fold([Seen(message.id) for message in fresh], self.session.now())
        self.session.personal.set_seen([message.id for message in fresh], is_seen=True)
        self.session.personal.save_seen()
        self.session.write_read_records([message.id for message in fresh if self.session.waits_for_user(message)])

    def _next(self, words: list[str]) -> None:
        mailbox = self.session.mailbox
        root = next((root for root in mailbox.threads(View("all")) if mailbox.summary(root).unseen), None)
        if root is None:
            put("Nothing unread here.")
        else:
            self._read(root)

    def _reply(self, words: list[str]) -> None:
        message = self._message(words, "reply")
        reply = reply_to(self.session.mailbox, message)
        if reply.is_intervention:
            put(visible_line(f"This reply intervenes between {', '.join(reply.recipients)}."))
        self._write(reply.recipients, reply.subject, reply.thread, "intervene" if reply.is_intervention else "")

    def _send(self, words: list[str]) -> None:
        to = words[0] if words else self._ask("To: ")
        if not to:
            put("Nothing was sent.")
            return
        subject = self._ask("Subject: ") if Capability.SUBJECT in self.session.store.capabilities_for(to) else ""
        self._write((to,), subject or "", None, "")

    def _write(self, recipients: tuple[str, ...], subject: str, thread: str | None, action: str) -> None:
        reason = self.session.why_not(Capability.SEND, thread or recipients[0])
        if reason:
            remedy = "open the mailbox without --observe" if self.session.observe else "see signalbox stores"
            raise Refused(f"can't write here ({reason})", remedy, "E186")
        for name in (thread or "", *recipients):
            if (lost := self.session.mailbox.cut_off_of(name)) is not None:
                raise Refused(cut_off_line(lost, self.session.now()), "write when it can be reached again")
        put("Write the text. End with a line with a single dot, or cancel with a line with !cancel.")
        lines: list[str] = []
        while (line := self._ask("")) != ".":
            if line is None or line == "!cancel":
                put("Nothing was sent.")
                return
            lines.append(line)
        session = self.session
        session.hooked = hooked_agents(session.url, session.clock())
        delivery = delivery_of(session)
        prepared = delivery.prepare(
            sender=session.user,
            recipients=recipients,
            subject="" if session.why_not(Capability.SUBJECT, thread or recipients[0]) else subject,
            content="\n".join(lines),
            thread=thread,
        )
        sending = delivery.send(prepared, action=action)
        sent, unrecorded = sending.message, sending.unrecorded
        put(visible_line(f"Sent to {', '.join(map(session.mailbox.label, sent.recipients))}, id {sent.id}"))
        if unrecorded is not None:
            put(visible_line(f"The journal has no record of it: {unrecorded}"))
        for line in (*prepared.hearing_lines, *map(str, delivery.wake(prepared, sending))):
            put(visible_line(line))

    def _status(self, words: list[str]) -> None:
        counts = self.session.mailbox.counts()
        facts = [
            f"{counts.messages} message{'s' * (counts.messages != 1)}",
            f"{counts.for_you} for you",
            f"{counts.unseen} unread",
            f"{counts.dead} dead letter{'s' * (counts.dead != 1)}",
            f"{counts.waiting} waiting",
        ]
        put(", ".join(facts + [f"{counts.quiet} muted or snoozed"] * bool(counts.quiet)))
        for lost in self.session.mailbox.cut_off():
            put(cut_off_line(lost, self.session.now()))

    def _help(self, words: list[str]) -> None:
        for command in COMMANDS.values():
            put(f"{command.usage}: {command.help}")
        for name in PASSED_ON:
            put(f"{name}: {CLI[name].summary} (as signalbox {name})")

    def _quit(self, words: list[str]) -> None:
        self.is_left = True


def read_line(prompt: str) -> str | None:
    """Ask for a line, with the line editing of the terminal; None at the end of the input."""
    sys.stdout.write(prompt)
    sys.stdout.flush()
    line = sys.stdin.readline()
    return line.rstrip("\r\n") if line else None


def run_plain(session: Session) -> int:
    """Read the mailbox, greet, and take commands until the user leaves; return the exit status."""
    session.mailbox.fold(session.personal.load(), session.now())
    for batch in session.store.scan():
        session.mailbox.fold(batch, session.now())
    session.is_loading = False
    news = News(session.store)
    desk = PlainDesk(session, news, read_line)
    put(visible_line(f"Signalbox on {session.store.title}. Type help for the commands, quit to leave."))
    desk.run("status")
    try:
        while not desk.is_left:
            desk.tell_news()
            line = ask("> ")
            if line is None:
                break
            desk.run(line)
    finally:
        news.close()
    return 0


def ask(prompt: str) -> str | None:
    """Ask for a line; an interrupt gives up what was typed, and no more."""
    try:
        return read_line(prompt)
    except KeyboardInterrupt:
        put("")
        return ""
