"""A long mailbox: a glimpse first, then all of it, folded by another process and kept for the next time."""

from __future__ import annotations

from pathlib import Path

import pytest

from mailstore.folding import kept_at
from mailstore.haak import HaakStore
from tests.console.screen_text import opened
from tests.mailboxes import MailFiles

NUMBER = 700
"""More messages than a glimpse holds."""


@pytest.fixture
def mail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MailFiles:
    monkeypatch.setattr("mailstore.haak.store.LONG", 1)
    mail = MailFiles(tmp_path)
    mail.agent("ann-00000001", role="architect")
    mail.agent("bob-00000001", role="librarian")
    for at in range(NUMBER):
        words = f"Subject {at:03}"
        mail.message(f"m-{at:03}", "ann-00000001", "bob-00000001", "Word. " * 100, ago=9000 - at, subject=words)
    return mail


def keeps(mail: MailFiles) -> bool:
    with HaakStore.open(mail.data) as store:
        return kept_at(store, "user").exists()


async def test_a_glimpse_comes_first_and_all_of_it_follows(mail: MailFiles) -> None:
    async with opened(mail.data) as seat:
        assert "Subject 699" in seat.text
        await seat.sees(f"● live  {NUMBER} messages")
        await seat.press("G")
        assert "Subject 000" in seat.text
    assert keeps(mail)


async def test_what_comes_later_is_shown_and_what_was_kept_is_used_again(mail: MailFiles) -> None:
    for number in range(NUMBER, NUMBER + 2):
        async with opened(mail.data) as seat:
            await seat.sees(f"● live  {number} messages")
            mail.message(f"n-{number}", "bob-00000001", "ann-00000001", "New.", ago=1, subject=f"Later {number}")
            await seat.sees(f"Later {number}")
            await seat.sees(f"● live  {number + 1} messages")


async def test_what_the_person_has_seen_holds_in_all_of_it(mail: MailFiles, tmp_path: Path) -> None:
    for unread in (NUMBER, NUMBER - 1):
        async with opened(mail.data, state=tmp_path / "state.db") as seat:
            await seat.sees(f" · {unread} new")
            await seat.open_thread("m-699")


async def test_files_that_are_replaced_are_read_anew_without_an_empty_screen(mail: MailFiles) -> None:
    async with opened(mail.data) as seat:
        await seat.sees(f"● live  {NUMBER} messages")
        lines = mail.mailbox.read_bytes().splitlines(keepends=True)
        fresh = mail.mailbox.with_name("fresh")
        fresh.write_bytes(b"".join(lines[: NUMBER - 10]))
        fresh.replace(mail.mailbox)
        await seat.sees(f"● live  {NUMBER - 10} messages")
        assert "Subject 689" in seat.text
        assert "Subject 699" not in seat.text


async def test_a_kept_one_that_no_longer_holds_is_folded_again(mail: MailFiles) -> None:
    async with opened(mail.data) as seat:
        await seat.sees(f"● live  {NUMBER} messages")
    held = mail.mailbox.read_bytes()
    with mail.mailbox.open("r+b") as file:
        file.write(held.replace(b"Subject 001", b"Rewritten 1"))
    async with opened(mail.data) as seat:
        await seat.sees(f"● live  {NUMBER} messages")
        await seat.press("G")
        await seat.sees("Rewritten 1")


async def test_where_nothing_can_be_kept_all_is_read_all_the_same(
    mail: MailFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    async with opened(mail.data) as seat:
        await seat.sees(f"● live  {NUMBER} messages")
