"""What all screens share: the store, its mailbox, and the user's own data."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING

from textual.cache import LRUCache

from console.concerns import ConcernsFound
from console.hooks.sessions.hooked_agents import HookedAgents, hooked_presence
from console.personal import PersonalData
from console.settings.config import Config
from console.state.undo_history import UndoHistory
from mailstore.errors import MailError, StoreError
from mailstore.records.message import Message
from mailstore.records.roster import Agent
from mailstore.rules.presence import Presence, presence_of
from mailstore.rules.unread import is_due_to_sender
from mailstore.state.mailbox import Mailbox, guarded
from mailstore.store import Capability, Store

if TYPE_CHECKING:
    from console.state.personal_state import PersonalState
    from console.state.saved_views import SavedViewHits
    from mailstore.records.details import AgentUsage, MessageWay
    from mailstore.writing.settling import Done, Step

MOST_PREVIEWED = 5000
"""Messages of a preview whose marks are copied; those of more are loaded from the user's state."""
PAST = "looking at the past: T goes back to live"


class Session:
    """A mailbox as one person sees it.

    Methods that block say so and belong in a thread; everything else belongs on the event loop, above all the mailbox:
    long work on it is done in steps (`stepping`). Only the feed changes the mailbox.
    """

    def __init__(
        self,
        store: Store,
        state: PersonalState | None,
        config: Config,
        *,
        user: str = "user",
        observe: bool = False,
        clock: Callable[[], float] = time.time,
        rest: Callable[[float], float] = lambda worked: 0.0,
    ) -> None:
        self.store = store
        self.url = store.url
        """The mailbox's URL, made once: that follows links, and a file system may take long to answer."""
        self.config = config
        self.keymap, self.keymap_problems = _keymap(config)
        self.user = user
        self.observe = observe
        self.clock = clock
        self.last_key = clock()
        """When the user last pressed a key or used the mouse, in seconds since the epoch."""
        self.keys = 0
        """How often a key was pressed or the mouse used."""
        self.rest = rest
        """How long background work sleeps after so many seconds of work."""
        self.live = guarded(Mailbox(user))
        self.moment: float | None = None
        self._past: Mailbox | None = None
        self.is_loading = True
        self.arrived: dict[str, None] = {}
        """Ids of the messages that arrived while the console was open, in order."""
        self.undo_history = UndoHistory()
        self.problems: list[str] = []
        """What is wrong in the settings, in sentences."""
        self.hooked = HookedAgents()
        """The agents that hear of their mail by a hook."""
        self.usage: Mapping[str, AgentUsage] = {}
        """What the agents that were at work in the last 24 hours have used."""
        self.delayed: Mapping[str, MessageWay] | None = None
        """The messages that could not be sent yet, by message id; None unless transports carry messages here."""
        self.owed: set[str] = set()
        """Messages whose read records wait until their mailbox can be reached again."""
        self.found: dict[str, SavedViewHits] = {}
        self.attention = ConcernsFound()
        self.last_query = ""
        self.unreadable_texts: set[str] = set()
        """Messages whose text could not be read when it was asked for last."""
        self._bodies: LRUCache[str, str] = LRUCache(512)
        self._lock = Lock()
        self.personal = PersonalData(state, self.url, config, self.now)

    @property
    def mailbox(self) -> Mailbox:
        """The mailbox that is shown: the live one, or the one at `moment`."""
        return self._past if self._past is not None else self.live

    def adopt(self, mailbox: Mailbox) -> None:
        """Replace the live mailbox by a complete one; what was marked meanwhile is kept."""
        is_preview = len(self.live) < MOST_PREVIEWED
        mailbox.fold(self.live.marks() if is_preview else [self.live.own_marks()], self.clock())
        self.live = guarded(mailbox)
        self.forget_bodies()

    def now(self) -> float:
        """Return the time that is shown, in seconds since the epoch."""
        return self.clock() if self.moment is None else self.moment

    def travel(self, moment: float | None, past: Mailbox | None) -> None:
        """Show the mailbox as it was at a time; None returns to the live one."""
        self.moment, self._past = moment, None if past is None else guarded(past)

    def usage_now(self) -> Mapping[str, AgentUsage]:
        """Return what agents have used; nothing while the past is shown, of which that is not known."""
        return self.usage if self.moment is None else {}

    def presence(self, agent: Agent) -> Presence:
        """Return what an agent is doing at the time that is shown."""
        if self.moment is None:
            return self.live_presence(agent)
        since = self.mailbox.roster.active_since(agent.session_id)
        return presence_of(agent, self.moment, self.config.stale_after_minutes * 60, since)

    def live_presence(self, agent: Agent) -> Presence:
        """Return what an agent is doing now, whatever time is shown."""
        since, now = self.live.roster.active_since(agent.session_id), self.clock()
        presence = presence_of(agent, now, self.config.stale_after_minutes * 60, since)
        return hooked_presence(agent, presence, self.hooked, now, self.config.hooks)

    def why_not(self, capability: Capability, about: str = "") -> str:
        """Return why something can't be done here, or to a message or an agent; empty if it can."""
        if self.moment is not None:
            return PAST
        if self.observe:
            return "observing: nothing is written"
        return self.store.capabilities_for(about).why_not(capability)

    def body(self, message: Message) -> str:
        """Return a message's text, or why it can't be read; blocks, raises nothing."""
        with self._lock:
            known = self._bodies.get(message.id)
        if known is not None:
            return known
        try:
            text = self.store.content(message)
        except StoreError as error:
            self.unreadable_texts.add(message.id)
            return f"(the text can't be read: {error})"
        self.unreadable_texts.discard(message.id)
        with self._lock:
            self._bodies[message.id] = text
        return text

    def new_among(self, message_ids: Iterable[str]) -> int:
        """Return how many of these messages arrived while the console was open and are unseen."""
        mailbox = self.mailbox
        fresh = map(mailbox.message, filter(self.arrived.__contains__, message_ids))
        return sum(message is not None and mailbox.is_new(message) for message in fresh)

    def forget_bodies(self) -> None:
        """Drop all cached texts, after the files were replaced."""
        with self._lock:
            self._bodies.clear()

    def waits_for_user(self, message: Message) -> bool:
        """Say whether a message's sender waits for a read record by the user, and it can be written."""
        if self.mailbox.is_own(message) or any(self.why_not(Capability.MARK_READ, it) for it in (message.id, "user")):
            return False
        return is_due_to_sender(message, self.personal.joined, self.mailbox.roster, self.user)

    def settle(self, steps: Sequence[Step]) -> tuple[list[Done], MailError | None]:
        """Settle dead letters; return what was done and the error that stopped the rest, if any. Blocks."""
        from mailstore.writing.settling import carry_out

        return carry_out(self.store, steps, actor=self.user, clock=self.now)

    def write_read_records(self, messages: Sequence[str]) -> int:
        """Record in the store that the user has read messages; blocks, raises StoreError."""
        return self.store.mark_read("user", messages) if messages else 0


def _keymap(config: Config) -> tuple[dict[str, str], list[str]]:
    """Return the configured keys by command, and what is wrong with them."""
    if not config.keymap:
        return {}, []
    from console.commands.keymap import read_keymap
    from console.settings.config_file import place_of

    return read_keymap(config.keymap, partial(place_of, ("keymap",)))
