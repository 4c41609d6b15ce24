"""Posting to a channel: as the system's own program does it, under names that can do no harm."""

from __future__ import annotations

import errno
import json
import os
import secrets
from pathlib import Path
from typing import Any

import pytest

from mailstore.errors import DraftRefused, StoreError, Unsupported
from mailstore.files import durable
from mailstore.kinds.channels.places import NAME
from mailstore.kinds.channels.store import ChannelsStore
from mailstore.records.draft import draft
from mailstore.records.message import Message
from tests.kinds.channels.channels_folder import SharedFolder, agents_in, copied, messages_in

ROOM = "project:agent-os-paper"
ODD_NAMES = ["", ".", "..", ".hidden", "a/b", "../up", "a\\b", "a b", "a\nb", "a\x00b", "a\x1b[2J", "x" * 300, "ü" * 60]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return copied(tmp_path)


def sent(root: Path, to: tuple[str, ...] = ("codex",), **fields: Any) -> Message:
    with ChannelsStore.open(root) as store:
        return store.send(draft(**{"sender": "user", "recipients": to, "content": "Hello.", **fields}))


def record(root: Path, message: Message) -> dict[str, Any]:
    assert message.location is not None
    return dict(json.loads((root / message.location.file).read_bytes()))


def files(root: Path) -> list[str]:
    return sorted(str(path) for path in root.rglob("*"))


def test_a_message_is_a_file_as_the_system_writes_it(root: Path) -> None:
    message = sent(root, ("codex",), content="Grüße, “you”.\n", thread="msg-20261120-215014-claude-5f0c")
    found = record(root, message)
    assert list(found) == ["id", "timestamp", "session_id", "from", "to", "type", "content", "metadata"]
    assert found == {
        "id": message.id,
        "timestamp": message.timestamp,
        "session_id": "agent-os-paper",
        "from": "human",
        "to": "codex",
        "type": "chat",
        "content": {"text": "Grüße, “you”.\n", "code": None, "artifacts": []},
        "metadata": {"mode": "chat", "turn": "human", "in_reply_to": "msg-20261120-215014-claude-5f0c"},
    }
    assert message.location is not None
    name = message.location.file.rpartition("/")[2]
    named = NAME.fullmatch(name)
    assert named is not None
    assert (named[2], name) == ("human", f"{message.id}.json")
    assert message.timestamp[:19].replace("-", "").replace(":", "").replace("T", "-") == named[1]
    assert int(message.id[-4:], 16) < 0x8000
    assert messages_in(root)[message.id] == message


def test_an_agent_with_hyphens_is_sent_as_itself(root: Path) -> None:
    message = sent(root, sender="qc-1", type="qc_review")
    assert (message.sender, message.type) == ("qc-1", "qc_review")
    assert ROOM in agents_in(root)["qc-1"].tags


def test_nothing_but_the_message_is_left_behind(root: Path) -> None:
    before = files(root)
    message = sent(root)
    assert message.location is not None
    assert set(files(root)) - set(before) == {str(root / message.location.file)}


