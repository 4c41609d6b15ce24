"""Settle dead letters: redirect them, send them again, or acknowledge them, each in one dialog."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from textual.screen import Screen

from console.panes.address_completion import address_candidates
from console.render.safe import visible_line
from console.screens.ask import Ask
from console.screens.base_screen import BaseScreen
from console.screens.desks.settle_dialog import SettleDialog
from console.screens.desks.settling import Preview, Settled, Settlement, Settling
from console.session import Session
from console.widgets.offers import Candidate, fitting
from mailstore.queries.takeover import redirected_before, takers
from mailstore.state.views import DeadLetter
from mailstore.writing.settling import NotSettled, ReadBody, Step, acknowledge, redirect, resend

HOURS = "24"


class DeadLetterActions:
    """What can be done with dead letters, one or many at a time."""

    def __init__(self, screen: BaseScreen[Any], settled: Settled) -> None:
        self._session = screen.session
        self._settling = Settling(screen, settled)

    def is_possible(self) -> bool:
        """Return whether messages can be settled here; say why where they can't."""
        return self._settling.is_possible()

    def redirect(self, dead_letters: Sequence[DeadLetter]) -> None:
        """Ask for another recipient and redirect messages to it."""
        session = self._session

        def plan(some: Sequence[DeadLetter], to: str, read: ReadBody) -> list[Step]:
            return redirect(session.mailbox, some, to, session.now(), read_body=read, actor=session.user)

        def asking(preview: Preview) -> Screen[str | None]:
            return SettleDialog(
                f"Redirect {_number(dead_letters)} to",
                verb="redirect",
                preview=preview,
                hint="an agent, a role or a #channel",
                candidates=partial(_fitting, session, _recipients(session, dead_letters[0])),
            )

        done = f"Redirect {_number(dead_letters)}"
        self._settling.settle(
            dead_letters, Settlement(done, plan, lambda to: f"Redirected to {visible_line(to)}"), asking
        )

    def resend(self, dead_letters: Sequence[DeadLetter]) -> None:
        """Send messages to the same recipients again, with a new time to live."""
        session = self._session

        def plan(some: Sequence[DeadLetter], hours: str, read: ReadBody) -> list[Step]:
            if not hours.isdecimal() or not 0 < len(hours) <= 6 or not int(hours):
                raise NotSettled("hours must be a whole number above 0", "enter one, such as 24", "E191")
            return resend(session.mailbox, some, int(hours), session.now(), read_body=read, actor=session.user)

        def asking(preview: Preview) -> Screen[str | None]:
            question = f"Send {_number(dead_letters)} again, to expire after how many hours?"
            return SettleDialog(question, verb="send again", preview=preview, value=HOURS)

        how = Settlement(f"Send {_number(dead_letters)} again", plan, lambda hours: f"Sent again for {hours} h")
        self._settling.settle(dead_letters, how, asking)

    def acknowledge(self, dead_letters: Sequence[DeadLetter]) -> None:
        """Acknowledge messages: they were seen, and nothing is to be done."""

        def plan(some: Sequence[DeadLetter], answer: str, read: ReadBody) -> list[Step]:
            return acknowledge(some)

        def asking(preview: Preview) -> Screen[bool]:
            return Ask(f"{words}?", preview("").content(is_short=False), verb="acknowledge")

        words = f"Acknowledge {_number(dead_letters)}"
        self._settling.settle(dead_letters, Settlement(words, plan, lambda _: "Acknowledged", is_reading=False), asking)


def _recipients(session: Session, dead_letter: DeadLetter) -> list[Candidate]:
    """Return who could take a message over: first those to whom earlier mail of its recipient went."""
    mailbox = session.mailbox
    before = redirected_before(mailbox, dead_letter.recipient)
    before.pop(dead_letter.message.sender, None)
    times = {name: f"redirected there {number} time{'s' * (number != 1)}" for name, number in before.items()}
    recipients = times | {name: _why(session, dead_letter, name) for name in takers(mailbox, dead_letter)}
    return [Candidate(name, times.get(name, why)) for name, why in recipients.items()]


def _fitting(session: Session, near: Sequence[Candidate], typed: str) -> Sequence[Candidate]:
    """Return those who could take a message over, and the known addresses that fit what was typed."""
    if not typed:
        return near
    names = {candidate.value for candidate in near}
    return fitting(
        [
            *near,
            *(
                address_candidate
                for address_candidate in address_candidates(session.mailbox)
                if address_candidate.value not in names
            ),
        ],
        typed,
    )


def _why(session: Session, dead_letter: DeadLetter, name: str) -> str:
    """Return in words why an agent or a role could take a message over."""
    roster = session.mailbox.roster
    agent, gone = roster.get(name), roster.get(dead_letter.recipient)
    if gone is None or agent is None:
        return "similar name"
    roles = [role for role in agent.roles() if role in gone.roles()]
    tags = [tag for tag in agent.tags if tag in gone.tags]
    shared = [f"role {role}" for role in roles] + [session.mailbox.label(tag) for tag in tags]
    return f"{agent.status.value}, shares {', '.join(shared)}"


def _number(dead_letters: Sequence[DeadLetter]) -> str:
    return "this message" if len(dead_letters) == 1 else f"{len(dead_letters)} messages"
