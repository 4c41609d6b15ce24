"""What a message's lines show besides what the mailbox knows: its files, and how it is sent."""

from __future__ import annotations

from msgspec.structs import replace

from console.panes.blocks import ATTACHED, MessageBlock
from console.session import Session
from mailstore.records.message import Message

MISSING = "!attachment-missing:"
LOOK_SECONDS = 30


def with_extras(block: MessageBlock, session: Session) -> MessageBlock:
    """Return a message's block with the places of its files, if any are attached, and whether it waits to be sent."""
    message = block.node.message
    if message is None:
        return block
    if session.delayed is not None and session.store.is_waiting(session.mailbox.places(message.id)):
        block = replace(block, is_waiting=True, way=session.delayed.get(message.id))
    if any(tag.removeprefix("!").startswith(ATTACHED) for tag in message.tags):
        block = _with_files(block, message, session)
    return block


def _with_files(block: MessageBlock, message: Message, session: Session) -> MessageBlock:

    # what is missing may still come: the lines are rendered again from time to time
    is_missing = any(tag.startswith(MISSING) for tag in message.tags)
    looked = int(session.clock() // LOOK_SECONDS) if is_missing else 0
    return replace(block, files=session.mailbox.places(message.id), looked=looked)
