"""An agent's unread letters: by the quick path for the lines that name it, or else by folding the mailbox.

Imports next to nothing until the mailbox has to be folded.
"""

from __future__ import annotations

import os

from console.hooks.log import log_unexpected
from console.hooks.unread.mail import QuickMail
from console.hooks.unread.watched import mailbox_file
from console.hooks.user_settings import names_the_user
from mailstore.installed_kinds import turn_on_site_packages

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from console.hooks.unread.mail import UnreadMail


def sender_in(mailbox: str, name: str) -> str:
    """Return a sender's name if the roster of a mailbox knows it; nothing where that can't be read at a glance."""
    path = mailbox_file(mailbox)
    try:
        from mailstore.haak.quick.quick_records import roster_in
        from mailstore.rules.unread import registered_name

        return registered_name(name, roster_in(os.path.dirname(path))) if path else ""  # noqa: PTH120
    except Exception as error:  # an unusual roster: the name is not needed
        log_unexpected("hook", "sender", error)
        return ""


def look(mailbox: str, agent_id: str, now: float, env: Mapping[str, str]) -> UnreadMail:
    """Return what an agent has still to read; `now` in seconds since the epoch. Raises MailError and OSError."""
    path = mailbox_file(mailbox)
    if path and not names_the_user(env):
        try:
            from mailstore.haak.quick.quick_unread import quick_unread

            return QuickMail(path, agent_id, quick_unread(path, agent_id, now))
        except Exception as error:  # whatever it was (nearly always Unusual), the fold meets it too
            log_unexpected("hook", "look", error)
    turn_on_site_packages()
    from console.hooks.unread.full_look import full_look

    return full_look(mailbox, agent_id, now)
