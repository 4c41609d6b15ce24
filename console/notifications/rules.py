"""Which arrivals are worth a word, and by which ways: decided from settings and the clock alone."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, time
from enum import StrEnum

from console.settings.config import NotificationSettings
from mailstore.records.address import Kind, resolve
from mailstore.records.message import Message
from mailstore.state.mailbox import Mailbox


class Occasion(StrEnum):
    """What a notice is about."""

    PERMISSION_AGAIN = "permission_again"
    PERMISSION = "permission"
    QUESTION = "question"
    TO_ME = "to_me"
    DEAD_LETTER = "dead_letter"
    CHANNEL = "channel"


class DeliveryMethod(StrEnum):
    """How a notice reaches the user."""

    TOAST = "toast"
    BELL = "bell"
    OSC9 = "osc9"
    DESKTOP = "desktop"
    COMMAND = "command"


TITLES = {
    Occasion.PERMISSION_AGAIN: "Still waiting for your permission",
    Occasion.PERMISSION: "Waiting for your permission",
    Occasion.QUESTION: "A question to you",
    Occasion.TO_ME: "For you",
    Occasion.DEAD_LETTER: "Dead letter",
    Occasion.CHANNEL: "In a channel",
}


@dataclass(frozen=True, slots=True)
class Notification:
    """One word to the user about one occasion, however many messages it stands for; the first is named."""

    occasion: Occasion
    count: int
    message: Message

    @property
    def title(self) -> str:
        """What it is about."""
        return TITLES[self.occasion]

    @property
    def words(self) -> str:
        """Who wrote what, and how much more there is; text from a mailbox, not safe to show as it is."""
        more = f" and {self.count - 1} more" if self.count > 1 else ""
        return f"{self.message.sender}: {self.message.subject}{more}"

    @property
    def fields(self) -> dict[str, str]:
        """What a command of the user's finds in its environment."""
        return {
            "SIGNALBOX_KIND": self.occasion.value,
            "SIGNALBOX_COUNT": str(self.count),
            "SIGNALBOX_ID": self.message.id,
            "SIGNALBOX_SENDER": self.message.sender,
            "SIGNALBOX_SUBJECT": self.message.subject,
            "SIGNALBOX_TYPE": self.message.type,
        }


def occasion_of(message: Message, mailbox: Mailbox, joined: Collection[str]) -> Occasion | None:
    """Say what a message that came is to the user; None for what agents write to each other, and for muted mail."""
    if message.sender == mailbox.user or message.archived:
        return None
    if mailbox.is_mine(message):
        return Occasion.QUESTION if message.type == "question" else Occasion.TO_ME
    if not joined:
        return None
    kinds = (resolve(text, mailbox.roster, mailbox.user) for text in message.recipients)
    tags = {address.name for address in kinds if address.kind is Kind.TAG}
    is_quiet = mailbox.is_muted(message) or mailbox.is_snoozed(message)
    return Occasion.CHANNEL if tags & set(joined) and not is_quiet else None


def group_notifications(occasions: Sequence[tuple[Occasion, Message]]) -> list[Notification]:
    """Make one notice of all that came on the same occasion, the most pressing first."""
    grouped: dict[Occasion, list[Message]] = {}
    for occasion, message in occasions:
        grouped.setdefault(occasion, []).append(message)
    return [Notification(occasion, len(mail), mail[0]) for occasion in Occasion if (mail := grouped.get(occasion))]


def is_quiet(settings: NotificationSettings, now: float) -> bool:
    """Say whether it is a quiet hour, by the clock on the wall; the end may be on the next day."""
    if settings.quiet_from is None or settings.quiet_to is None:
        return False
    start, end = time.fromisoformat(settings.quiet_from), time.fromisoformat(settings.quiet_to)
    at = datetime.fromtimestamp(now).time()
    return start <= at < end if start <= end else at >= start or at < end


def delivery_methods(
    notice: Notification, settings: NotificationSettings, now: float, *, bell: bool = True
) -> list[DeliveryMethod]:
    """Return how a notice reaches the user now: in quiet hours only on the screen."""
    wanted = [DeliveryMethod(way) for way in getattr(settings, notice.occasion.value)]
    if is_quiet(settings, now):
        return [way for way in wanted if way is DeliveryMethod.TOAST]
    return [way for way in wanted if bell or way is not DeliveryMethod.BELL]
