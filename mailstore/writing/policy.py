"""Check the policy that says who may write to the user, whatever the spelling of the names."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable, Sequence

from mailstore.errors import DraftRefused
from mailstore.records.address import Kind, resolve
from mailstore.records.protocol import BROADCAST_NAMES, USER_NAMES
from mailstore.state.mailbox import Mailbox
from mailstore.writing.sending import split_addresses

INNER = ("role", "agent")
"""Namespaces that another program may drop from a name."""


def normal(name: str) -> str:
    """Return a name normalised for comparison: NFKC, stripped, case-folded."""
    return unicodedata.normalize("NFKC", name).strip().casefold()


BROADCASTS = frozenset(map(normal, BROADCAST_NAMES))


def is_the_user(name: str, mailbox: Mailbox) -> bool:
    """Return whether a name is the user's, in any spelling."""
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
    """Raise DraftRefused for a sender that may not write to the user; `allowed` names sessions and roles that may.

    Broadcasts, channels that the user has `joined`, and names `mentioned` in the text count as writing to the user.
    With no names in `allowed`, every sender may. A sender that is the user is accepted: the caller checks that.
    """
    if not allowed or is_the_user(sender, mailbox) or not _names(mailbox, sender).isdisjoint(_allowed(allowed)):
        return
    remedy = f"write to {' or '.join(allowed)} instead"
    channels = {word for tag in joined for word in (normal(tag), normal(tag).partition(":")[2])}
    for text in split_addresses(recipients, mailbox):
        if is_the_user(text, mailbox):
            raise DraftRefused("to", f"is the user, and {sender} may not write to the user", remedy, "E349")
        bare = _bare(text, mailbox)
        if bare in BROADCASTS:
            raise DraftRefused(
                "to", f"reaches the user through {text}, and {sender} may not write to the user", remedy, "E350"
            )
        if bare.removeprefix("#") in channels and (bare.startswith("#") or ":" in bare):
            raise DraftRefused(
                "to", f"reaches the user, who has joined {text}, and {sender} may not write to the user", remedy, "E351"
            )
    if any(is_the_user(name, mailbox) for name in mentioned):
        raise DraftRefused("body", f"mentions the user, and {sender} may not write to the user", remedy, "E348")


def _bare(name: str, mailbox: Mailbox) -> str:
    """Return a normalised name without the label of its mailbox and without a namespace."""
    bare = normal(name)
    label, slash, rest = bare.partition("/")
    if slash and label in map(normal, mailbox.roster.scopes):
        bare = rest
    while bare not in BROADCASTS and bare.partition(":")[0] in INNER and ":" in bare:
        bare = bare.partition(":")[2].strip()
    return bare


def _names(mailbox: Mailbox, sender: str) -> set[str]:
    """Return a sender's session id and roles; an unregistered name counts only if the roster is empty."""
    agent = mailbox.roster.get(sender)
    if agent is not None:
        return {normal(agent.session_id), *map(normal, agent.roles())}
    return set() if len(mailbox.roster) else {normal(sender)}


def _allowed(names: Sequence[str]) -> set[str]:
    return {normal(name).removeprefix("role:") for name in names}
