"""After a message is sent by a command: wake the idle agents that it calls, and say who hears of it when."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from console.cli.loading import Loaded
from console.cli.person import agent_mark
from console.cli.settings import settings
from console.hooks.sessions.live import HookedAgents, hooked_agents
from console.hooks.waking.hearing import hearing
from console.hooks.waking.ringing import ring_called
from mailstore.records.draft import Draft
from mailstore.records.message import Message
from mailstore.rules.waking import WAKING_TYPES, called
from mailstore.writing.policy import is_the_user
from mailstore.writing.sending import as_message, preview


class Call(Struct, frozen=True):
    """A message that was sent, whom it may wake, and a line for each group of agents that hear of it by a hook."""

    message: Message
    called: tuple[str, ...]
    lines: tuple[str, ...]
    by_user: bool

    def ring(self, store_url: str, now: float) -> list[str]:
        """Wake whom it calls; return what went wrong. Blocks for some seconds at most."""
        rung = ring_called(store_url, self.message, self.called, now, by_user=self.by_user)
        return [f"{one.agent_id} was not woken: {one.problem}" for one in rung if one.problem]


def call(mail: Loaded, draft: Draft, message_id: str) -> list[str]:
    """Wake those agents that a sent message calls; return lines for the sender. Blocks for some seconds at most."""
    hooked = hooked_agents(mail.store.url, mail.now)
    if not hooked.live:
        return []
    found = call_of(mail, draft, message_id, hooked, is_agent=bool(agent_mark()))
    return [*found.lines, *found.ring(mail.store.url, mail.now)]


def call_of(mail: Loaded, draft: Draft, message_id: str, hooked: HookedAgents, *, is_agent: bool) -> Call:
    """Return whom a sent message calls, and who hears of it when."""
    mailbox = mail.mailbox
    by_user = not is_agent and is_the_user(draft.sender, mailbox)
    message = replace(as_message(draft, mail.now), id=message_id)
    types = settings(is_told=False).wake_types
    is_waking = by_user or draft.type in (WAKING_TYPES if types is None else types)
    named = called(message, mailbox.roster, mailbox.user)
    heard = hearing(preview(mailbox, draft, mail.now).reaches, hooked, named, is_waking=is_waking)
    lines = tuple(f"{', '.join(names)} {when}" for when, names in heard.items())
    return Call(message, tuple(named) if is_waking else (), lines, by_user)
