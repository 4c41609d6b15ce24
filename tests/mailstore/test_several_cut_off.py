"""Several mailboxes of which one can't be reached: it says so for itself, and comes back by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from mailstore.conformance.following import Follower, of, scanned
from mailstore.conformance.samples import ANN, BOB
from mailstore.records.events import Gone, Reset
from mailstore.registry import open_store
from mailstore.state.mailbox import Mailbox
from mailstore.store import Capability
from tests.mailboxes import HOUR, NOW, MailFiles
from tests.mailstore.test_several import follow, ids, together, two

__all__ = ["two"]


def test_one_that_goes_leaves_the_others_and_comes_back(two: tuple[MailFiles, MailFiles], tmp_path: Path) -> None:
    one, other = two
    away = tmp_path / "away"

    async def story(came: Follower) -> None:
        one.data.rename(away)
        await came.until(lambda events: bool(of(Gone, events)))
        other.message("late", BOB, ANN)
        await came.until_message("other/late")
        assert [gone.mailbox for gone in of(Gone, came.events)] == ["one"]
        away.rename(one.data)
        await came.until(lambda events: bool(of(Reset, events)) and "one/r" in ids(events))

    mailbox = Mailbox()
    with open_store(together(one=one, other=other)) as store:
        mailbox.fold(scanned(store), NOW)
        mailbox.fold(follow(store, story), NOW)
    assert len(mailbox) == 5
    assert not mailbox.problems


def test_when_all_are_gone_so_are_they_together(two: tuple[MailFiles, MailFiles]) -> None:
    one, other = two

    async def story(came: Follower) -> None:
        one.data.rename(one.data.with_name("away"))
        other.data.rename(other.data.with_name("away"))
        await came.until(lambda events: len(of(Gone, events)) == 2)

    mailbox = Mailbox()
    with open_store(together(one=one, other=other)) as store:
        mailbox.fold(scanned(store), NOW)
        events = follow(store, story)
    mailbox.fold(of(Gone, events)[:1], NOW)
    assert not mailbox.gone
    mailbox.fold(events, NOW)
    assert mailbox.gone == "none of the mailboxes can be reached"
    assert sorted(lost.label for lost in mailbox.cut_off()) == ["one", "other"]


def test_one_that_could_not_be_opened_is_cut_off_until_it_can(
    two: tuple[MailFiles, MailFiles], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mailstore.several.store.FIRST_PAUSE", 0.01)
    one, other = two
    away = tmp_path / "away"
    other.data.rename(away)
    mailbox = Mailbox()

    async def story(came: Follower) -> None:
        away.rename(other.data)
        await came.until_message("other/m", "other/r")
        assert not store.capabilities_for("other/m").why_not(Capability.SEND)
        other.message("late", BOB, ANN)
        await came.until_message("other/late")

    with open_store(together(one=one, other=other)) as store:
        mailbox.fold(scanned(store), NOW)
        [lost] = mailbox.cut_off()
        assert (lost.label, mailbox.cut_off_of("other/m"), mailbox.cut_off_of("one/m")) == ("other", lost, None)
        assert "no agent-mailbox.jsonl" in mailbox.failure_of("other")
        mailbox.fold(follow(store, story), NOW)
    assert len(mailbox) == 5
    assert not mailbox.cut_off()
    assert not mailbox.problems


def test_since_when_it_is_cut_off_is_told_again_after_another_began_anew(two: tuple[MailFiles, MailFiles]) -> None:
    one, other = two
    mailbox = Mailbox()

    async def story(came: Follower) -> None:
        other.data.rename(other.data.with_name("away"))
        await came.until(lambda events: bool(of(Gone, events)))
        new = one.data / "new"
        new.write_bytes(one.mailbox.read_bytes().splitlines(keepends=True)[0])
        new.replace(one.mailbox)
        await came.until(lambda events: len(of(Gone, events)) == 2)

    with open_store(together(one=one, other=other)) as store:
        scanned(store)
        events = follow(store, story)
    first, again = of(Gone, events)
    assert first == again
    mailbox.fold(events, NOW + HOUR)
    assert [(lost.label, lost.since) for lost in mailbox.cut_off()] == [("other", first.since)]
