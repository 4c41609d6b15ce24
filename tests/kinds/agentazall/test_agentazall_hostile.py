"""AgentAZAll mailboxes that are damaged, huge or meant to do harm."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mailstore.kinds.agentazall.message_file import InvalidSignedFile, is_partial, moment, parse
from mailstore.kinds.agentazall.signature import facts_of
from mailstore.kinds.agentazall.store import AgentAZAllStore
from mailstore.records.events import Event
from mailstore.records.message import Message, Problem
from tests.kinds.agentazall.agentazall_mail import DAY, AgentAZAllMail, identity, told

INBOX = f"ann@localhost/{DAY}/inbox"


@pytest.fixture
def mail(tmp_path: Path) -> AgentAZAllMail:
    mail = AgentAZAllMail(tmp_path)
    mail.agent("ann@localhost")
    mail.agent("bob@localhost")
    mail.message("ann@localhost/inbox", "good")
    return mail


def fatal(events: list[Event]) -> dict[str, str]:
    return {event.file: event.reason for event in events if isinstance(event, Problem) and event.fatal}


def test_a_half_written_file_is_waited_for_and_an_old_one_told_of(mail: AgentAZAllMail) -> None:
    mail.put(f"{INBOX}/fresh.txt", b"From: bob@loc", ago=0)
    mail.put(f"{INBOX}/empty.txt", b"", ago=0)
    mail.put(f"{INBOX}/block.txt", b"From: bob@localhost\n\n---\n---BEGIN AGENTAZALL SIGNED MESSAGE---\nFing", ago=0)
    mail.put(f"{INBOX}/old.txt", b"", ago=60)
    found, events = told(mail.root)
    assert set(found) == {"good"}
    assert fatal(events) == {f"{INBOX}/old.txt": "it is empty"}


def test_a_time_to_come_hides_nothing(mail: AgentAZAllMail) -> None:
    mail.put("bob@localhost/.identity_key", b"{}")
    mail.put(f"{INBOX}/cut.txt", b"From: bob@localhost\nMessage-ID: cut", ago=-1e6)
    mail.message("bob@localhost/outbox", "queued", ago=-1e6)
    assert set(told(mail.root)[0]) == {"good", "cut", "queued"}


def test_links_are_told_of_and_not_followed(mail: AgentAZAllMail, tmp_path: Path) -> None:
    outside = AgentAZAllMail(tmp_path / "outside")
    secret = outside.message("eve@localhost/inbox", "secret")
    (mail.root / INBOX / "link.txt").symlink_to(secret)
    (mail.root / "eve@localhost").symlink_to(outside.root / "eve@localhost")
    (mail.root / "bob@localhost" / "2026-11-19").symlink_to(outside.root / "eve@localhost" / DAY)
    (mail.root / "bob@localhost" / DAY / "sent").symlink_to(secret.parent)
    (mail.root / INBOX / "good").symlink_to(secret.parent)
    found, events = told(mail.root)
    assert set(found) == {"good"}
    assert found["good"].tags == ("signature:none",)
    assert set(fatal(events)) == {
        f"{INBOX}/link.txt",
        "eve@localhost",
        "bob@localhost/2026-11-19",
        f"bob@localhost/{DAY}/sent",
    }
    assert set(fatal(events).values()) == {"symbolic link: links are not followed"}


def test_a_folder_that_becomes_a_link_after_the_scan_is_not_followed(mail: AgentAZAllMail, tmp_path: Path) -> None:
    with AgentAZAllStore.open(mail.root) as store:
        [message] = [one for batch in store.scan() for one in batch if isinstance(one, Message)]
        (mail.root / INBOX).rename(tmp_path / "moved")
        (mail.root / INBOX).symlink_to(tmp_path / "moved")
        with pytest.raises(Exception, match="no longer holds"):
            store.content(message)


def test_what_is_no_file_holds_nothing_up(mail: AgentAZAllMail) -> None:
    os.mkfifo(mail.root / INBOX / "pipe.txt")
    (mail.root / INBOX / "folder.txt").mkdir()
    found, events = told(mail.root)
    assert set(found) == {"good"}
    assert set(fatal(events).values()) == {"not a regular file"}


def test_keys_sidecars_and_other_folders_are_never_shown(mail: AgentAZAllMail) -> None:
    secret = b"From: ann@localhost\n\n---\nsecret"
    for name in (".identity_key", ".agent_key", ".keyring.json", ".seen_ids", "remember_index.txt"):
        mail.put(f"ann@localhost/{name}", secret)
    for name in ("x.synced", "x.ftp_synced", "x.tmp.tmp", ".x.txt", "x.eml"):
        mail.put(f"{INBOX}/{name}", secret)
    for name in ("notes/x.txt", "remember/x.txt", "who_am_i/identity.txt", "index.txt"):
        mail.put(f"ann@localhost/{DAY}/{name}", secret)
    mail.put("ann@localhost/skills/x.txt", secret)
    mail.put("ann@localhost/not-a-day/inbox/x.txt", secret)
    found, events = told(mail.root)
    assert set(found) == {"good"}
    assert "secret" not in repr(events)


def test_wrong_encodings_and_huge_values_survive(mail: AgentAZAllMail) -> None:
    mail.put(f"{INBOX}/latin.txt", "From: bob@localhost\nSubject: Grüße\n\n---\nGrüße".encode("latin-1"))
    mail.message("ann@localhost/inbox", "wide", Subject="x" * 1_000_000, To=", ".join(["ann@localhost"] * 10_000))
    mail.message("ann@localhost/inbox", "deep", "\n".join(["---BEGIN AGENTAZALL SIGNED MESSAGE---"] * 20_000))
    mail.message("ann@localhost/inbox", "nul", "a\0b\x1b[31m", Date="9999-99-99 99:99:99", Status="\x07")
    found, events = told(mail.root)
    assert set(found) == {"good", "latin", "wide", "deep", "nul"}
    assert found["wide"].recipients == ("ann@localhost",)
    assert not fatal(events)


def test_a_file_that_is_too_large_is_told_of(mail: AgentAZAllMail) -> None:
    with (mail.root / INBOX / "huge.txt").open("wb") as file:
        file.truncate(65 << 20)
    assert "larger" in fatal(told(mail.root)[1])[f"{INBOX}/huge.txt"]


def test_a_folder_that_can_not_be_read_hides_no_other(mail: AgentAZAllMail, monkeypatch: pytest.MonkeyPatch) -> None:
    closed = str(mail.root / "bob@localhost" / DAY)
    real = os.scandir

    def scandir(path: object = ".") -> object:
        if str(path).startswith(closed):
            raise PermissionError(13, "Permission denied")
        return real(path)  # type: ignore[call-overload]

    monkeypatch.setattr(os, "scandir", scandir)
    assert set(told(mail.root)[0]) == {"good"}


def test_three_thousand_files_in_one_folder_come_with_the_newest_first(mail: AgentAZAllMail) -> None:
    for number in range(3000):
        mail.message("ann@localhost/inbox", f"m{number}", ago=10_000 - number)
    with AgentAZAllStore.open(mail.root) as store:
        batches = list(store.scan())
    first = [event.id for event in batches[0] if isinstance(event, Message)]
    assert first[:3] == ["good", "m2999", "m2998"]
    assert sum(isinstance(event, Message) for batch in batches for event in batch) == 3001


@given(st.binary(max_size=400))
def test_no_bytes_break_the_reader(data: bytes) -> None:
    is_partial(data)
    try:
        item = parse(data)
    except InvalidSignedFile:
        return
    moment(item.get("Date"))
    facts_of(item)


@given(
    st.lists(
        st.sampled_from(
            [b"From: a", b"from: b", b"To: c", b"---", b"", b"Date: 1", b"Status: read", b"\xff", b"\r", b"Re: x"]
        )
    )
)
def test_no_order_of_lines_breaks_the_reader(lines: list[bytes]) -> None:
    test_no_bytes_break_the_reader.hypothesis.inner_test(b"\n".join(lines))  # type: ignore[attr-defined]


def test_a_signed_block_in_a_header_is_no_body(mail: AgentAZAllMail) -> None:
    mail.message("ann@localhost/inbox", "m", Subject=identity(1).signed("Hello.").replace("\n", " "))
    assert told(mail.root)[0]["m"].tags == ("signature:none",)
