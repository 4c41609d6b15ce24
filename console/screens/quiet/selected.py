"""Which threads an action is about: the marked ones, the one at the cursor of the list, or the open one."""

from __future__ import annotations

from console.screens.mail_screen import MailScreen


def selected_threads(screen: MailScreen) -> list[str]:
    """Return the roots of the selected threads; the conversation may follow the list's cursor a moment later."""
    if screen.pane() == "conversation":
        message = screen.conversation.message
        root = None if message is None else screen.session.mailbox.root_of(message.id)
    elif marked := screen.listing.marked_roots():
        return marked
    else:
        root = screen.threads.cursor_key
    return [] if root is None else [root]
