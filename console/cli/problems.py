"""The errors of the command line itself."""

from __future__ import annotations

from mailstore.errors import MailError

__all__ = ["Refused", "UsedWrongly"]


class Refused(MailError):
    """What was asked can't be done with this mailbox; nothing was written."""


class UsedWrongly(MailError):
    """The words of the command can't be understood."""

    status = 2
