"""Format messages for output: as JSON rows, and as text in which no body can be mistaken for a header."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from console.cli.loading import Loaded
from console.cli.output import MessageRow
from console.cli.plain import body, bold, sent_at
from console.cli.terminal_io import warn
from console.handout.fence import header
from console.render.safe import visible_line
from console.words.symbols import STATES
from mailstore.errors import ContentGone
from mailstore.queries.questions import is_request
from mailstore.records.message import Message
from mailstore.rules.delivery import Standing, State
from mailstore.writing.choices import as_lines, choice_of, options_of


def message_row(mail: Loaded, message: Message) -> MessageRow:
    """Return a message with its body; reads the store."""
    return message_rows(mail, [message])[0]


def message_rows(
    mail: Loaded, messages: Sequence[Message], texts: Iterable[str | None] | None = None
) -> list[MessageRow]:
    """Return messages with their bodies, in the order given; reads the store unless texts are given."""
    bodies = texts_of(mail, messages) if texts is None else texts
    return [_row(mail, message, text or "") for message, text in zip(messages, bodies, strict=True)]


def _row(mail: Loaded, message: Message, text: str) -> MessageRow:
    return MessageRow(
        id=message.id,
        sender=message.sender,
        recipients=message.recipients,
        timestamp=message.timestamp,
        subject=message.subject,
        content=text,
        thread=message.thread,
        type=message.type,
        states=mail.mailbox.bare_states(message, mail.now),
        tags=message.tags,
        places=places if len(places := mail.mailbox.places(message.id)) > 1 else (),
        cancelled=cancel.id if (cancel := mail.mailbox.cancelled_by(message)) is not None else "",
        options=options_of(mail.store, message, text) if is_request(message) else (),
        choice=choice_of(mail.store, message) if _may_choose(mail, message) else 0,
    )


def _may_choose(mail: Loaded, message: Message) -> bool:
    question = mail.mailbox.message(message.thread) if message.thread is not None else None
    return question is not None and is_request(question)


def texts_of(mail: Loaded, messages: Sequence[Message]) -> Iterator[str | None]:
    """Yield messages' texts lazily; warn and yield None for one that can't be read."""
    for message, text in zip(messages, mail.store.contents(messages), strict=True):
        if isinstance(text, ContentGone):
            warn(f"the text of {message.id} can't be read ({text.problem})")
        yield None if isinstance(text, ContentGone) else text


def message_text(mail: Loaded, message: Message, text: str, standing: str = "") -> str:
    """Return a message as text: a header of `name: value` lines, and the indented body."""
    tags = ", ".join(tag for tag in message.tags if tag[:1] != "!")
    options = "; ".join(as_lines(options_of(mail.store, message, text))) if is_request(message) else ""
    facts = {"tags": tags, "options": options, "cancelled": cancelled_words(mail, message), "state": standing}
    fields = {**header(message), **facts}
    lines = [f"{bold(name + ':')} {visible_line(value)}" for name, value in fields.items() if value]
    return "\n".join([*lines, "", body(text, "    "), ""])


def cancelled_words(mail: Loaded, message: Message) -> str:
    """Return who cancelled a task, when, and by which message; empty unless somebody did."""
    cancel = mail.mailbox.cancelled_by(message)
    return "" if cancel is None else f"by {cancel.sender}, {sent_at(cancel)} ({cancel.id})"


def receipts(states: dict[str, Standing]) -> list[str]:
    """Return one line per recipient: its state, who read it, or why nobody did."""
    lines = []
    for name, standing in states.items():
        text = f"{STATES[standing.state].glyph} {name}: {standing.state.value}"
        if standing.state is State.READ:
            readers = [reader for reader in standing.by if reader != name]
            text += f" by {', '.join(readers)}" if readers else ""
        elif standing.reason:
            text = f"{STATES[standing.state].glyph} {name}: {_why(standing)}"
        lines.append(visible_line(text))
    return lines


def _why(standing: Standing) -> str:
    state = standing.state.value
    return standing.reason if standing.reason.startswith(state) else f"{state}, {standing.reason}"
