"""Which threads an action is about: the marked ones, the one at the cursor of the list, or the open one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from console.screens.listing import Listing
    from console.session import Session
    from mailstore.records.message import Message


class ListPane(Protocol):
    """What is needed of the list of threads."""

    @property
    def cursor_key(self) -> str | None: ...


class ConversationPane(Protocol):
    """What is needed of the conversation."""

    @property
    def message(self) -> Message | None: ...


class SelectionScreen(Protocol):
    """What is needed of the main screen."""

    session: Session
    listing: Listing

    @property
    def threads(self) -> ListPane: ...
    @property
    def conversation(self) -> ConversationPane: ...
    def pane(self) -> str: ...


def selected_threads(screen: SelectionScreen) -> list[str]:
    """Return the roots of the selected threads; the conversation may follow the list's cursor a moment later."""
    if screen.pane() == "conversation":
        message = screen.conversation.message
        root = None if message is None else screen.session.mailbox.root_of(message.id)
    elif marked := screen.listing.marked_roots():
        return marked
    else:
        root = screen.threads.cursor_key
    return [] if root is None else [root]
