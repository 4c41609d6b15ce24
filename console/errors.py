"""The errors of the command line."""

from __future__ import annotations

from mailstore.errors import MailError


class Refused(MailError):
    """The command can't be carried out; nothing was written."""


class UsedWrongly(MailError):
    """The arguments are invalid."""

    status = 2
