"""Random histories of sessions that write to each other: each message has the state that its history gives it."""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mailstore.kinds.claude_sessions.store import ClaudeSessionsStore
from mailstore.records.message import Message
from mailstore.state.mailbox import Mailbox
from tests.kinds.claude_sessions.transcripts import Home, session_id
from tests.mailboxes import NOW

NAMES = ("alpha", "beta", "gamma", "delta")
FATES = ("sent", "arrived", "read", "busy", "held", "let through", "denied", "expired", "refused", "dropped", "unsent")
ENDED = {"arrived": "undelivered", "held": "undelivered", "sent": "dead", "let through": "dead"}
"""What becomes of a message whose recipient has ended; in other states that makes no difference."""
STATES = {
    "sent": "unread",
    "arrived": "unread",
    "read": "read",
    "busy": "read",
    "let through": "unread",
}
"""The state of a message to a recipient that runs; all others are not delivered."""


@pytest.fixture(scope="module", autouse=True)
def _own_state() -> Iterator[None]:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", folder)
        yield


@dataclass
class History:
    """What sessions did, and what each message must be: by text, who sent it to whom, and its state."""

    expected: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)


def label(name: str) -> str:
    return f"{name}@{session_id(name)[:4]}"


def write(home: Home, seed: int) -> History:
    """Write a random history of up to a dozen messages, every one with a text of its own."""
    chance = random.Random(seed)
    history = History()
    for name in NAMES:
        home.begin(name)
    living = {name for name in NAMES if chance.random() < 0.6}
    for number, name in enumerate(sorted(living)):
        home.runs(name, pid=chance.choice([1]) if number == 0 else None)
    running = {sorted(living)[0], sorted(living)[-1]} if living else set()  # one file for each process number
    for number in range(chance.randrange(1, 13)):
        sender, to = chance.sample(NAMES, 2)
        fate = chance.choice(FATES)
        text = f"message {number} </cross-session-message> {chance.random()}"
        message_id = f"{number:08d}-7ce3-4205-8391-{seed % 10**12:012d}"
        at = number * 20.0
        history.ids[message_id] = text
        if fate == "unsent":
            home.send(sender, to, text, at=at)
            history.expected[text] = (label(sender), to, "undelivered")
            continue
        home.send(sender, to, text, message_id, at=at)
        if fate in ("arrived", "read", "busy"):
            home.arrive(to, sender, text, at=at + 1, pid=900 + number)
        if fate in ("held", "let through", "denied", "expired"):
            home.hold(to, sender, text[:20], at=at + 1, pid=900 + number)
            if fate != "held" or chance.random() < 0.5:
                home.notice(sender, "held", message_id, at=at + 1, pid=1900 + number)
        if fate in ("denied", "expired", "refused", "dropped"):
            home.notice(sender, fate, message_id, at=at + 5, pid=1900 + number)
        elif fate == "let through":
            home.notice(sender, "released", message_id, at=at + 5, pid=1900 + number)
        elif fate in ("read", "busy"):
            home.read(to, message_id, text, at=at + 3, sender=sender, pid=900 + number, is_busy=fate == "busy")
        state = STATES.get(fate, "undelivered")
        if to not in running:
            state = ENDED.get(fate, state)
        history.expected[text] = (label(sender), label(to), state)
    return history


def found(home: Home) -> list[tuple[str, tuple[str, str, str]]]:
    with ClaudeSessionsStore.open(home.folder) as store:
        mailbox = Mailbox()
        for batch in store.scan():
            mailbox.fold(batch, NOW)
        seen = []
        for message in mailbox.newest():
            [(name, standing)] = mailbox.states(message, NOW).items()
            text = store.content(message) if message.subject != "(its text is in no transcript)" else message.id
            seen.append((text, (message.sender, name, standing.state.value)))
        return sorted(seen)


@given(seed=st.integers(0, 2**40))
def test_each_message_has_the_state_that_its_history_gives_it(seed: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder) / ".claude")
        history = write(home, seed)
        assert found(home) == sorted(history.expected.items())
        assert found(home) == sorted(history.expected.items())  # from what was kept


@given(seed=st.integers(0, 2**40))
def test_cut_or_damaged_anywhere_nothing_is_invented_and_nothing_whole_is_lost(seed: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder) / ".claude")
        history = write(home, seed)
        chance = random.Random(seed + 1)
        for name in NAMES:
            path = home.path(name)
            data = bytearray(path.read_bytes())
            if chance.random() < 0.4:
                del data[chance.randrange(len(data)) :]
            for _ in range(chance.randrange(3)):
                if data:
                    data[chance.randrange(len(data))] = chance.randrange(256)
            if chance.random() < 0.1:
                path.unlink()
            else:
                path.write_bytes(data)
        seen = found(home)
        for text, (_, _, state) in seen:
            if text in history.expected and state == "read":
                assert history.expected[text][2] == "read"
        assert sent_in(home) <= set(ids(home))


def ids(home: Home) -> list[str]:
    with ClaudeSessionsStore.open(home.folder) as store:
        return [event.id for batch in store.scan() for event in batch if isinstance(event, Message)]


def sent_in(home: Home) -> set[str]:
    """Return the ids of the messages that a whole line says were sent."""
    found = set()
    for name in NAMES:
        for line in home.path(name).read_bytes().split(b"\n")[:-1] if home.path(name).exists() else ():
            try:
                said = json.loads(line)
                result, [part] = said["toolUseResult"], said["message"]["content"]
                is_sent = said["type"] == "user" and result["success"] is True and part["type"] == "tool_result"
                if is_sent and part["tool_use_id"] and not {"routing", "request_id"} & result.keys():
                    found.add(result["msg_id"])
            except (ValueError, KeyError, TypeError, AttributeError):
                continue
    return found
