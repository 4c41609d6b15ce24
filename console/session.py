"""The one place that holds what the console knows: the store, its fold, and the person's own state."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any

from textual.cache import LRUCache

from console.composer_draft import ComposerDraft
from console.config import Config, state_file
from console.undo_history import UndoHistory
from mailstore.errors import MailError, StoreError, Unsupported
from mailstore.optional import is_for_named, would_wake
from mailstore.records.events import Event, Seen
from mailstore.records.message import Intervention, Message
from mailstore.rules.unread import is_due_to_sender
from mailstore.state.mailbox import Mailbox
from mailstore.state.thread_guard import guarded
from mailstore.store import Capability, Store

if TYPE_CHECKING:
    from console.saved_views import SavedViewHits
    from console.state import PersonalState
    from mailstore.records.draft import Draft
    from mailstore.writing.sending import Preview
    from mailstore.writing.settling import Done, Step

__all__ = ["PAST", "Session"]

EVERYWHERE = ""
"""The mailbox under which is kept what holds for all of them."""

FEW = 5000
"""Messages, of a first glimpse: marks of more are found in the person's state soon enough."""
PAST = "looking at the past: T goes back to now"


class Session:
    """A mailbox as one person sees it.

    Methods that say so block and belong in a worker; everything else is for the event loop alone, a mailbox above
    all: who has long to look through one goes in steps (`stepping`). The fold is changed by the feed and by nobody
    else.
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
        self._state = state
        self._state_lock = Lock()
        self.config = config
        self.keymap, self.keymap_problems = _keymap(config)
        self.user = user
        self.observe = observe
        self.clock = clock
        self.rest = rest
        """How long what goes on beside the keys rests after working for so many seconds."""
        self.live = guarded(Mailbox(user))
        self.moment: float | None = None
        self._past: Mailbox | None = None
        self.joined: frozenset[str] = frozenset()
        self.is_loading = True
        self.arrived: dict[str, None] = {}
        """What came while the console was open, in order."""
        self.undo_history = UndoHistory()
        self.problems: list[str] = []
        """What is wrong in the settings, in sentences."""
        self.views: dict[str, str] = dict(config.views)
        self.found: dict[str, SavedViewHits] = {}
        self.last_query = ""
        self._bodies: LRUCache[str, str] = LRUCache(512)
        self._lock = Lock()
        self._drafts: dict[str, ComposerDraft] = {}
        self._draft_lock = Lock()
        self._newest_mark = 0

    @property
    def state(self) -> PersonalState:
        """The person's own state, which is opened when it is first asked for; that blocks."""
        with self._state_lock:
            if self._state is None:
                from console.state import PersonalState

                self._state = PersonalState()
            return self._state

    @property
    def mailbox(self) -> Mailbox:
        """The mailbox that is looked at: the present one, or as it stood at `moment`."""
        return self._past if self._past is not None else self.live

    def adopt(self, mailbox: Mailbox) -> None:
        """Let a whole mailbox stand for the present one; what was seen or taken back meanwhile holds in it too."""
        if len(self.live) < FEW:
            mailbox.fold(self.live.marks(), self.clock())
        self.live = guarded(mailbox)
        self.forget_bodies()

    def now(self) -> float:
        """Return the moment that is looked at, in seconds since the epoch."""
        return self.clock() if self.moment is None else self.moment

    def travel(self, moment: float | None, past: Mailbox | None) -> None:
        """Look at the mailbox as it stood at a moment; at None, at the present one."""
        self.moment, self._past = moment, None if past is None else guarded(past)

    def why_not(self, capability: Capability, about: str = "") -> str:
        """Return why the person can't do something here, or to a message or an agent; empty when they can."""
        if self.moment is not None:
            return PAST
        if self.observe:
            return "observing: nothing is written"
        return self.store.capabilities_for(about).why_not(capability)

    def preview(self, draft: Draft) -> Preview:
        """Say whom a draft would reach if it were sent now."""
        from mailstore.writing.sending import preview

        roster = self.mailbox.roster
        return preview(
            self.mailbox,
            draft,
            self.now(),
            self.config.stale_after_minutes * 60,
            may_expire=Capability.TTL in self.store.capabilities_for(draft.thread or draft.recipients[0]),
            is_for_named=is_for_named(self.store, draft),
            woken=would_wake(self.store, draft, [agent.session_id for agent in roster]),
        )

    def body(self, message: Message) -> str:
        """Return a message's text; blocks. A body that is gone is told in its place, never raised."""
        with self._lock:
            known = self._bodies.get(message.id)
        if known is not None:
            return known
        try:
            text = self.store.content(message)
        except StoreError as error:
            return f"(the text can't be read: {error})"
        with self._lock:
            self._bodies[message.id] = text
        return text

    def new_among(self, message_ids: Iterable[str]) -> int:
        """Return how many of some messages came while the console was open and were not seen yet."""
        mailbox = self.mailbox
        fresh = map(mailbox.message, filter(self.arrived.__contains__, message_ids))
        return sum(message is not None and mailbox.is_unseen(message) for message in fresh)

    def forget_bodies(self) -> None:
        """Drop the texts that were read, after the files were replaced."""
        with self._lock:
            self._bodies.clear()

    def waits_for_user(self, message: Message) -> bool:
        """Say whether a message's sender waits for a read record by the user, and it can be written."""
        if self.mailbox.is_own(message) or self.why_not(Capability.MARK_READ, message.id):
            return False
        return is_due_to_sender(message, self.joined, self.mailbox.roster, self.user)

    def send(self, draft: Draft, *, action: str = "", details: dict[str, Any] | None = None) -> Message:
        """Append a message, and a journal record when it is an intervention; blocks, raises StoreError."""
        if self.moment is not None:
            raise Unsupported("nothing is sent", PAST)
        message = self.store.send(draft)
        if action and Capability.RECORD in self.store.capabilities_for(message.id):
            self.store.record(
                Intervention(
                    id=str(uuid.uuid4()),
                    actor=self.user,
                    action=action,
                    time=self.now(),
                    message_id=message.id,
                    details=details or {},
                )
            )
        return message

    def settle(self, steps: Sequence[Step]) -> tuple[list[Done], MailError | None]:
        """Write what settles dead letters; return what was written and what stopped the rest. Blocks."""
        from mailstore.writing.settling import carry_out

        return carry_out(self.store, steps, actor=self.user, clock=self.now)

    def write_read_records(self, messages: Sequence[str]) -> int:
        """Record in the store that the user read mail that was theirs; blocks, raises StoreError."""
        return self.store.mark_read("user", messages) if messages else 0

    def chosen_theme(self) -> str:
        """Return the theme that was put on from the palette, unless the settings name another one since; blocks."""
        if self._state is None and not state_file().exists():
            return ""
        kept = self.state.session(EVERYWHERE)
        return str(kept.get("theme", "")) if kept.get("configured") == self.config.theme else ""

    def keep_theme(self, name: str) -> None:
        """Keep the theme that was put on for the next time; blocks."""
        self.state.save_session(EVERYWHERE, {"theme": name, "configured": self.config.theme})

    def left_off(self) -> dict[str, Any]:
        """Return where the person left off; a short look that the first screen waits for, where there is one."""
        if self._state is None and not state_file().exists():
            return {}
        url = self.store.url
        self.views = {**self.config.views, **self.state.views(url)}
        self.joined = self.state.joined(url)
        self._drafts = self.state.drafts(url)
        return self.state.session(url)

    def seen_before(self) -> list[Event]:
        """Return which of the messages that are there the person has seen; the first screen waits for it."""
        if self._state is None:
            return []
        return [Seen(key) for key in self.state.seen_of(self.store.url, self.live.ids())]

    def leave(self, place: dict[str, Any]) -> None:
        """Remember where the person leaves off; blocks."""
        self.state.save_session(self.store.url, place)

    # The person's own state: what they saw, drafts, channels joined

    def load(self) -> list[Event]:
        """Read the person's state; return what they have seen as events for the fold. Blocks."""
        url = self.store.url
        seen, self._newest_mark = self.state.seen(url)
        self.joined = self.state.joined(url)
        self._drafts = self.state.drafts(url)
        self.views = {**self.config.views, **self.state.views(url)}
        return [Seen(message_id) for message_id in seen]

    def load_seen(self) -> list[Event]:
        """Return what the person has seen; blocks."""
        return [Seen(message_id) for message_id in self.state.seen(self.store.url)[0]]

    def news(self) -> list[Event]:
        """Return what another console of the same person marked as seen since the last look; blocks."""
        seen, self._newest_mark = self.state.seen(self.store.url, self._newest_mark)
        return [Seen(message_id) for message_id in seen]

    def keep_seen(self, message_ids: Sequence[str]) -> None:
        """Keep that the person has seen messages; blocks."""
        self.state.mark_seen(self.store.url, message_ids, self.now())

    def keep_unseen(self, message_ids: Sequence[str]) -> None:
        """Keep that the person took marks back; blocks."""
        self.state.unmark_seen(self.store.url, message_ids)

    @property
    def drafts_kept(self) -> int:
        """How many drafts wait to be sent."""
        return len(self._drafts)

    def draft(self, key: str) -> ComposerDraft | None:
        """Return the draft kept under a key."""
        return self._drafts.get(key)

    def keep_draft(self, writing: ComposerDraft) -> None:
        """Keep a draft in memory, or drop it when nothing is left of it; `persist_draft` follows."""
        if writing.is_blank:
            self._drafts.pop(writing.key, None)
        else:
            self._drafts[writing.key] = writing

    def persist_draft(self, key: str) -> None:
        """Bring what is kept under a key to the disk, whatever it is by now; blocks."""
        with self._draft_lock:
            writing = self._drafts.get(key)
            if writing is None:
                self.state.drop_draft(self.store.url, key)
            else:
                self.state.save_draft(self.store.url, writing)

    def keep_view(self, name: str, query: str | None) -> None:
        """Keep a query under a name, or drop it; `persist_view` follows."""
        if query is None:
            self.views.pop(name, None)
        else:
            self.views[name] = query

    def persist_view(self, name: str) -> None:
        """Bring what is kept under a name to the disk; blocks."""
        self.state.save_view(self.store.url, name, self.views.get(name))

    def join(self, tag: str) -> bool:
        """Join a channel, or leave it; say which. `keep_joined` follows."""
        is_joined = tag not in self.joined
        self.joined = self.joined | {tag} if is_joined else self.joined - {tag}
        return is_joined

    def keep_joined(self, tag: str) -> None:
        """Bring to the disk whether a channel is joined; blocks."""
        self.state.join(self.store.url, tag, tag in self.joined)


def _keymap(config: Config) -> tuple[dict[str, str], list[str]]:
    """Return the configured keys by command, and what is wrong with them."""
    if not config.keymap:
        return {}, []
    from console.keymap import read_keymap

    return read_keymap(config.keymap)
