"""Who may write to the person, where the person's settings name them: however the names are spelled."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable, Sequence

from mailstore.errors import DraftRefused
from mailstore.records.address import Kind, resolve
from mailstore.records.protocol import BROADCAST_NAMES, USER_NAMES
from mailstore.state.mailbox import Mailbox
from mailstore.writing.sending import split_addresses

__all__ = ["check_policy", "is_the_user", "normal"]

INNER = ("role", "agent")
"""Namespaces whose rest another program may take for the name that it is."""


def normal(name: str) -> str:
    """Return a name as it is compared: compatible characters as one, without blanks around it, in one case."""
    return unicodedata.normalize("NFKC", name).strip().casefold()


BROADCASTS = frozenset(map(normal, BROADCAST_NAMES))


def is_the_user(name: str, mailbox: Mailbox) -> bool:
    """Say whether a name is the person's, in this or in another spelling of it."""
    bare = _bare(name, mailbox)
    is_named = bare in USER_NAMES or bare == normal(mailbox.user) or bare.startswith("person:")
    return is_named or any(resolve(each, mailbox.roster, mailbox.user).kind is Kind.USER for each in (name, bare))


def check_policy(
    mailbox: Mailbox,
    sender: str,
    recipients: Sequence[str],
    allowed: Sequence[str],
    *,
    mentioned: Iterable[str] = (),
    joined: Collection[str] = (),
) -> None:
    """Raise DraftRefused where a sender may not write to the user: those may that `allowed` names, by session or role.

    A broadcast, a channel that the user has `joined`, and who is `mentioned` in the text are reached too.
    Without names everybody may. Whether a sender that is the user itself is the person must be decided before.
    """
    if not allowed or is_the_user(sender, mailbox) or not _names(mailbox, sender).isdisjoint(_allowed(allowed)):
        return
    remedy = f"write to {' or '.join(allowed)} instead"
    channels = {word for tag in joined for word in (normal(tag), normal(tag).partition(":")[2])}
    for text in split_addresses(recipients, mailbox):
        if is_the_user(text, mailbox):
            raise DraftRefused("to", f"{sender} may not write to the user", remedy)
        bare = _bare(text, mailbox)
        if bare in BROADCASTS:
            raise DraftRefused("to", f"{sender} may not write to the user, whom {text} reaches", remedy)
        if bare.removeprefix("#") in channels and (bare.startswith("#") or ":" in bare):
            raise DraftRefused("to", f"{sender} may not write to the user, who has joined {text}", remedy)
    if any(is_the_user(name, mailbox) for name in mentioned):
        raise DraftRefused("body", f"{sender} may not write to the user, whom the text mentions", remedy)


def _bare(name: str, mailbox: Mailbox) -> str:
    """Return a name to compare, without what stands before it: one of several mailboxes, or a namespace."""
    bare = normal(name)
    label, slash, rest = bare.partition("/")
    if slash and label in map(normal, mailbox.roster.scopes):
        bare = rest
    while bare not in BROADCASTS and bare.partition(":")[0] in INNER and ":" in bare:
        bare = bare.partition(":")[2].strip()
    return bare


def _names(mailbox: Mailbox, sender: str) -> set[str]:
    """Return what a sender goes by: its session and its roles; a role's name is no sender where the roster knows it."""
    agent = mailbox.roster.get(sender)
    if agent is not None:
        return {normal(agent.session_id), *map(normal, agent.roles())}
    return set() if len(mailbox.roster) else {normal(sender)}


def _allowed(names: Sequence[str]) -> set[str]:
    return {normal(name).removeprefix("role:") for name in names}
