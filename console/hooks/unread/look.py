"""An agent's unread messages: by the quick path for the lines that name it, or else by folding the mailbox.

Imports next to nothing until the mailbox has to be folded.
"""

from __future__ import annotations

from console.hooks.log import log_unexpected
from console.hooks.user_settings import names_the_user
from mailstore.installed_kinds import turn_on_site_packages
from mailstore.quick_answers import quick_answers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from mailstore.quick_answers import UnreadMail


def sender_in(mailbox: str, name: str) -> str:
    """Return a sender's name if the roster of a mailbox knows it; nothing where that can't be read at a glance."""
    kind, _, location = mailbox.partition(":")
    try:
        answers = quick_answers(kind)
        return answers.registered(location, name) if answers else ""
    except Exception as error:  # an unusual roster: the name is not needed
        log_unexpected("hook", "sender", error)
        return ""


def look(mailbox: str, agent_id: str, now: float, env: Mapping[str, str]) -> UnreadMail:
    """Return what an agent has still to read; `now` in seconds since the epoch. Raises MailError and OSError."""
    kind, _, location = mailbox.partition(":")
    try:
        answers = None if names_the_user(env) else quick_answers(kind)
        if answers is not None:
            return answers.unread(location, agent_id, now)
    except Exception as error:  # whatever it was (nearly always Unusual), the fold meets it too
        log_unexpected("hook", "look", error)
    turn_on_site_packages()
    from console.hooks.unread.full_look import full_look

    return full_look(mailbox, agent_id, now)
