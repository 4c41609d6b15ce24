"""What a message's lines show besides what the mailbox knows: its files, and how it is sent."""

from __future__ import annotations

from msgspec.structs import replace

from console.panes.blocks import ATTACHED, MessageBlock
from console.session import Session
from mailstore.optional import MessageAttachments

__all__ = ["with_extras"]

MISSING = "!attachment-missing:"
LOOK_SECONDS = 30


def with_extras(block: MessageBlock, session: Session) -> MessageBlock:
    """Return a message's block with the places of its files, if any are attached."""
    message = block.node.message
    if message is None or not isinstance(session.store, MessageAttachments):
        return block
    if not any(tag.removeprefix("!").startswith(ATTACHED) for tag in message.tags):
        return block
    # what is missing may still come: then the lines are made anew now and then
    is_missing = any(tag.startswith(MISSING) for tag in message.tags)
    looked = int(session.clock() // LOOK_SECONDS) if is_missing else 0
    return replace(block, files=session.mailbox.places(message.id), looked=looked)
