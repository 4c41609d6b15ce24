"""Find the questions that no agent that was asked has answered yet, and the tasks and reviews without a result."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import lru_cache, partial
from typing import NamedTuple

from mailstore.records.address import Kind, party, resolve
from mailstore.records.message import Message, by_age
from mailstore.records.protocol import PERSON
from mailstore.rules.cancelling import DONE, TASKS
from mailstore.state.mailbox import Mailbox

QUESTION, ANSWER = "question", "answer"
REQUESTS: Mapping[str, Collection[str]] = {
    "request": (),
    "review-request": ("review-result",),
    **dict.fromkeys(sorted(TASKS), DONE),
}
"""The other types of messages that expect an answer, each with the types of its result; none: any reply is one."""
ISSUE = "issue:"
THREADS = 64
"""How many threads to cache during a pass, for questions in the same thread."""
ThreadOf = Callable[[str], list[Message]]


class OpenQuestion(NamedTuple):
    """A question, who was asked, and what tells who a sender is: all names of the user are one."""

    message: Message
    asked: Collection[str]
    party_of: Callable[[str], str]
    results: Collection[str] = ()
    """The types of its result; none: any reply is one."""

    def is_answered_in(self, thread: Collection[Message]) -> bool:
        """Return whether one who was asked wrote a result later in the thread; anything that the user wrote is one."""
        question, results = self.message, self.results
        others = (
            {message.id for message in thread if message.type in REQUESTS and message.id != question.id}
            if results
            else ()
        )
        later = (
            message
            for message in thread
            if message.time >= question.time and message.id != question.id and message.thread not in others
        )
        answers = ((self.party_of(message.sender), message.type) for message in later)
        return any(
            sender in self.asked and (not results or kind in results or sender == PERSON) for sender, kind in answers
        )

    def may_be_answered_by(self, answer: Message) -> bool:
        """Return whether an answer that names no message may be to this question; the user may answer any."""
        issues, others = _issues(self.message), _issues(answer)
        is_other_issue = bool(issues and others and issues.isdisjoint(others))
        is_theirs = self.party_of(answer.sender) in {*self.asked, PERSON}
        return is_theirs and answer.time >= self.message.time and not is_other_issue

    def is_about(self, answer: Message) -> bool:
        """Return whether an answer names an issue of the question."""
        return not _issues(self.message).isdisjoint(_issues(answer))


def threads_of(mailbox: Mailbox) -> ThreadOf:
    """Return a function that returns the messages of a thread, by its root, and remembers the last ones."""
    return lru_cache(maxsize=THREADS)(mailbox.thread_messages)


def open_questions(mailbox: Mailbox, now: float) -> list[OpenQuestion]:
    """Return the open questions of all agents, the oldest first."""
    questions: list[OpenQuestion] = []
    for question in look_for_questions(mailbox, threads_of(mailbox), now, now):
        questions += [question] if question is not None else []
    return sorted(questions, key=lambda question: by_age(question.message))


def look_for_questions(
    mailbox: Mailbox, thread_of: ThreadOf, before: float, now: float
) -> Iterator[OpenQuestion | None]:
    """Yield the open questions from before a moment, by sender, and None at least once per message.

    Raises MailboxReloaded.
    """
    party_of = partial(party, roster=mailbox.roster, user=mailbox.user)
    open_: dict[str, list[OpenQuestion]] = {}
    for message in _unanswered(mailbox, QUESTION, thread_of, now):
        asked = None if message is None else _asked_in_vain(mailbox, message, thread_of, now)
        if message is not None and asked is not None:
            open_.setdefault(party_of(message.sender), []).append(OpenQuestion(message, asked, party_of))
        yield None
    if any(question.message.time <= before for questions in open_.values() for question in questions):
        yield from _answer(mailbox, open_)
    for questions in open_.values():
        yield from (question for question in questions if question.message.time <= before)


def look_for_requests(mailbox: Mailbox, thread_of: ThreadOf, before: float, now: float) -> Iterator[Message | None]:
    """Yield the requests from before a moment, to the user all, that have no result, and None at least once a message.

    A task that was cancelled waits for nothing. Raises MailboxReloaded.
    """
    for message in (message for kind in REQUESTS for message in _unanswered(mailbox, kind, thread_of, now)):
        is_due = message is not None and (message.time <= before or mailbox.is_mine(message))
        yield message if message is not None and is_due and mailbox.cancelled_by(message) is None else None


def is_request(message: Message) -> bool:
    """Return whether a message expects an answer: a question, or another request."""
    return message.type == QUESTION or message.type in REQUESTS


def is_answered(mailbox: Mailbox, request: Message, thread_of: ThreadOf, now: float) -> bool:
    """Return whether one who was asked answered a request in its thread. Raises MailboxReloaded."""
    return is_request(request) and request.timed and _asked_in_vain(mailbox, request, thread_of, now) is None


def _unanswered(mailbox: Mailbox, kind: str, thread_of: ThreadOf, now: float) -> Iterator[Message | None]:
    """Yield the messages of a type that nobody who was asked answered in the thread, and None for each other."""
    contents = mailbox.contents
    for row in mailbox.rows_of_type(kind):
        known = contents.index.asked.get(contents.index.forest.root(row))
        if known is not None and known.get(row, ()) is None:
            yield None  # making the message would be most of the work
            continue
        message = contents.messages[row]
        yield message if _asked_in_vain(mailbox, message, thread_of, now) is not None else None


def _asked_in_vain(mailbox: Mailbox, question: Message, thread_of: ThreadOf, now: float) -> Collection[str] | None:
    """Return who was asked, None if one of them answered in the thread; known until something changes there."""
    contents = mailbox.contents
    row = contents.messages.ids.row(question.id)
    assert row is not None
    known = contents.index.asked.setdefault(contents.index.forest.root(row), {})
    if row not in known:
        asked = _asked(mailbox, question, now)
        party_of = partial(party, roster=mailbox.roster, user=mailbox.user)
        asking = OpenQuestion(question, asked, party_of, _results(mailbox, question))
        is_open = question.timed and not asking.is_answered_in(thread_of(mailbox.root_of(question.id)))
        known[row] = asked if is_open else None
    return known[row]


def _results(mailbox: Mailbox, request: Message) -> Collection[str]:
    """Return the types of a request's result; any reply is one to what was asked of nobody by name or role."""
    kinds = {resolve(text, mailbox.roster, mailbox.user).kind for text in request.recipients}
    return () if kinds <= {Kind.TAG, Kind.BROADCAST} else REQUESTS.get(request.type, ())


