"""List what happened while the user was away."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from textual import work
from textual.binding import BindingType

from console.panes.facts import FactPage, facts
from console.panes.list_rows import ListRow, Piece
from console.render.safe import visible_line
from console.render.short_text import age, clock, count, plural
from console.screens.away import absence_since
from console.screens.base_screen import bindings
from console.screens.list_screen import ListScreen
from console.session import Session
from console.words.styles import TextStyles
from console.words.symbols import AGENTS, STATES
from mailstore.queries.absence import Absence
from mailstore.records.roster import Status
from mailstore.rules.delivery import State


class AwayList(ListScreen):
    """Mail to the user, open questions, dead letters, agents that ended or appeared, and the busiest threads."""

    NAME = "away"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(frozenset({NAME}))]

    def __init__(self, session: Session, styles: TextStyles, since: float) -> None:
        super().__init__(session, styles)
        self._since = since
        self._found: Absence | None = None
        self._rows: list[ListRow] = []
        self._drawn_for: tuple[object, ...] = ()

    def on_mount(self) -> None:
        """Look for what happened."""
        super().on_mount()
        self._look()

    @work(group="away", exit_on_error=False)
    async def _look(self) -> None:
        self._found = await absence_since(self.session, self._since, is_live=False)
        self.redraw()

    def heading(self) -> str:
        return f"While you were away · since {clock(self._since, self.session.now())}"

    def subtitle(self, rows: Sequence[ListRow]) -> str:
        absence = self._found
        return (
            "" if absence is None else f"{plural(absence.messages, 'message')} in {plural(absence.threads, 'thread')}"
        )

    def placeholder(self) -> tuple[str, ...]:
        return ("Nothing happened.",) if self._found is not None else ("Looking…",)

    def rows(self) -> Sequence[ListRow]:
        now = self.session.now()
        wanted = (self._found, self.text_styles, now // 60)
        if wanted != self._drawn_for:
            self._drawn_for = wanted
            self._rows = list(self._all_rows(self._found, now)) if self._found is not None else []
        return self._rows

    def _all_rows(self, absence: Absence, now: float) -> Iterator[ListRow]:
        styles = self.text_styles
        dead, ended, living = STATES[State.DEAD].glyph, AGENTS[Status.DEAD].glyph, AGENTS[Status.LIVING].glyph
        for message_id in absence.for_you:
            yield self._message_row("for-you", message_id, (f"{'for you':<12}", styles.accent), now)
        for message_id in absence.questions:
            if message_id not in absence.for_you:
                yield self._message_row("question", message_id, (f"{'question':<12}", styles.accent), now)
        for message_id in dict.fromkeys(message.message_id for message in absence.dead_letters):
            yield self._message_row("letter", message_id, (f"{dead} {'dead':<10}", styles.bad), now)
        roster = self.session.mailbox.roster
        for name in absence.ended:
            agent = roster.get(name)
            since = agent.ended_at if agent is not None else None
            yield self._agent_row(name, (f"{ended} {'ended':<10}", styles.bad), since, now)
        for name in absence.appeared:
            agent = roster.get(name)
            since = agent.started_at if agent is not None else None
            yield self._agent_row(name, (f"{living} {'appeared':<10}", styles.good), since, now)
        for root, number in absence.busiest:
            yield self._message_row("thread", root, (f"{f'{count(number)} new':<12}", styles.muted), now)

    def _message_row(self, kind: str, message_id: str, label: Piece, now: float) -> ListRow:
        styles, mailbox = self.text_styles, self.session.mailbox
        message = mailbox.message(message_id)
        if message is None:
            return ListRow(f"{kind}:{message_id}", (label, ("not in the mailbox any more", styles.muted)))
        who = f"{message.sender} → {', '.join(map(mailbox.label, message.recipients))}"
        return ListRow(
            key=f"{kind}:{message_id}",
            left=(label, (visible_line(message.subject or "(no subject)"), styles.strong)),
            right=((f"{age(now - message.time):>4}", styles.muted),),
            left_below=((" " * 12, styles.muted), (visible_line(who), styles.muted)),
        )

    def _agent_row(self, name: str, label: Piece, since: float | None, now: float) -> ListRow:
        styles = self.text_styles
        agent = self.session.mailbox.roster.get(name)
        role = agent.role if agent is not None and agent.role else "no role"
        return ListRow(
            key=f"agent:{name}",
            left=(label, (visible_line(name), styles.strong)),
            right=((f"{age(now - since):>4}" if since is not None else "", styles.muted),),
            left_below=((" " * 12, styles.muted), (visible_line(role), styles.muted)),
        )

    def target(self, key: str) -> str | None:
        kind, _, name = key.partition(":")
        return None if kind == "agent" else name

    def about(self, key: str) -> FactPage:
        kind, _, name = key.partition(":")
        mailbox, now = self.session.mailbox, self.session.now()
        message = mailbox.message(name) if kind != "agent" else None
        if message is not None:
            to = ", ".join(map(mailbox.label, message.recipients))
            told = [("from", message.sender), ("to", to), ("sent", clock(message.time, now))]
            lost = [
                dead_letter
                for dead_letter in (self._found.dead_letters if self._found else ())
                if dead_letter.message_id == name
            ]
            if kind == "letter" and lost:
                told.append(("dead for", ", ".join(lost_message.recipient for lost_message in lost)))
            return facts(told)
        agent = mailbox.roster.get(name) if kind == "agent" else None
        if agent is None:
            return FactPage([])
        told = [("agent", name), ("role", agent.role or "–"), ("tags", ", ".join(agent.tags) or "–")]
        for label, moment in (("began", agent.started_at), ("ended", agent.ended_at)):
            if moment is not None:
                told.append((label, clock(moment, now)))
        return facts(told)

    def enter(self) -> None:
        """Go to the message, thread or agent under the cursor."""
        key = self.listing.cursor_key
        if key is None:
            self.tell("Nothing to go to")
        else:
            self.dismiss(key)
