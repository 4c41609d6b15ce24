"""Whose the files are that we make in somebody's mailbox, and who may read them."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest

from mailstore.errors import StoreError
from mailstore.files import owned
from mailstore.files.append import append_line, replace_file
from mailstore.files.durable import Pending
from mailstore.files.owned import look_of, make_folder, open_like
from mailstore.haak import HaakStore
from mailstore.kinds.channels.store import ChannelsStore
from mailstore.records.draft import draft
from mailstore.records.message import Intervention
from mailstore.records.roster import Agent
from tests.mailboxes import HOUR, NOW, MailFiles
from tests.mailstore.archiving import plan_for

DAY = 24 * HOUR
SOMEBODY = 54321
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")


@pytest.fixture(autouse=True, params=[0o022, 0o077])
def _umask(request: pytest.FixtureRequest) -> Iterator[None]:
    before = os.umask(request.param)
    yield
    os.umask(before)


def rights(folder: Path) -> dict[str, tuple[str, int, int]]:
    """Return the mode, the owner and the group of all that is in a folder."""
    return {
        str(path.relative_to(folder)): (stat.filemode(facts.st_mode), facts.st_uid, facts.st_gid)
        for path in folder.rglob("*")
        for facts in [path.stat()]
    }


def mailbox(folder: Path, mode: int) -> MailFiles:
    mail = MailFiles(folder)
    for number in range(4):
        mail.message(f"m{number}", "bob", "all", ago=(60 - 20 * number) * DAY)
    mail.mailbox.chmod(mode)
    return mail


def every_deed(mail: MailFiles) -> None:
    """Do what makes files: send, mark, enrol, record, archive twice, with a late line between."""
    holder = os.open(mail.mailbox, os.O_WRONLY | os.O_APPEND)
    with HaakStore.open(mail.data) as store:
        store.send(draft(sender="ann", recipients=("all",), content="Hello.", audience=("ann-00000001",)))
        store.mark_read("ann-00000001", ["m0"])
        store.update_agent(Agent("ann-00000001"))
        store.record(Intervention(id="i", actor="user", action="archive", time=NOW))
        store.archive(plan_for(mail.data, 2))
        os.write(holder, b'{"id": "late", "sender": "bob", "recipient": "all", "content": "x"}\n')
        store.archive(plan_for(mail.data, 0))
    os.close(holder)


@pytest.mark.parametrize(
    ("mode", "file", "folder"), [(0o600, "-rw-------", "drwx------"), (0o660, "-rw-rw----", "drwxrwx---")]
)
def test_what_is_made_in_a_mailbox_has_its_mode(tmp_path: Path, mode: int, file: str, folder: str) -> None:
    mail = mailbox(tmp_path, mode)
    every_deed(mail)
    found = rights(mail.data)
    assert {"agent-mailbox-reads.jsonl", "agent-mailbox-archive/retired", "agent-roster.jsonl"} <= found.keys()
    assert len(found) >= 10
    assert {name: words[0] for name, words in found.items() if words[0] not in (file, folder)} == {}


@needs_root
def test_root_leaves_a_mailbox_usable_for_its_owner(tmp_path: Path) -> None:
    mail = mailbox(tmp_path, 0o600)
    os.chown(mail.data, SOMEBODY, SOMEBODY)
    os.chown(mail.mailbox, SOMEBODY, SOMEBODY)
    every_deed(mail)
    assert {owner[1:] for owner in rights(mail.data).values()} == {(SOMEBODY, SOMEBODY)}


@needs_root
def test_a_roster_that_root_rewrites_stays_its_owners(tmp_path: Path) -> None:
    mail = mailbox(tmp_path, 0o644)
    roster = mail.data / "agent-roster.json"
    roster.write_text("[]")
    roster.chmod(0o640)
    os.chown(roster, SOMEBODY, SOMEBODY)
    with HaakStore.open(mail.data) as store:
        store.update_agent(Agent("ann-00000001"))
    assert rights(mail.data)["agent-roster.json"] == ("-rw-r-----", SOMEBODY, SOMEBODY)
    assert {path.name for path in mail.data.iterdir()} == {"agent-mailbox.jsonl", "agent-roster.json"}


@needs_root
def test_a_channels_owner_can_read_what_root_sends(tmp_path: Path) -> None:
    with ChannelsStore.create(tmp_path / "shared") as store:
        channels = tmp_path / "shared" / "channels"
        os.chown(channels, SOMEBODY, SOMEBODY)
        channels.chmod(0o700)
        store.send(draft(sender="user", recipients=("project:new",), content="Hello."))
    assert {owner for name, owner in rights(channels).items() if name == "new"} == {("drwx------", SOMEBODY, SOMEBODY)}
    assert {owner for name, owner in rights(channels).items() if "/" in name} == {("-rw-------", SOMEBODY, SOMEBODY)}


@contextmanager
def stranger() -> Iterator[None]:
    """Be a user who owns nothing."""
    groups, group, user = os.getgroups(), os.getegid(), os.geteuid()
    os.setgroups([])
    os.setegid(SOMEBODY)
    os.seteuid(SOMEBODY)
    try:
        yield
    finally:
        os.seteuid(user)
        os.setegid(group)
        os.setgroups(groups)


@pytest.fixture
def open_folder(tmp_path: Path) -> Iterator[Path]:
    """Return a folder in which everybody may make files, where everybody can get."""
    above = [tmp_path, *(path for path in tmp_path.parents if path.stat().st_mode & 0o011 != 0o011)]
    modes = [path.stat().st_mode for path in above]
    for path, mode in zip(above, modes, strict=True):
        path.chmod(mode | 0o011)
    tmp_path.chmod(0o777)
    yield tmp_path
    for path, mode in zip(above, modes, strict=True):
        path.chmod(mode & 0o7777)


@needs_root
@pytest.mark.parametrize(("mode", "is_made"), [(0o644, False), (0o666, True)])
def test_who_can_not_leave_it_usable_leaves_it_alone(open_folder: Path, mode: int, is_made: bool) -> None:
    mailbox = open_folder / "mailbox"
    mailbox.touch()
    mailbox.chmod(mode)
    refusal = nullcontext() if is_made else pytest.raises(StoreError, match="another user: run this as its owner")
    with stranger(), refusal:
        append_line(open_folder / "reads", b"x", look_of(mailbox))
    assert {path.name for path in open_folder.iterdir()} == ({"mailbox", "reads"} if is_made else {"mailbox"})


@pytest.fixture(params=["nameless", "named"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Have files made without a name, or as on a system that can't do that."""
    if request.param == "named":
        monkeypatch.setattr("mailstore.files.owned.nameless", lambda folder: None)
        monkeypatch.setattr("mailstore.files.durable.nameless", lambda folder: None)
    elif not hasattr(os, "O_TMPFILE"):
        pytest.skip("this system makes no files without names")
    return str(request.param)


