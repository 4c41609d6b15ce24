"""How long mail is retained: a rule for what is listed and what may be archived; nothing is ever deleted."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from mailstore.records.message import Message

DAY = 86_400.0

KEEP = 200
"""How many of the newest messages stay out of the archive, whatever their state."""


class Retention(msgspec.Struct, frozen=True):
    """Which mail is retained: no older than `days`, and of that the newest `messages`; None sets no limit."""

    days: float | None = None
    messages: int | None = None

    @property
    def is_limited(self) -> bool:
        """Whether the rule sets any limit."""
        return self.days is not None or self.messages is not None

    @property
    def words(self) -> str:
        """The rule in words."""
        days = None if self.days is None else f"{self.days:g} day{'s' * (self.days != 1)}"
        messages = None if self.messages is None else f"the newest {self.messages:,}"
        return ", ".join(filter(None, (days, messages))) or "everything"


EVERYTHING = Retention()


def retained(
    messages: Sequence[Message], rule: Retention, now: float, is_read: Callable[[Message], bool] = lambda message: False
) -> set[str]:
    """Return the ids of the messages that a rule retains, given oldest first; one without a time counts as old.

    Of more messages than it retains, those that were read and are older than a day go first.
    """
    left = list(messages)
    if rule.messages is not None and (over := len(left) - rule.messages) > 0:
        left.sort(key=lambda message: not (message.time < now - DAY and is_read(message)))
        left = left[over:]
    if rule.days is None:
        return {message.id for message in left}
    since = now - rule.days * DAY
    return {message.id for message in left if message.timed and message.time >= since}
