"""Compare a name as it is typed in a query with the names of agents, roles, channels and tags.

Names are compared without regard to case. A text that is no name itself is the beginning of one; after `=`, it is
exactly the name or address in the record.
"""

from __future__ import annotations

from functools import cached_property

from mailstore.records.address import Kind, is_channel, resolve
from mailstore.records.scope import SEPARATOR
from mailstore.state.mailbox import Mailbox


def begins(wanted: str, name: str, *, is_known: bool = False) -> bool:
    """Return whether a name is what is wanted, or begins with it unless that is known as a name itself."""
    if wanted.startswith("="):
        return name == wanted[1:]
    return name == wanted or (not is_known and bool(wanted) and name.startswith(wanted))


class NameMatcher:
    """Knows by which names agents and channels are called; for as long as one query is evaluated."""

    def __init__(self, mailbox: Mailbox) -> None:
        self._mailbox = mailbox
        self._forms: dict[str, tuple[str, ...]] = {}
        self._tag_forms: dict[str, tuple[str, ...]] = {}

    def is_name(self, wanted: str, name: str) -> bool:
        """Return whether a sender or recipient is meant; `wanted` is case-folded."""
        if wanted.startswith("="):
            return name.casefold() == wanted[1:]
        bare = wanted.removeprefix("#").removeprefix("@")
        is_known = bare in self._known
        return bool(bare) and any(begins(bare, form, is_known=is_known) for form in self._names(name))

    def is_role(self, wanted: str, name: str) -> bool:
        """Return whether an address is the role that is meant; `wanted` is case-folded."""
        address = resolve(name, self._mailbox.roster, self._mailbox.user)
        if address.kind not in (Kind.ROLE, Kind.UNKNOWN):
            return False
        role = (address.role or name).removeprefix("role:")
        return any(begins(wanted, form, is_known=wanted in self._roles) for form in self._folded((role,)))

    def is_tag(self, wanted: str, name: str) -> bool:
        """Return whether a tag or a channel is meant; `wanted` is case-folded."""
        bare = wanted.removeprefix("#")
        is_known = bare in self._tags
        return bool(bare) and any(begins(bare, form, is_known=is_known) for form in self._tag_names(name))

    @cached_property
    def _known(self) -> frozenset[str]:
        """Every name of an agent, a role, a channel or the person."""
        agents = {form for agent in self._mailbox.roster for form in self._names(agent.session_id)}
        return frozenset(agents) | self._roles | self._tags | {self._mailbox.user.casefold(), "all"}

    @cached_property
    def _roles(self) -> frozenset[str]:
        return frozenset(self._folded(tuple(self._mailbox.roster.roles())))

    @cached_property
    def _tags(self) -> frozenset[str]:
        tags = {channel.tag for channel in self._mailbox.channels()}
        return frozenset(form for tag in tags for form in self._tag_names(tag))

    def _names(self, name: str) -> tuple[str, ...]:
        forms = self._forms.get(name)
        if forms is None:
            agent = self._mailbox.roster.get(name)
            names = (name, agent.name, *agent.roles()) if agent else (name,)
            forms = self._forms[name] = self._folded(names)
        return forms

    def _tag_names(self, tag: str) -> tuple[str, ...]:
        forms = self._tag_forms.get(tag)
        if forms is None:
            forms = self._tag_forms[tag] = self._folded((tag,)) if is_channel(tag) else (tag.casefold(),)
        return forms

    def _folded(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Return names without regard to case, also without the mailbox and the kind before them."""
        if self._mailbox.roster.scopes:
            names = (*names, *(name.partition(SEPARATOR)[2] for name in names))
        folded = [name.casefold() for name in names if name]
        return tuple(dict.fromkeys([*folded, *(name.partition(":")[2] for name in folded if ":" in name)]))
