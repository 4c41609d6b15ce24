"""A desk: a list of concerns whose rows are acted upon with one key, and that show what was done until it is left."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from time import monotonic
from typing import TYPE_CHECKING, ClassVar

from msgspec.structs import replace
from textual.binding import BindingType

from console.commands.command import Situation
from console.commands.table import BY_ID
from console.concerns import snoozed_row
from console.panes.concern_rows import ConcernRows, DeskRow, desk_rows, message_of, row_facts, subject_of
from console.panes.facts import FactPage
from console.panes.list_rows import ListRow
from console.render.safe import visible_line
from console.render.short_text import plural, remaining
from console.screens.base_screen import Action, bindings
from console.screens.desks.attention_watch import AttentionWatch
from console.screens.desks.dead_letter_actions import DeadLetterActions
from console.screens.desks.permissions import IN_WORDS, PermissionAnswers, option_choices, request_facts, request_of
from console.screens.list_screen import ListScreen
from console.screens.menu import Menu
from console.screens.reading import Reading
from console.screens.waking import AgentWaking
from console.screens.writing.composing import reply_draft
from console.session import PAST, Session
from console.state.undo_history import UndoableAction
from console.words.concern_words import heading, heading_of
from console.words.styles import TextStyles
from mailstore.queries.concerns import DEAD_LETTERS, Concern, ConcernKind, in_order
from mailstore.records.message import Message
from mailstore.records.roster import Status
from mailstore.state.views import DeadLetter
from mailstore.store import Capability
from mailstore.writing.choices import CHOICE, OPTION, as_lines, numbered, options_of

if TYPE_CHECKING:
    from textual.events import Key

    from console.screens.writing.sending import Sending
    from console.state.composer_draft import ComposerDraft

HASTE_SECONDS = 0.7
"""A second number, so soon after the first, answers nothing: the cursor has gone on to another question."""
SETTLED_ALREADY = "Settled already"
GATE = "signalbox hook install --gate lets you answer here"
LOW = 30
"""Lines of a screen below which a row has one line."""


class Desk(ListScreen):
    """Concerns, under headings or not; the part `desks` leads to their messages and back."""

    HAS_HEADINGS: ClassVar[bool] = True

    def __init__(
        self,
        session: Session,
        styles: TextStyles,
        reading: Reading,
        watch: AttentionWatch,
        sending: Sending,
        key: str | None = None,
    ) -> None:
        super().__init__(session, styles)
        self._reading = reading
        self._watch = watch
        self._sending = sending
        self._start = key
        self._messages = DeadLetterActions(self, self.settled)
        self._permissions = PermissionAnswers(self, self._answered)
        self._known: tuple[object, list[DeskRow]] | None = None
        self._put_off: dict[str, tuple[Concern, str]] = {}
        """What was put off here, by key, and until when."""
        self._done: set[str] = set()
        """The keys of the rows that were done when the list was drawn last."""
        self.is_replying = False
        self._pressed = ""
        self._chose_at = float("-inf")

    def listed(self) -> Sequence[Concern]:
        """Return the concerns that this desk lists, in order."""
        return self.session.attention.shown

    # What is shown

    def on_mount(self) -> None:
        """Show the rows, the cursor where the desk was left."""
        self.set_class(self.session.attention.shift_since is not None, "-shift")
        super().on_mount()
        if self._start is not None and self.listing.select(self._start) and self._start in self._done:
            self._go_on()

    @property
    def place(self) -> str | None:
        """The row under the cursor; once it is being answered, that one."""
        if self.is_replying:
            return self._start
        return self.listing.cursor_key if self._is_shown else self._start

    def concern_rows(self) -> list[DeskRow]:
        """Return the rows: what was found, and what was done since the desk was opened, in one order."""
        concerns_found = self.session.attention
        asked = self.session.mailbox, concerns_found.changes
        if self._known is None or self._known[0] != asked:
            concerns = list(self.listed()) if concerns_found.is_of(self.session.mailbox) else []
            keys = {concern.key for concern in concerns}
            done = [result for result in concerns_found.results.values() if self.takes(result.concern)]
            gone = [result.concern for result in done if result.concern.key not in keys]
            ordered = self.arranged([*concerns, *gone]) if gone else concerns
            numbers = Counter(map(heading_of, concerns_found.every))
            left_out = {words: number - numbers[words] for words, number in concerns_found.totals.items()}
            kept = self.listing.cursor_key or self._start
            rows = desk_rows(
                ordered, done, left_out, has_headings=self.HAS_HEADINGS, opened=concerns_found.opened, kept=kept
            )
            self._known = asked, rows
        return self._known[1]

    def left_out(self) -> int:
        """Return how many more there are than are listed."""
        concerns = self.session.attention
        return 0 if concerns.is_whole else sum(concerns.totals.values()) - len(concerns.every)

    def takes(self, concern: Concern) -> bool:
        """Return whether a concern belongs here."""
        return True

    def arranged(self, concerns: Sequence[Concern]) -> list[Concern]:
        """Return concerns in the order of this desk."""
        return in_order(concerns)

    def keys_listed(self) -> list[str]:
        return [row.key for row in self.concern_rows() if row.concern is not None]

    def row_source(self, rows: Sequence[ListRow]) -> ConcernRows:
        height = 1 if self.size.height < LOW else 2
        return ConcernRows(self.concern_rows(), self.session, self.text_styles, self.marked, height)

    def subtitle(self, rows: Sequence[ListRow]) -> str:
        concerns = self.session.attention
        left, done = self.progress()
        left_out = self.left_out()
        number = f"{left:,}" + (f" of {left + left_out:,}" if left_out else "")
        notes = [number, f"{done} done" if done else ""]
        if concerns.shift_since is not None:
            notes.append(_pace(self.session.clock() - concerns.shift_since, done))
        return " · ".join(filter(None, [*notes, f"{len(self.marked)} marked" if self.marked else ""]))

    def progress(self) -> tuple[int, int]:
        """Return how many rows are left of those that are listed, and how many were done."""
        concerns = self.session.attention
        results = {key for key, result in concerns.results.items() if result.words and self.takes(result.concern)}
        left = (
            sum(concern.key not in results for concern in self.listed()) if concerns.is_of(self.session.mailbox) else 0
        )
        return left, len(results)

    def placeholder(self) -> tuple[str, ...]:
        return self.nothing() if self.session.attention.is_of(self.session.mailbox) else ("Looking…",)

    def nothing(self) -> tuple[str, ...]:
        """Return what is shown if nothing was found."""
        return (
            "Nothing needs attention.",
            "",
            "No questions or new mail to you, no dead letters,",
            "no agents that stopped reading, no roles with mail and no holder.",
        )

    def _row(self, key: str | None) -> DeskRow | None:
        return next((row for row in self.concern_rows() if row.key == key), None)

    def _concern(self, key: str | None) -> Concern | None:
        row = self._row(key)
        return row.concern if row is not None else None

    def target(self, key: str) -> str | None:
        concern = self._concern(key)
        if concern is None or request_of(self.session, concern) is not None:
            return None
        return concern.message_id

    def about(self, key: str) -> FactPage:
        row = self._row(key)
        if row is not None and row.concern is not None and (request := request_of(self.session, row.concern)):
            return request_facts(self.session, row.concern, request)
        return FactPage([]) if row is None else row_facts(self.session, row)

    def enter(self) -> None:
        """Go to the message of the row, answer what a program asks, or show and hide the rows behind the row."""
        row = self._row(self.place)
        if row is not None and request_of(self.session, row.concern) is not None:
            self.answer_permission()
            return
        if row is None or not row.opens:
            super().enter()
            return
        self.session.attention.toggle(row.key)
        at = (
            [concern_row.key for concern_row in self.concern_rows()].index(row.key) if row.some else self.listing.cursor
        )
        self.redraw()
        self.listing.select(self.concern_rows()[at].key)

    # What is done

    def actions(self) -> Mapping[str, Action]:
        return {
            **super().actions(),
            "desk.reply": self.reply,
            "desk.choose": self.choose,
            "desk.permit": self.answer_permission,
            "letters.redirect": self.redirect,
            "letters.resend": self.resend,
            "letters.acknowledge": self.acknowledge,
            "desk.snooze": self.snooze,
            "desk.shift": self.shift,
            "desk.wake": self.wake,
            "agent.status": self.choose_status,
        }

    def _chosen(self) -> list[Concern]:
        chosen = set(self.chosen())
        done = {key for key, result in self.session.attention.results.items() if result.words}
        concerns: dict[str, Concern] = {}
        for row in self.concern_rows():
            if row.key in chosen and row.some:
                concerns.update((concern.key, concern) for concern in row.some if concern.key not in done)
            elif row.key in chosen and row.concern is not None:
                concerns[row.key] = row.concern
        if not concerns:
            self.tell("Nothing selected")
        return list(concerns.values())

    def _dead_letters_chosen(self) -> list[DeadLetter]:
        """Return the dead letters among the rows that are marked, or under the cursor; say where there are none."""
        chosen = self._chosen()
        dead_letters = self._unsettled(chosen)
        if chosen and not dead_letters:
            is_settled = any(concern.kind in DEAD_LETTERS for concern in chosen)
            self.tell(SETTLED_ALREADY if is_settled else "Not a dead letter: r replies, A acknowledges")
        return dead_letters if self._messages.is_possible() else []

    def _unsettled(self, concerns: Sequence[Concern]) -> list[DeadLetter]:
        """Return the dead letters of concerns, without those settled here, of which the files may not be read yet."""
        results = self.session.attention.results
        here = {key for key, result in results.items() if result.words}
        found = [message_of(self.session, concern) for concern in concerns if concern.key not in here]
        return [dead_letter for dead_letter in found if dead_letter is not None]

    def situation(self) -> Situation:
        row, marked = self._row(self.listing.cursor_key), self.marked
        rows = [concern_row for concern_row in self.concern_rows() if concern_row.key in marked] if marked else [row]
        concerns = [desk_row.concern for desk_row in rows if desk_row is not None and desk_row.concern is not None]
        kinds = {"dead-letter"} if any(concern.kind in DEAD_LETTERS for concern in concerns) else set()
        if row is not None and row.concern is not None:
            kinds |= self._kinds_of(row, row.concern)
        return replace(super().situation(), row=frozenset(kinds))

    def _kinds_of(self, row: DeskRow, concern: Concern) -> set[str]:
        """Return what a row is that a key acts on alone, of `OF_ROWS`."""
        waits = concern.kind is not ConcernKind.NEW and sleeper(self.session, concern) is not None
        kinds = {"agent"} if waits else set()
        if not row.some and (concern.message_id or "") in self.session.mailbox:
            kinds |= {"message", "asked", "options"} if concern.kind is ConcernKind.QUESTION else {"message"}
        if concern.kind is ConcernKind.PERMISSION:
            request = request_of(self.session, concern)
            kinds |= {"asked", "options"} if request is not None and request.questions else {"asked"}
        return kinds

    def reply(self) -> None:
        """Reply to the message of the row; the desk comes back when the reply is sent or put off."""
        row = self._row(self.place)
        concern = row.concern if row is not None else None
        if row is None or concern is None:
            self.tell("Nothing selected")
        elif row.some:
            self.tell("Several messages: open the row, and answer one of them")
        elif concern.message_id is None or concern.message_id not in self.session.mailbox:
            self.tell("No message to reply to")
        elif self.session.moment is not None:
            self.tell(f"Can't write here: {PAST}")
        else:
            self._start, self.is_replying = self.place, True  # the rows may be gone before the reply begins
            self.dismiss(concern.message_id)

    def on_key(self, event: Key) -> None:
        """Remember which of the keys that answer by number was pressed."""
        self._pressed = event.key

    def choose(self) -> None:
        """Answer the question of the row with the option that has the number of the key."""
        row, keys = self._row(self.place), BY_ID["desk.choose"].keys_in(self.session.keymap).split(",")
        concern = row.concern if row is not None else None
        message = self.session.mailbox.message(concern.message_id or "") if concern is not None else None
        number = keys.index(self._pressed) + 1 if self._pressed in keys else 1
        if monotonic() < self._chose_at + HASTE_SECONDS:
            return
        if concern is not None and (request := request_of(self.session, concern)) is not None:
            if self._permissions.choose(concern, request, number):
                self._chose_at = monotonic()
        elif row is None or concern is None or message is None or row.some or row.result:
            self.tell("No question to answer in this row")
        elif reason := self.session.why_not(Capability.SEND, message.id):
            self.tell(f"Can't write here: {reason}")
        else:
            self.run_task(self._choose(concern, message, number), group="choose", exclusive=True)

    async def _choose(self, concern: Concern, message: Message, number: int) -> None:
        options = await asyncio.to_thread(self._options, message)
        if number > len(options):
            reply = BY_ID["desk.reply"].key_label(self.session.keymap)
            numbers = f"options 1 to {len(options)} only" if options else "no numbered options"
            self.tell(f"This message has {numbers} · {reply}: answer in words")
            return
        self._chose_at, option = monotonic(), options[number - 1]
        words = f"{number}. {option}"
        metadata: dict[str, int | str] = {CHOICE: number, OPTION: option}
        writing = replace(reply_draft(self.session.mailbox, message), body=words, metadata=metadata)
        concerns, said = self.session.attention, f"Answered: {visible_line(words)}"

        def then(sent: ComposerDraft | None) -> None:
            concerns.note(concern, said if sent is not None else "")
            if sent is None and self.is_attached and self.footer.notice.endswith(said):
                self.tell("Not sent")
            self.redraw()

        concerns.note(concern, said)
        seconds = self._sending.send_reply(writing, then)
        self.redraw()
        if seconds:
            self.tell(f"Sent in {seconds:g} s · {BY_ID['undo'].key_label(self.session.keymap)}: undo · {said}")

    def answer_permission(self) -> None:
        """Answer what the program of the row's agent asks: allow it once, deny it with words, or choose an option."""
        concern = self._concern(self.place)
        if concern is None or concern.kind is not ConcernKind.PERMISSION:
            self._answer_question()
        elif (request := request_of(self.session, concern)) is None:
            hook = self.session.hooked.live.get(concern.who)
            has_gate = hook is not None and hook.has_gate
            self.tell(f"Answer it at its terminal: {'its hook waits no longer' if has_gate else GATE}")
        else:
            self._permissions.ask(concern, request)

    def _answer_question(self) -> None:
        """Answer the question of the row's message: with one of its options, or in words."""
        row = self._row(self.place)
        concern = row.concern if row is not None else None
        message = self.session.mailbox.message(concern.message_id or "") if concern is not None else None
        if row is None or concern is None or message is None or row.some or row.result:
            self.tell("No permission and no question to answer in this row")
        elif reason := self.session.why_not(Capability.SEND, message.id):
            self.tell(f"Can't write here: {reason}")
        else:
            self.run_task(self._ask_option(concern, message), group="choose", exclusive=True)

    async def _ask_option(self, concern: Concern, message: Message) -> None:
        options = await asyncio.to_thread(self._options, message)
        choices = option_choices(options)
        at = await self.ask_and_wait(Menu(message.subject, choices, self.text_styles)) if options else len(options)
        if at is not None and choices[at].key == IN_WORDS:
            self.reply()
        elif at is not None:
            await self._choose(concern, message, at + 1)

    def _answered(self, concern: Concern, words: str) -> None:
        self.session.attention.note(concern, words)
        self.redraw()

    def _options(self, message: Message) -> tuple[str, ...]:
        return options_of(self.session.store, message, self.session.body(message))

    def text_shown(self, message: Message) -> str:
        """Return a message's text, and below it the options that only its record lists; blocks."""
        text, options = self.session.body(message), self._options(message)
        if not options or options == numbered(text):
            return text
        return "\n".join([text, "", *as_lines(options)])

    def redirect(self) -> None:
        """Redirect the messages to another recipient."""
        if messages := self._dead_letters_chosen():
            self._messages.redirect(messages)

    def resend(self) -> None:
        """Send the messages to the same recipients again."""
        if messages := self._dead_letters_chosen():
            self._messages.resend(messages)

    def acknowledge(self) -> None:
        """Acknowledge messages in the journal, new mail by marking it as seen, and all else until it ends."""
        chosen = self._chosen()
        if not chosen:
            return
        if self.session.moment is not None:
            self.tell(f"Can't acknowledge here: {PAST}")
            return
        messages = [concern for concern in chosen if concern.kind in DEAD_LETTERS]
        others = [concern for concern in chosen if concern.kind not in DEAD_LETTERS]
        if others:
            self._acknowledge(others)
        if messages and self._messages.is_possible():
            dead_letters = self._unsettled(messages)
            if dead_letters:
                self._messages.acknowledge(dead_letters)
            else:
                self.tell(SETTLED_ALREADY)

    def _acknowledge(self, concerns: Sequence[Concern]) -> None:
        """Take concerns off the list in the user's own state, which can be undone."""
        words = f"{plural(len(concerns), 'row')} acknowledged"
        keys = [concern.key for concern in concerns]
        fresh = [concern.message_id for concern in concerns if concern.kind is ConcernKind.NEW and concern.message_id]
        reading, watch, concerns_found = self._reading, self._watch, self.session.attention

        def do() -> None:
            for concern in concerns:
                concerns_found.note(concern, "Acknowledged")
            reading.see(fresh)
            watch.acknowledge(keys)

        def undo() -> None:
            for concern in concerns:
                concerns_found.note(concern, "")
            reading.unsee(fresh)
            watch.acknowledge(keys, False)

        do()
        self.marked.clear()
        self.redraw()
        self.session.undo_history.add(UndoableAction(words, undo, do))
        self.tell(f"{words} · z: undo")

    def snooze(self) -> None:
        """Ask for how long to put the rows off; they are back earlier if their agents resume."""
        if self.session.moment is not None:
            self.tell(f"Can't snooze here: {PAST}")
        elif chosen := self._chosen():
            from console.screens.quiet.mark_keeping import MarkKeeping
            from console.screens.quiet.snooze_menu import SnoozeMenu

            self._put_off.update((concern.key, (concern, "")) for concern in chosen)
            agents = [name for concern in chosen for name in waited_for(self.session, concern)]
            what = subject_of(self.session, chosen[0]) if len(chosen) == 1 else f"{len(chosen)} rows"
            SnoozeMenu(self, MarkKeeping(self)).rows([snoozed_row(concern) for concern in chosen], agents, what)

    def shift(self) -> None:
        """Show one row at a time, with the rest of the screen for its text, or the list again."""
        concerns = self.session.attention
        is_on = concerns.shift_since is None
        concerns.shift_since = self.session.clock() if is_on else None
        self.set_class(is_on, "-shift")
        self.call_after_refresh(self.redraw)
        self.tell("One at a time · q ends the shift and hands over" if is_on else "All rows again")

    def redraw(self) -> None:
        """Draw everything; rows that were put off say until when, and from one that is done the cursor goes on."""
        quiet, now, concerns = self.session.personal.quiet, self.session.now(), self.session.attention
        for key, (concern, said) in self._put_off.items():
            row = snoozed_row(concern)
            snooze = quiet.row_snooze(*row)
            words = f"Snoozed {snooze.words(now)}" if snooze is not None else ""
            if words != said:
                self._put_off[key] = concern, words
                if self.is_attached:
                    concerns.note(concern, words)
                self._watch.mail_changed()
        super().redraw()
        if not self._is_shown or not self.is_attached:
            return
        before, self._done = self._done, {row.key for row in self.concern_rows() if row.result}
        if self.listing.cursor_key in self._done - before:
            self._go_on()

    def _go_on(self) -> None:
        """Go to the next row that is not done; stay where there is none."""
        keys = [row.key for row in self.concern_rows()]
        at = keys.index(self.listing.cursor_key) if self.listing.cursor_key in keys else len(keys)
        left = (row.key for row in self.concern_rows()[at:] if row.concern is not None and not row.result)
        if (key := next(left, None)) is not None:
            self.listing.select(key)

    def wake(self) -> None:
        """Wake the agent of the row: the one that stopped reading, or one that was asked."""
        concern = self._concern(self.place)
        name = sleeper(self.session, concern) if concern is not None else None
        if concern is None or name is None:
            self.tell("No living agent to wake in this row")
            return

        def woken(session_id: str, words: str) -> None:
            self.session.attention.note(concern, words)
            self.redraw()

        AgentWaking(self, woken).wake(name)

    def choose_status(self) -> None:
        """Ask what the roster is to say of the agent that the row waits for, else of the one it is about."""
        from console.screens.agent_orders import AgentGroup
        from console.screens.agent_status import AgentStatus

        concern, roster = self._concern(self.place), self.session.mailbox.roster
        if concern is None:
            self.tell("No agent in this row")
            return
        names = [*waited_for(self.session, concern), concern.who]
        name = next((name for name in names if roster.get(name) is not None), "")

        def done(session_id: str, words: str) -> None:
            if session_id == name:
                self.session.attention.note(concern, words)

        chosen = [row.concern for row in self.concern_rows() if row.concern is not None and row.key in self.marked]
        group = AgentGroup("those of the marked rows", tuple(dict.fromkeys(each.who for each in chosen)))
        AgentStatus(self, done).choose(name, group if chosen else None)

    def settled(self, dead_letters: Sequence[DeadLetter], words: str) -> None:
        """Show in the rows of messages what was done with them; no words: it was undone."""
        self.session.attention.note_settled(dead_letters, words)
        self.marked.clear()
        self._watch.mail_changed()
        self.redraw()


