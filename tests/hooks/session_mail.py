"""Messages as the quick path reads them, and unread mail that needs no mailbox."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from mailstore.quick_answers import QuickMessage, UnreadMail


def message(
    name: str, sender: str = "boss", kind: str = "", to: str = "claude-abcdef12", text: str | None = "x"
) -> QuickMessage:
    return QuickMessage(
        name,
        text,
        {
            "sender": sender,
            "recipients": (to,),
            "timestamp": "2026-11-22T10:00:00Z",
            "time": 1.0,
            "subject": "About it",
            "thread": None,
            "ttl_hours": None,
            "type": kind,
            "tags": (),
            "read_by": (),
        },
    )


class HeldMail(UnreadMail):
    def __init__(self, messages: Sequence[QuickMessage]) -> None:
        super().__init__(messages)
        self.recorded: list[str] = []

    def registered(self, message: QuickMessage) -> str:
        return message.sender

    def record(self, message_ids: Collection[str]) -> None:
        self.recorded += message_ids
