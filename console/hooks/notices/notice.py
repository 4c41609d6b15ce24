"""The text that a session gets at a moment: a notice of its mail or, where the user chose that, messages.

Returns it together with what to note in the session's state once it was printed. Imports next to nothing.
"""

from __future__ import annotations

from console.hooks.events import PROMPT, START, STOP
from console.hooks.notices.announce import announced, due
from console.hooks.notices.texts import Announcement, at_start, at_turn_end, in_between, introduction
from console.hooks.options import AT_START, EVERYWHERE
from console.hooks.provenance import SentByUser

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from console.handout.portion import Portion
    from console.hooks.sessions.registration import Arrival
    from console.hooks.sessions.session_state import SessionState
    from mailstore.quick_answers import UnreadMail, UnreadMessage

MOST_CHARACTERS = 4000
"""How much of the messages a hook shows, fenced; the rest is announced."""
LONGEST_BLOCK = 200


class MailNotice:
    """A text for a model, the messages that it announces, and those of them that it shows in full."""

    __slots__ = ("messages", "shown", "text")

    def __init__(
        self, text: str = "", messages: Sequence[UnreadMessage] = (), shown: Sequence[UnreadMessage] = ()
    ) -> None:
        self.text = text
        self.messages = messages
        self.shown = shown

    def note(self, state: SessionState, moment: str, now: float) -> None:
        """Note in a session's state that the text was printed."""
        announced(state, self.messages, moment, now)
        state.shown = list(dict.fromkeys((*state.shown, *(message.id for message in self.shown))))
        if moment == STOP:
            state.last_block = self.text[:LONGEST_BLOCK]


class NoticeWriter:
    """Writes the notices of a session; `command` is what its agent runs to read its mail.

    `store` is what it must give as --store, if anything, `deliver` what the user chose to have shown, and `arrival`
    who the agent is, where the notice introduces it.
    """

    __slots__ = ("_arrival", "_command", "_deliver", "_state", "_store")

    def __init__(
        self, state: SessionState, command: str, store: str, deliver: str, arrival: Arrival | None = None
    ) -> None:
        self._state = state
        self._command = command
        self._store = store
        self._deliver = deliver
        self._arrival = arrival

    def notice(
        self, mail: UnreadMail, moment: str, now: float, coming: Collection[str] = (), *, is_rung: bool = False
    ) -> MailNotice:
        """Return what to say at a moment; nothing, if there is nothing to say. `coming` comes as prompts."""
        state = self._state
        known = {*state.shown, *state.printed, *coming}
        unshown = [message for message in mail.messages if message.id not in known]
        messages = due(state, unshown, moment, now, is_rung=is_rung)
        if messages and (self._deliver == EVERYWHERE or (self._deliver == AT_START and moment == START)):
            return self._fenced(mail, messages, moment)
        said = [self._announcement(mail, message) for message in messages]
        if self.is_first(moment):
            return MailNotice(self._introduced(said), messages)
        if not messages:
            return MailNotice()
        if moment == STOP:
            return MailNotice(at_turn_end(state.agent_id, said, self._command), messages)
        are_new = not any(message.id in state.announced for message in messages)
        return MailNotice(in_between(state.agent_id, said, self._command, are_new=are_new), messages)

    def _announcement(self, mail: UnreadMail, message: UnreadMessage) -> Announcement:
        sent = SentByUser(self._state.mailbox, mail.proof)
        text = mail.text(message) if sent.may_have(message) else ""
        return Announcement(mail.registered(message), message.type, is_users=bool(sent.proof(message, text)))

    def introduction(self, moment: str) -> str:
        """Return the notice for when the unread mail isn't known: who the agent is, if the moment is the first."""
        return self._introduced(None) if self.is_first(moment) else ""

    def is_first(self, moment: str) -> bool:
        """Return whether the notice introduces the agent."""
        return moment == START or (moment == PROMPT and self._arrival is not None)

    def _introduced(self, messages: list[Announcement] | None) -> str:
        arrival = self._arrival
        role, tags, note = ("", (), "") if arrival is None else (arrival.role, arrival.tags, arrival.note)
        return at_start(self._state.agent_id, role, tags, messages, self._command, note)

    def _fenced(self, mail: UnreadMail, messages: list[UnreadMessage], moment: str) -> MailNotice:
        from console.handout.portion import portion

        part: Portion = portion(
            self._state.agent_id,
            messages,
            lambda places: mail.texts([messages[at] for at in places]),
            MOST_CHARACTERS,
            store=self._store,
            proof_of=SentByUser(self._state.mailbox, mail.proof).proof,
        )
        whole = [messages[at] for at in part.whole]
        announced = [messages[at] for at in (*part.whole, *([] if part.cut is None else [part.cut]), *part.unreadable)]
        text = part.text()
        if self.is_first(moment) and self._arrival is not None:
            arrival = self._arrival
            text = f"{introduction(self._state.agent_id, arrival.role, arrival.tags, arrival.note)}\n\n{text}"
        return MailNotice(text, messages if self._deliver == AT_START else announced, whole)