def _issues(message: Message) -> set[str]:
    return {tag for tag in message.tags if tag.startswith(ISSUE)}


def _asked(mailbox: Mailbox, question: Message, now: float) -> set[str]:
    """Return who may answer: the recipients and, like with reads, whoever else ever held a role that was asked."""
    held = {
        holder
        for text in question.recipients
        if (address := resolve(text, mailbox.roster, mailbox.user)).kind is Kind.ROLE
        for holder in mailbox.roster.held(address.role)
    }
    return set(mailbox.bare_states(question, now)) | held - {question.sender}


def _answer(mailbox: Mailbox, open_: dict[str, list[OpenQuestion]]) -> Iterator[None]:
    """Remove questions that were answered outside their threads, as in systems whose answers name no message.

    An answer belongs to one question: the last before it, among those about the same issue if both name one.
    """
    for answer in sorted(mailbox.of_type(ANSWER, archived=True), key=by_age):
        yield None
        if answer.thread is not None:
            continue
        askers = [resolve(text, mailbox.roster, mailbox.user).name for text in answer.recipients]
        meant = [
            question for asker in askers for question in open_.get(asker, ()) if question.may_be_answered_by(answer)
        ]
        if meant:
            last = max(meant, key=lambda question: (question.is_about(answer), by_age(question.message)))
            open_[last.party_of(last.message.sender)].remove(last)
