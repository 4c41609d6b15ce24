"""One person's own data about one mailbox: seen marks, drafts, joined channels, saved views, last location."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec.structs import replace

from console.quiet.marks import QuietMarks
from console.settings.config import Config, state_file
from console.state.remembered import RememberedValues
from mailstore.errors import StoreError
from mailstore.files.folder import may_exist
from mailstore.records.events import Event, Seen, Unseen

if TYPE_CHECKING:
    from console.state.composer_draft import ComposerDraft
    from console.state.personal_state import PersonalState

T = TypeVar("T")
EVERYWHERE = ""
"""The URL under which state is kept that holds for all mailboxes."""


class PersonalData:
    """Drafts, views and channels in memory, and the file that keeps them with everything else.

    Methods that block say so and belong in a thread. To change a draft, a view or a channel, change it first and then
    save it from a thread.
    """

    def __init__(self, state: PersonalState | None, url: str, config: Config, now: Callable[[], float]) -> None:
        self._state = state
        self._state_lock = Lock()
        self._url = url
        self._config = config
        self._now = now
        self.joined: frozenset[str] = frozenset()
        self.views: dict[str, str] = dict(config.views)
        self._remembered = RememberedValues()
        self.quiet = QuietMarks()
        """What the user has muted, starred and snoozed; `save_quiet` follows a change."""
        self._drafts: dict[str, ComposerDraft] = {}
        self._changed_drafts: set[str] = set()
        """The keys of drafts that were changed since the start: what is loaded doesn't replace them."""
        self._unsaved_drafts: set[str] = set()
        self._unsaved_marks: dict[str, bool] = {}
        """Whether messages are marked as seen, where that was changed and is not saved yet."""
        self._memory_lock = Lock()
        self._save_lock = Lock()
        """Held by whoever saves what it finds: threads that are late don't save what was changed since."""
        self._newest_mark = self._newest_removal = 0
        self._problem = ""

    @property
    def state(self) -> PersonalState:
        """The stored state, opened on first use; blocks."""
        with self._state_lock:
            if self._state is None:
                from console.state.personal_state import PersonalState

                self._state = PersonalState()
            return self._state

    def problem(self) -> str:
        """Return what is wrong with the stored state; empty if nothing is. Blocks."""
        return self._problem or self.state.problem

    def _read(self, read: Callable[[], T], otherwise: T) -> T:
        """Return what is read of the stored state; where it can't be read, `problem` says so."""
        try:
            return read()
        except StoreError as error:
            self._problem = str(error)
            return otherwise

    @property
    def _is_new(self) -> bool:
        """Whether nothing was ever stored."""
        return self._state is None and not may_exist(state_file())

    def reconfigure(self, config: Config) -> None:
        """Take other settings over; blocks."""
        self._config = config
        self.views = {**config.views, **self.state.views(self._url)}

    # Start and end

    def left_off(self) -> dict[str, Any]:
        """Load drafts, views and channels; return where the user left off. Blocks for a short while."""
        return {} if self._is_new else self._read(self._left_off, {})

    def _left_off(self) -> dict[str, Any]:
        self._load()
        return self.state.session(self._url)

    def seen_among(self, message_ids: Iterable[str]) -> list[Event]:
        """Return which of a few messages the user has seen, and their other marks; blocks for a short while."""
        if self._state is None:
            return []
        return self._marks(self._read(lambda: self.state.seen_of(self._url, message_ids), list[str]()))

    def load(self) -> list[Event]:
        """Load everything; return what the user has seen, and their other marks. Blocks."""
        return self._read(self._everything, [])

    def _everything(self) -> list[Event]:
        seen, self._newest_mark = self.state.seen(self._url)
        self._newest_removal = self.state.unseen_again(self._url)[1]
        self._load()
        return self._marks(seen)

    def _marks(self, seen: Iterable[str]) -> list[Event]:
        return [*map(Seen, seen), self.quiet.own_marks()]

    def _load(self) -> None:
        self.joined = self.state.joined(self._url)
        self._load_drafts()
        self.views = {**self._config.views, **self.state.views(self._url)}
        self._remembered.load(self.state.database, self._url)
        self.quiet.load(self.state.database, self._url)

    def _load_drafts(self) -> None:
        drafts = self.state.drafts(self._url)
        with self._memory_lock:
            changed = {key: self._drafts.get(key) for key in self._changed_drafts}
            self._drafts = {key: draft for key, draft in {**drafts, **changed}.items() if draft is not None}

    def leave(self, location: dict[str, Any]) -> None:
        """Save where the user leaves off, and marks that are not saved yet; blocks."""
        self.save_seen()
        self.state.save_session(self._url, location)

    def appearance(self) -> dict[str, Any]:
        """Return what is kept of the console's appearance, for all mailboxes; blocks."""
        return {} if self._is_new else self._read(lambda: self.state.session(EVERYWHERE), {})

    def save_appearance(self, **changes: Any) -> None:
        """Save changes of the appearance for the next start; blocks."""
        with self._save_lock:
            self.state.save_session(EVERYWHERE, {**self.state.session(EVERYWHERE), **changes})

    # Small values

    def recall(self, name: str, otherwise: Any = None) -> Any:
        """Return the value that is remembered under a name, as JSON has it."""
        return self._remembered.recall(name, otherwise)

    def remember(self, name: str, value: Any) -> None:
        """Remember a value under a name; None forgets it. `save_remembered` follows."""
        self._remembered.remember(name, value)

    def save_remembered(self, name: str) -> None:
        """Save the value with a name as it is by now; blocks."""
        self._remembered.save(self.state.database, self._url, name)

    # Seen marks

    def all_seen(self) -> list[Event]:
        """Return everything that the user has seen, and their other marks; blocks."""
        return self._marks(self._read(lambda: self.state.seen(self._url)[0], list[str]()))

    def newly_seen(self) -> list[Event]:
        """Return what was marked as seen, or unseen again, since the last call, also by another console; blocks."""
        with self._save_lock:
            seen, mark = self.state.seen(self._url, self._newest_mark)
            unseen, removal = self.state.unseen_again(self._url, self._newest_removal)
            self._newest_mark, self._newest_removal = mark, removal
            newer = set(self._unsaved_marks)
        return [*(Seen(key) for key in seen if key not in newer), *(Unseen(key) for key in unseen if key not in newer)]

    def load_quiet(self) -> bool:
        """Take over what another console muted, starred and snoozed; return whether anything differs. Blocks."""
        return self.quiet.load(self.state.database, self._url)

    def save_quiet(self) -> None:
        """Save what was muted, starred and snoozed; blocks."""
        self.quiet.save(self.state.database, self._url)

    def set_seen(self, message_ids: Iterable[str], *, is_seen: bool) -> None:
        """Mark messages as seen, or take the marks back; `save_seen` follows."""
        with self._memory_lock:
            self._unsaved_marks.update(dict.fromkeys(message_ids, is_seen))

    def save_seen(self) -> None:
        """Save the marks as they are by now; blocks. Raises StoreError, after which they are saved the next time."""
        with self._save_lock:
            with self._memory_lock:
                changed, self._unsaved_marks = self._unsaved_marks, {}
            try:
                if seen := [key for key, is_seen in changed.items() if is_seen]:
                    self.state.mark_seen(self._url, seen, self._now())
                if unseen := [key for key, is_seen in changed.items() if not is_seen]:
                    self.state.unmark_seen(self._url, unseen)
            except BaseException:
                with self._memory_lock:
                    self._unsaved_marks = {**changed, **self._unsaved_marks}
                raise

    # Drafts

    @property
    def draft_count(self) -> int:
        """The number of drafts."""
        return len(self._drafts)

    @property
    def drafts(self) -> list[ComposerDraft]:
        """All drafts, the one changed last first."""
        return sorted(self._drafts.values(), key=lambda draft: draft.updated, reverse=True)

    def draft(self, key: str) -> ComposerDraft | None:
        """Return the draft with a key."""
        return self._drafts.get(key)

    def set_draft(self, draft: ComposerDraft) -> None:
        """Change a draft, or drop it if it is blank; `save_draft` follows."""
        with self._memory_lock:
            self._changed_drafts.add(draft.key)
            self._unsaved_drafts.add(draft.key)
            if draft.is_blank:
                self._drafts.pop(draft.key, None)
            else:
                self._drafts[draft.key] = replace(draft, updated=self._now())

    def save_draft(self, key: str) -> None:
        """Save the draft with a key as it is by now; blocks. Raises StoreError."""
        with self._save_lock:
            draft = self._drafts.get(key)
            if draft is None:
                self.state.drop_draft(self._url, key)
            else:
                self.state.save_draft(self._url, draft)
            if self._drafts.get(key) is draft and not self.state.is_in_memory:
                self._unsaved_drafts.discard(key)

    def save_drafts(self) -> None:
        """Save the drafts whose change is not saved yet; blocks. Raises StoreError."""
        with self._memory_lock:
            keys = list(self._unsaved_drafts)
        for key in keys:
            self.save_draft(key)

    @property
    def unsaved_drafts(self) -> int:
        """The number of drafts that would be lost with the console."""
        return len(self._unsaved_drafts & self._drafts.keys())

    # Views and channels

    def set_view(self, name: str, query: str | None) -> None:
        """Name a query, or drop the name; `save_view` follows."""
        if query is None:
            self.views.pop(name, None)
        else:
            self.views[name] = query

    def save_view(self, name: str) -> None:
        """Save the query with a name; blocks."""
        with self._save_lock:
            self.state.save_view(self._url, name, self.views.get(name))

    def toggle_joined(self, tag: str) -> bool:
        """Join a channel or leave it; return whether it is joined now. `save_joined` follows."""
        is_joined = tag not in self.joined
        self.joined = self.joined | {tag} if is_joined else self.joined - {tag}
        return is_joined

    def save_joined(self, tag: str) -> None:
        """Save whether a channel is joined; blocks."""
        with self._save_lock:
            self.state.join(self._url, tag, tag in self.joined)
