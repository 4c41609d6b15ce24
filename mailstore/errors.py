"""Every error that the store layer raises on purpose.

MailError
├── StoreError              a mailbox can't be opened, read or written
│   ├── UnknownStore        no kind of store has that name, or none lies at that path
│   ├── MailboxMissing      nothing lies there yet
│   ├── MailboxBusy         another program holds the lock
│   ├── ContentGone         a body is no longer where it was
│   └── Unsupported         this kind of store can't do that
├── DraftRefused            a draft breaks a rule; names the field
└── QueryError              a query can't be read; names the position
"""

from __future__ import annotations

__all__ = [
    "ContentGone",
    "DraftRefused",
    "MailError",
    "MailboxBusy",
    "MailboxMissing",
    "QueryError",
    "StoreError",
    "UnknownStore",
    "Unsupported",
    "reason_of",
]


class MailError(Exception):
    """What is wrong, and how to mend it, in words for a person."""

    def __init__(self, problem: str, remedy: str = "") -> None:
        super().__init__(f"{problem}: {remedy}" if remedy else problem)
        self.problem = problem
        self.remedy = remedy


class StoreError(MailError):
    """A mailbox can't be opened, read or written."""


class UnknownStore(StoreError):
    """No kind of store has that name, or none is recognised at that path."""


class MailboxMissing(StoreError):
    """There is no mailbox at that place yet."""


class MailboxBusy(StoreError):
    """Another program holds the mailbox's lock and did not let go in time."""


class ContentGone(StoreError):
    """A record is no longer where it was read: the file was replaced or cut."""


class Unsupported(StoreError):
    """This kind of store can't do that; the reason says why."""


class DraftRefused(MailError):
    """A draft breaks a rule of sending (semantics: limits and bad input)."""

    def __init__(self, field: str, problem: str, remedy: str = "") -> None:
        super().__init__(f"{field} {problem}", remedy)
        self.field = field


class QueryError(MailError):
    """A query can't be read."""

    def __init__(self, problem: str, position: int, expected: str) -> None:
        super().__init__(f"{problem} at position {position + 1}", f"expected {expected}")
        self.position = position
        self.expected = expected


def reason_of(error: Exception) -> str:
    """Return why something failed, for the end of a sentence: what the system says, or the error's own words."""
    return (error.strerror or str(error)).lower() if isinstance(error, OSError) else str(error)