def _pace(seconds: float, done: int) -> str:
    """Return how long a shift has lasted, and how long a row took."""
    each = f", {round(seconds / done)} s each" if done else ""
    return f"{remaining(seconds)}{each}"


def sleeper(session: Session, concern: Concern) -> str | None:
    """Return the first agent that a concern waits for and that is not dead."""
    roster = session.mailbox.roster
    agents = [agent for name in waited_for(session, concern) if (agent := roster.get(name)) is not None]
    return next((agent.session_id for agent in agents if agent.status is not Status.DEAD), None)


def waited_for(session: Session, concern: Concern) -> list[str]:
    """Return the names of those that a concern waits for: those asked, the recipient of a message, the agent itself."""
    mailbox = session.mailbox
    message = mailbox.message(concern.message_id or "")
    if concern.kind in (ConcernKind.QUESTION, ConcernKind.REQUEST) and message is not None:
        return list(mailbox.bare_states(message, session.now()))
    return [concern.recipient or concern.who]


class AttentionDesk(Desk):
    """Everything that needs attention, under headings, what is addressed to the user first."""

    NAME = "attention"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(frozenset({NAME}))]

    def heading(self) -> str:
        return "Needs attention"


class DeadLetterDesk(Desk):
    """The dead letters, the newest first."""

    NAME = "dead-letters"
    HAS_HEADINGS = False
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(frozenset({NAME}))]

    def heading(self) -> str:
        return "Dead letters"

    def listed(self) -> Sequence[Concern]:
        return self.arranged([concern for concern in self.session.attention.every if self.takes(concern)])

    def takes(self, concern: Concern) -> bool:
        return concern.kind in DEAD_LETTERS

    def arranged(self, concerns: Sequence[Concern]) -> list[Concern]:
        return sorted(concerns, key=lambda concern: (concern.since, concern.sent, concern.key), reverse=True)

    def nothing(self) -> tuple[str, ...]:
        return ("No dead letters.", "", "All mail was read, or still can be.")

    def left_out(self) -> int:
        concerns = self.session.attention
        headings = {heading(kind, is_mine=False) for kind in DEAD_LETTERS}
        listed = sum(heading_of(concern) in headings for concern in concerns.every)
        return sum(concerns.totals.get(each, 0) for each in headings) - listed
