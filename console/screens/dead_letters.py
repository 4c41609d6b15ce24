"""List dead letters, and settle them: redirect, send again or acknowledge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import BindingType

from console.bindings import bindings
from console.panes.address_completion import address_candidates
from console.panes.facts import FactPage, facts
from console.panes.list_rows import ListRow
from console.render.safe import visible_line
from console.render.short_text import age, clock
from console.screens.list_screen import ListScreen
from console.screens.prompt import Prompt
from console.screens.settling import Settling
from console.session import Session
from console.styles import TextStyles
from console.symbols import STATES
from console.widgets.offers import Candidate
from mailstore.errors import MailError
from mailstore.queries.takeover import last_seen, takers
from mailstore.state.views import DeadLetter
from mailstore.writing.sending import read_address
from mailstore.writing.settling import acknowledge, redirect, resend

__all__ = ["DeadLetters"]


def key_of(letter: DeadLetter) -> str:
    """Return the key of a letter: a message may be dead for several recipients."""
    return f"{letter.message.id}\n{letter.recipient}"


class DeadLetters(ListScreen):
    """Each letter with its cause and who could take over; settles one letter or all marked ones."""

    NAME = "dead-letters"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(frozenset({NAME}))]

    def __init__(self, session: Session, styles: TextStyles) -> None:
        super().__init__(session, styles)
        self._letters: dict[str, DeadLetter] = {}
        self._settling = Settling(self)

    def heading(self) -> str:
        return "Dead letters"

    def placeholder(self) -> tuple[str, ...]:
        return ("No dead letters.", "", "All mail was read, or still can be.")

    def rows(self) -> Sequence[ListRow]:
        letters = self.session.mailbox.dead_letters(self.session.now())
        self._letters = {key_of(letter): letter for letter in letters}
        return [self._row(key, letter) for key, letter in self._letters.items()]

    def _row(self, key: str, letter: DeadLetter) -> ListRow:
        styles, now = self.text_styles, self.session.now()
        tone = styles.states[letter.state]
        since = age(now - letter.since) if letter.since is not None else ""
        subject = visible_line(letter.message.subject) or "(no subject)"
        people = visible_line(f"{letter.message.sender} → {letter.recipient}")
        return ListRow(
            key=key,
            left=((f"{STATES[letter.state].glyph} ", tone), (subject, styles.text)),
            right=((f"{since:>4}", styles.muted),),
            left_below=((people, styles.muted), (f"  {visible_line(letter.reason)}", tone)),
        )

    def target(self, key: str) -> str | None:
        return key.partition("\n")[0]

    def about(self, key: str) -> FactPage:
        letter = self._letters.get(key)
        if letter is None:
            return FactPage([])
        mailbox, now, message = self.session.mailbox, self.session.now(), letter.message
        seen = last_seen(mailbox, letter.recipient)
        when = clock(letter.since, now) if letter.since is not None else "unknown"
        doing = [word for word in (seen.role, seen.activity) if word]
        last = "never" if seen.status is None else clock(seen.time, now) if seen.time is not None else "unknown"
        told = [
            ("cause", f"{letter.reason} ({letter.state.value})"),
            ("since", when),
            ("from", message.sender),
            ("to", letter.recipient),
            ("role", " · ".join(doing) or "–"),
            ("last seen", last),
            ("could take over", ", ".join(takers(mailbox, letter)) or "no living agent shares its role or tags"),
            ("sent", clock(message.time, now) if message.timed else message.timestamp),
            ("type", message.type or "–"),
            ("message", message.id),
        ]
        return facts(told, room=15)

    def _chosen(self) -> list[DeadLetter]:
        return [self._letters[key] for key in self.chosen() if key in self._letters]

    def action_redirect(self) -> None:
        """Ask for another recipient and redirect the letters to it."""
        letters = self._chosen()
        if not letters:
            self.tell("No letter selected")
        elif self._settling.is_possible():
            self.app.push_screen(
                Prompt(
                    f"Redirect {_number(letters)} to",
                    value=next(iter(takers(self.session.mailbox, letters[0])), ""),
                    detail="An agent, a role or a #channel. Nothing is written yet.",
                    candidates=lambda: self._offers(letters[0]),
                    check=self._wrong_address,
                ),
                lambda to: self._redirect(letters, to),
            )

    def _offers(self, letter: DeadLetter) -> list[Candidate]:
        near = takers(self.session.mailbox, letter)
        known = address_candidates(self.session.mailbox)
        return [Candidate(name, "could take over") for name in near] + [it for it in known if it.value not in near]

    def _wrong_address(self, text: str) -> str:
        try:
            read_address(text, self.session.mailbox)
        except MailError as error:
            return str(error)
        return ""

    def _redirect(self, letters: list[DeadLetter], to: str | None) -> None:
        if to:
            session = self.session
            self._settling.settle(
                letters,
                lambda some, read: redirect(
                    session.mailbox, some, to, session.now(), read_body=read, actor=session.user
                ),
                f"Redirect {_number(letters)}?",
                "redirect",
                f"Redirected to {visible_line(to)}",
                enter_confirms=True,
            )

    def action_resend(self) -> None:
        """Send the letters to the same recipients again, with a new time to live."""
        letters = self._chosen()
        if not letters:
            self.tell("No letter selected")
        elif self._settling.is_possible():
            self.app.push_screen(
                Prompt(
                    f"Send {_number(letters)} again with a TTL of how many hours?",
                    value="24",
                    detail="Nothing is written yet.",
                    check=lambda text: "" if text.isdecimal() and int(text) > 0 else "Enter a whole number above 0",
                ),
                lambda hours: self._resend(letters, hours),
            )

    def _resend(self, letters: list[DeadLetter], hours: str | None) -> None:
        if hours:
            session = self.session
            self._settling.settle(
                letters,
                lambda some, read: resend(
                    session.mailbox, some, int(hours), session.now(), read_body=read, actor=session.user
                ),
                f"Send {_number(letters)} again?",
                "resend",
                "Sent again",
                enter_confirms=True,
            )

    def action_acknowledge(self) -> None:
        """Acknowledge the letters: they were seen, and nothing is to be done."""
        letters = self._chosen()
        if not letters:
            self.tell("No letter selected")
        elif self._settling.is_possible():
            self._settling.settle(
                letters,
                lambda some, _: acknowledge(some),
                f"Acknowledge {_number(letters)}?",
                "acknowledge",
                "Acknowledged",
                is_reading=False,
            )


def _number(letters: Sequence[DeadLetter]) -> str:
    return "this letter" if len(letters) == 1 else f"{len(letters)} letters"
