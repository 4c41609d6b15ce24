"""Discard drafts, and restore them."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from console.screens.base_screen import BaseScreen
from console.state.composer_draft import ComposerDraft
from console.state.undo_history import UndoableAction


class DraftKeeping:
    """Changes drafts that are not open in the composer; every change can be undone."""

    def __init__(self, screen: BaseScreen[Any]) -> None:
        self._screen = screen

    def discard(self, drafts: Sequence[ComposerDraft]) -> None:
        """Discard drafts, and make it an action that can be undone."""
        words = "Draft discarded" if len(drafts) == 1 else f"{len(drafts)} drafts discarded"
        self._drop(drafts)
        action = UndoableAction(words, lambda: self._restore(drafts), lambda: self._drop(drafts))
        self._screen.session.undo_history.add(action)
        self._screen.tell(words)

    def _drop(self, drafts: Sequence[ComposerDraft]) -> None:
        self._change([ComposerDraft(draft.key) for draft in drafts])

    def _restore(self, drafts: Sequence[ComposerDraft]) -> None:
        self._change([self.placed(draft) for draft in drafts])

    def placed(self, draft: ComposerDraft) -> ComposerDraft:
        """Return a draft with its own key, or with another one if its place has a draft by now."""
        is_free = self._screen.session.personal.draft(draft.key) is None
        return draft if is_free else replace(draft, key=f"restored:{uuid.uuid4()}")

    def _change(self, drafts: Sequence[ComposerDraft]) -> None:
        for draft in drafts:
            self._screen.session.personal.set_draft(draft)
        self._screen.run_task(self._save([draft.key for draft in drafts]), group="drafts")
        self._screen.redraw()

    async def _save(self, keys: Sequence[str]) -> None:
        for key in keys:
            await asyncio.to_thread(self._screen.session.personal.save_draft, key)