def test_a_file_that_is_there_is_opened_as_it_is(tmp_path: Path, way: str) -> None:
    like = tmp_path / "like"
    like.touch()
    like.chmod(0o640)
    new, old = tmp_path / "new", tmp_path / "old"
    old.write_text("x")
    old.chmod(0o604)
    for path, mode in ((new, 0o640), (old, 0o604), (new, 0o640)):
        os.close(open_like(path, os.O_RDWR | os.O_CREAT, look_of(like)))
        assert path.stat().st_mode & 0o777 == mode
    assert owned.nameless(tmp_path / "nowhere") is None
    with pytest.raises(FileNotFoundError):
        open_like(tmp_path / "nowhere" / "file", os.O_RDWR | os.O_CREAT, look_of(like))


def test_a_pending_file_appears_whole_or_never(tmp_path: Path, way: str) -> None:
    path = tmp_path / "letter.json"
    (tmp_path / ".signalbox.new").write_text("what somebody who was killed has left, longer than the message")
    with Pending(path, b"first", mode=0o640) as pending:
        assert not path.exists()
        assert pending.appear()
    with Pending(path, b"second", mode=0o640) as pending:
        assert not pending.appear()
    assert path.read_bytes() == b"first"
    assert path.stat().st_mode & 0o777 == 0o640
    assert path.stat().st_nlink == 1
    left = {other.name for other in tmp_path.iterdir()} - {path.name}
    assert left == (set() if way == "named" else {".signalbox.new"})


def test_what_a_rewriter_left_is_taken_over(tmp_path: Path) -> None:
    path = tmp_path / "roster.json"
    path.write_text("[]")
    path.chmod(0o640)
    (tmp_path / ".roster.json.new").write_text("left by one who was killed, and longer")
    replace_file(path, b"[1]")
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("[1]", 0o640)
    assert [other.name for other in tmp_path.iterdir()] == ["roster.json"]


def test_a_folder_that_was_begun_is_finished(tmp_path: Path) -> None:
    (tmp_path / ".archive.new").mkdir(0o700)
    like = tmp_path / "like"
    like.touch()
    like.chmod(0o664)
    for _ in range(2):
        make_folder(tmp_path / "archive", look_of(like))
    assert rights(tmp_path)["archive"][0] == "drwxrwxr-x"
    assert {path.name for path in tmp_path.iterdir()} == {"archive", "like"}


@pytest.mark.parametrize("call", ["mkdir", "open", "rename"])
def test_two_programs_may_make_one_folder_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    """Whichever call of one program the other is finished before, there is one folder in the end, and nothing else."""
    real = getattr(os, call)

    def after_the_other(*args: Any, **more: Any) -> Any:
        monkeypatch.setattr(os, call, real)
        make_folder(tmp_path / "made", look_of(tmp_path))
        return real(*args, **more)

    monkeypatch.setattr(os, call, after_the_other)
    make_folder(tmp_path / "made", look_of(tmp_path))
    assert getattr(os, call) is real
    assert [path.name for path in tmp_path.iterdir()] == ["made"]
