"""What a message of a stream shows because of the messages before it: a new day, a reply, the same sender."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct

from console.render.safe import visible_line
from console.render.short_text import bare
from mailstore.records.message import Message
from mailstore.records.scope import label_of
from mailstore.state.mailbox import Mailbox
from mailstore.state.views import View

GROUP_SECONDS = 600
"""Messages of one sender this close to each other are one group."""


class StreamPlace(Struct, frozen=True):
    """The surroundings of a message.

    `day` is the day that begins with it; `is_new` says that the divider is above it; `answers` are the sender and
    the subject of the message that it replies to; `is_grouped` says that its sender is named above.
    """

    day: str = ""
    is_new: bool = False
    answers: tuple[str, str] | None = None
    is_grouped: bool = False
    is_same_minute: bool = False
    is_to_place: bool = False
    """Whether it went to the place that is shown, and to no one else."""


def stream_place(
    mailbox: Mailbox, view: View, message: Message, before: Message | None, now: float, *, is_begin: bool, is_new: bool
) -> StreamPlace:
    """Return the surroundings of a message, given the one before it; without one, the stream begins here if known."""
    head = f"{label_of(message.id)}/" if mailbox.mailboxes() else ""
    day = _day(message, now)
    is_new_day = is_begin if before is None else day != _day(before, now)
    is_close = (
        before is not None
        and not is_new_day
        and not is_new
        and (before.sender, before.recipients, before.type) == (message.sender, message.recipients, message.type)
        and message.time - before.time < GROUP_SECONDS
        and not message.tags
    )
    above = mailbox.message(message.thread) if message.thread is not None else None
    if message.thread is not None and above is None:
        answers: tuple[str, str] | None = ("", "a missing message")
    elif above is None or (is_close and before is not None and before.thread == message.thread):
        answers = None
    else:
        answers = visible_line(above.sender.removeprefix(head)), bare(visible_line(above.subject))
    is_grouped = is_close and (message.thread is None or answers is None)
    return StreamPlace(
        day=day if is_new_day else "",
        is_new=is_new,
        answers=answers,
        is_grouped=is_grouped,
        is_same_minute=before is not None and message.time // 60 == before.time // 60,
        is_to_place=message.recipients == (view.name,),
    )


def _day(message: Message, now: float) -> str:
    """Return the local day of a message as a divider says it."""
    try:
        then, today = datetime.fromtimestamp(message.time).date(), datetime.fromtimestamp(now).date()
    except (OverflowError, ValueError, OSError):
        return "No date"
    days = (today - then).days
    if days in (0, 1):
        return "Today" if days == 0 else "Yesterday"
    year = "" if then.year == today.year else f" {then.year}"
    return f"{then:%A} {then.day} {then:%B}{year}"
