"""Which messages are announced to a session when: a function of its notices so far, its unread mail, and the moment.

Each message is announced once between tools, keeps a turn from ending once, and is counted again at the beginning of a
new turn three times at most (docs/decisions/0045). Nothing here reads or writes. Imports next to nothing.
"""

from __future__ import annotations

from console.hooks.events import CHANGED, PROMPT, START, STOP, TOOL
from console.hooks.sessions.printed import PRINTED, PROMPTED, SEEN
from mailstore.records.protocol import BROADCAST_NAMES, TAG_NAMESPACES, USER_NAMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from console.hooks.sessions.session_state import SessionState

MOST_REMINDERS = 3
MOST_BLOCKS = 3
"""How many turn ends in a row are blocked, whatever the program allows."""
WAKE_SECONDS = 60.0
"""How long one sender doesn't wake a session again."""


def due(state: SessionState, messages: list[Any], moment: str, now: float, *, is_rung: bool = False) -> list[Any]:
    """Return the messages to tell of at a moment, the oldest first; none if there is nothing to say.

    `messages` is the unread mail without what was shown in full; `is_rung` says that the session is being woken.
    """
    if moment == START or (moment == CHANGED and is_rung):
        return messages
    new = [message for message in messages if message.id not in state.announced]
    if moment == PROMPT:
        reminded = [each for each, count in state.reminders.items() if count >= MOST_REMINDERS]
        return [
            message for message in messages if message.id not in state.just_announced and message.id not in reminded
        ]
    if moment == STOP:
        is_new = any(message.id not in state.blocked for message in messages)
        return messages if is_new and state.blocks_in_row < MOST_BLOCKS else []
    if moment == CHANGED:
        return new if any(_wakes(state, message, now) for message in new) else []
    return new if moment == TOOL else []


def _wakes(state: SessionState, message: Any, now: float) -> bool:
    """Say whether a message may wake its recipient: not one to everybody, nor the second of a minute."""
    if not message.mentions and all(map(_is_to_many, message.recipients)):
        return False
    return message.sender in USER_NAMES or now - state.woken.get(message.sender, -WAKE_SECONDS) >= WAKE_SECONDS


def _is_to_many(recipient: str) -> bool:
    return recipient in BROADCAST_NAMES or recipient[:1] == "#" or recipient.partition(":")[0] in TAG_NAMESPACES


def announced(state: SessionState, messages: Sequence[Any], moment: str, now: float) -> None:
    """Note that messages, or none, were announced to a session at a moment; to be called once that was printed."""
    ids = [message.id for message in messages]
    if moment == PROMPT:
        state.just_announced = []
        for each in ids:
            if each in state.announced:
                state.reminders[each] = state.reminders.get(each, 0) + 1
    elif moment in (START, CHANGED):
        state.just_announced = list(dict.fromkeys((*state.just_announced, *ids)))
    elif moment == STOP:
        state.just_announced = []
        state.blocked = list(dict.fromkeys((*state.blocked, *ids)))
        state.blocks_in_row = state.blocks_in_row + 1 if ids else 0
    if moment == CHANGED:
        state.woken = {name: at for name, at in state.woken.items() if now - at < WAKE_SECONDS}
        state.woken |= {message.sender: now for message in messages}
    state.announced = list(dict.fromkeys((*state.announced, *ids)))


def settle(
    state: SessionState, messages: list[Any], moment: str, is_printing: Callable[[str], bool] = lambda _: False
) -> tuple[list[str], list[Any]]:
    """Begin what a moment begins; return the messages that were read, to be recorded, and those that are still unread.

    What a hook showed in full counts as read when a tool or a turn has ended: only then has the model answered with it.
    What the agent's own command printed counts at the next event, but for the end of that command's own tool, which
    `is_printing` knows by the message. A new session, or one whose memory was cut, has got nothing yet. `messages`
    is the unread mail.
    """
    if moment == START:
        state.announced, state.just_announced, state.shown, state.printed = [], [], [], {}
    elif moment == PROMPT:
        state.blocks_in_row = 0
    read = [message.id for message in messages if message.id in state.shown] if moment in (TOOL, STOP) else []
    for each, stage in list(state.printed.items()) if moment in (TOOL, STOP, PROMPT) else ():
        if moment == TOOL and (stage == PROMPTED or (stage == PRINTED and is_printing(each))):
            state.printed[each] = SEEN
        else:
            del state.printed[each]
            read.append(each)
    left = [message for message in messages if message.id not in read]
    _forget(state, {message.id for message in left})
    return list(dict.fromkeys(read)), left


def _forget(state: SessionState, unread: set[str]) -> None:
    """Forget what was announced of messages that are no longer unread."""
    state.announced = [each for each in state.announced if each in unread]
    state.blocked = [each for each in state.blocked if each in unread]
    state.shown = [each for each in state.shown if each in unread]
    state.just_announced = [each for each in state.just_announced if each in unread]
    state.reminders = {each: count for each, count in state.reminders.items() if each in unread}
