"""The errors that the store layer raises.

MailError
├── StoreError              a mailbox can't be opened, read or written
│   ├── UnknownStore        no such kind of store, or none recognised at a path
│   ├── MailboxMissing      there is no mailbox at that place
│   ├── MailboxBusy         another program holds the lock
│   ├── ContentGone         a body is no longer where it was
│   └── Unsupported         this kind of store can't do that
├── DraftRefused            a draft breaks a rule; names the field
└── QueryError              a query can't be parsed; tells the position
"""

from __future__ import annotations

LOGGER = "signalbox"
"""The logger of errors that are handled though nothing expects them. Without a handler they leave no trace."""


class MailError(Exception):
    """What is wrong and how to fix it, in words for the user.

    Both parts begin in lower case and end without a full stop; typed values stand in double quotes. By its `code`, such
    as E101, the troubleshooting page has its cause (decision 89); empty for an error of another package.
    """

    def __init__(self, problem: str, remedy: str = "", code: str = "") -> None:
        super().__init__(f"{problem}: {remedy}" if remedy else problem)
        self.problem = problem
        self.remedy = remedy
        self.code = code


class StoreError(MailError):
    """A mailbox can't be opened, read or written."""


class UnknownStore(StoreError):
    """No kind of store has that name, or none is recognised at that path."""


class MailboxMissing(StoreError):
    """There is no mailbox at that place."""


class MailboxBusy(StoreError):
    """Another program holds the mailbox's lock and did not release it in time."""


class ContentGone(StoreError):
    """A record is no longer where it was read: it was replaced or removed."""


class Unsupported(StoreError):
    """This kind of store can't do that; the reason says why."""


class DraftRefused(MailError):
    """A draft breaks a rule of sending; `field` names the part of the draft."""

    def __init__(self, field: str, problem: str, remedy: str = "", code: str = "") -> None:
        super().__init__(f"{field} {problem}", remedy, code)
        self.field = field


class QueryError(MailError):
    """A query can't be parsed; `position` is the index of the character where it breaks."""

    def __init__(self, problem: str, position: int, remedy: str, code: str = "") -> None:
        super().__init__(f"{problem} at position {position + 1}", remedy, code)
        self.position = position


def reason_of(error: Exception) -> str:
    """Return why something failed, to stand in parentheses: the system's reason, or the error's own words."""
    return error.strerror.lower() if isinstance(error, OSError) and error.strerror else str(error)


def log_unexpected(error: BaseException, doing: str) -> None:
    """Log an error that nobody expects where it is handled; `doing` says at what, and quotes nothing of anybody's."""
    import logging  # most processes meet none

    logger = logging.getLogger(LOGGER)
    if logger.hasHandlers():  # else Python prints it
        logger.error(doing, exc_info=error)


def log_step(words: str) -> None:
    """Log what is done, where everything is logged; quotes nothing of anybody's."""
    import logging

    logging.getLogger(LOGGER).debug(words)