def test_a_name_that_exists_is_left_as_it_is_and_another_is_tried(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mailstore.kinds.channels.store.time.time", lambda: 1_795_211_417.0)
    numbers = [0x11CA, 0x11CA, 0x7FFF]
    monkeypatch.setattr(secrets, "randbelow", lambda limit: numbers.pop(0))
    there = root / "channels/agent-os-paper/msg-20261120-215017-codex-11ca.json"
    before = there.read_bytes()
    message = sent(root, ("claude",), sender="codex")
    assert message.id == "msg-20261120-215017-codex-7fff"
    assert there.read_bytes() == before


def test_when_every_name_is_taken_it_says_so(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mailstore.kinds.channels.store.time.time", lambda: 1_795_211_417.0)
    monkeypatch.setattr(secrets, "randbelow", lambda limit: 0x11CA)
    before = files(root)
    with pytest.raises(StoreError, match="no unused name"):
        sent(root, ("claude",), sender="codex")
    assert files(root) == before


def test_without_hard_links_it_is_renamed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*args: object) -> None:
        raise OSError(errno.EOPNOTSUPP, "Operation not supported")

    monkeypatch.setattr(durable, "nameless", lambda folder: None)
    monkeypatch.setattr(Path, "hardlink_to", refused)
    before = files(root)
    message = sent(root)
    assert messages_in(root)[message.id] == message
    assert len(files(root)) == len(before) + 1


@pytest.mark.parametrize(
    ("to", "expected"),
    [
        (("codex",), ("codex", ROOM)),
        (("codex", ROOM), ("codex", ROOM)),
        ((ROOM, "agent:codex"), ("codex", ROOM)),
        ((ROOM,), (ROOM,)),
        (("all",), (ROOM,)),
        (("all", ROOM), (ROOM,)),
        (("user",), ("user", ROOM)),
    ],
)
def test_a_message_goes_to_a_channel_and_may_name_one_agent_in_it(
    root: Path, to: tuple[str, ...], expected: tuple[str, ...]
) -> None:
    message = sent(root, to, sender="claude")
    assert message.recipients == expected
    assert messages_in(root)[message.id] == message


def test_among_several_channels_it_goes_to_that_of_what_is_answered_or_where_the_agent_is(root: Path) -> None:
    assert sent(root, ("project:oak",)).recipients == ("project:oak",)
    oak = sent(root, ("bags-1", "project:oak"))
    assert sent(root, ("bags-1",)).recipients == ("bags-1", ROOM)
    assert sent(root, ("bags-1",), thread=oak.id).recipients == ("bags-1", "project:oak")
    with pytest.raises(DraftRefused, match=f"names no channel: add the channel: {ROOM} or project:oak"):
        sent(root, ("gemini",))


def test_the_channel_of_what_is_answered_is_found_when_its_file_has_another_name(tmp_path: Path) -> None:
    shared = SharedFolder(tmp_path)
    shared.message("20260316-120000-x-0001", channel="oak", id="odd/../id")
    assert sent(shared.root, thread="odd/../id").recipients == ("codex", "project:oak")


@pytest.mark.parametrize("to", [("codex", "claude"), (ROOM, "project:oak"), (ROOM, "codex", "claude")])
def test_it_is_not_for_several(root: Path, to: tuple[str, ...]) -> None:
    before = files(root)
    with pytest.raises(Unsupported, match="one agent in it"):
        sent(root, to)
    assert files(root) == before


@pytest.mark.parametrize(
    ("to", "problem"),
    [
        (("worker",), "is a role.*use claude or codex"),
        (("role:worker",), "leave out ':'"),
        (("concern:ink",), f"is not a channel here: known channels: {ROOM}"),
        (("signal:+351",), "leave out ':'"),
    ],
)
def test_what_a_channel_has_no_address_for_is_refused(root: Path, to: tuple[str, ...], problem: str) -> None:
    before = files(root)
    with pytest.raises(DraftRefused, match=problem):
        sent(root, to)
    assert files(root) == before


@pytest.mark.parametrize("name", ODD_NAMES)
def test_a_name_that_could_do_harm_is_refused_and_nothing_written(root: Path, name: str) -> None:
    before = files(root)
    for fields in ({"to": (f"project:{name}",)}, {"to": (name or "agent:",)}, {"sender": name or "."}):
        with pytest.raises(DraftRefused):
            sent(root, **fields)
    assert files(root) == before


@pytest.mark.parametrize("name", ["mode", "turn", "in_reply_to"])
def test_metadata_that_channels_use_themselves_is_refused(root: Path, name: str) -> None:
    before = files(root)
    with pytest.raises(DraftRefused, match=name):
        sent(root, ("project:new",), metadata={name: "x"})
    assert files(root) == before


def test_a_channel_that_could_not_be_written_to_is_not_left_behind(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(fd: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    before = files(root)
    for to in (("project:new",), (ROOM,)):
        with pytest.raises(StoreError, match="free some disk space"):
            sent(root, to)
    assert files(root) == before


def test_a_channel_that_is_a_link_is_not_written_to(root: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (root / "channels/far").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreError, match="is a symbolic link"):
        sent(root, ("project:far",))
    assert not list((tmp_path / "elsewhere").iterdir())


def test_making_one_where_one_is_leaves_it_as_it_is(root: Path) -> None:
    before = files(root)
    with ChannelsStore.create(root), ChannelsStore.create(root / "channels"):
        pass
    assert files(root) == before


def test_what_the_file_system_refuses_is_told(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(path: Path) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", refused)
    with pytest.raises(StoreError, match="permission denied"):
        sent(root)
    monkeypatch.undo()
    monkeypatch.setattr(durable, "name_file", lambda fd, path: refused(path))
    before = files(root)
    with pytest.raises(StoreError, match="permission denied"):
        sent(root)
    assert files(root) == before


def test_a_text_that_names_an_agent_would_wake_it(tmp_path: Path) -> None:
    with ChannelsStore.create(tmp_path) as store:
        names = ["codex", "qc-1", "claude", "code"]
        wanted = draft(sender="user", recipients=("claude",), content="Codex, let qc-1 and claude see it; encode it.")
        assert store.would_wake(wanted, names) == ["codex", "qc-1"]
