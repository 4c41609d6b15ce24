"""Following AgentAZAll mailboxes: what their own program does with a message is no news of another one."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Coroutine
from pathlib import Path

import pytest

from mailstore.conformance.following import Follower, following, of, scanned
from mailstore.kinds.agentazall.store import AgentAZAllStore
from mailstore.kinds.agentazall.tree import LARGE, AgentBox
from mailstore.records.events import Event, Reset
from mailstore.records.message import Delivery, Message, Receipt
from mailstore.records.roster import Agent
from tests.kinds.agentazall.agentazall_mail import DAY, AgentAZAllMail, identity

BOB = identity(1)


@pytest.fixture
def mail(tmp_path: Path) -> AgentAZAllMail:
    mail = AgentAZAllMail(tmp_path)
    mail.agent("ann@localhost")
    mail.agent("bob@localhost")
    return mail


def follow(mail: AgentAZAllMail, story: Callable[[Follower], Coroutine[None, None, None]]) -> list[Event]:
    async def run() -> list[Event]:
        with AgentAZAllStore.open(mail.root) as store:
            scanned(store)
            async with following(store) as came:
                await story(came)
                return came.events

    return asyncio.run(run())


def deliver(mail: AgentAZAllMail, name: str) -> None:
    """Do what the program does with a message in bob's outbox."""
    outbox, sent = (mail.root / "bob@localhost" / DAY / box for box in ("outbox", "sent"))
    inbox = mail.root / "ann@localhost" / DAY / "inbox"
    sent.mkdir(exist_ok=True)
    shutil.copy2(outbox / f"{name}.txt", inbox)
    if (outbox / name).is_dir():
        shutil.copytree(outbox / name, inbox / name)
        (outbox / name).rename(sent / name)
    (outbox / f"{name}.txt").rename(sent / f"{name}.txt")


@pytest.mark.parametrize("body", ["Plain.", BOB.signed("Signed.")])
def test_a_message_that_moves_from_outbox_to_sent_is_the_same(mail: AgentAZAllMail, body: str) -> None:
    mail.message("bob@localhost/outbox", "m", body, Attachments="a.csv", **{"from": "x"})
    mail.put(f"bob@localhost/{DAY}/outbox/m/a.csv", b"1")

    async def story(came: Follower) -> None:
        deliver(mail, "m")
        await came.until(lambda events: bool(of(Delivery, events)))
        mail.message("ann@localhost/inbox", "last")
        await came.until_message("last")

    events = follow(mail, story)
    assert [one.id for one in of(Message, events)] == ["last"]
    assert of(Delivery, events)[0] == Delivery("m", "ann@localhost")
    assert not of(Reset, events)


def test_what_its_program_will_sign_first_is_told_of_when_it_is_signed(mail: AgentAZAllMail) -> None:
    mail.put("bob@localhost/.identity_key", b"{}")
    mail.message("bob@localhost/outbox", "m", "Mine.", ago=0)

    async def story(came: Follower) -> None:
        mail.message("ann@localhost/inbox", "other")
        await came.until_message("other")
        assert {one.id for one in of(Message, came.events)} == {"other"}
        mail.message("bob@localhost/outbox", "m", BOB.signed("Mine."), ago=0)
        deliver(mail, "m")
        await came.until_message("m")

    events = follow(mail, story)
    assert "signature:valid" in next(one for one in of(Message, events) if one.id == "m").tags
    assert not of(Reset, events)


def test_what_nobody_signs_for_long_is_told_of_as_it_is(mail: AgentAZAllMail) -> None:
    mail.put("bob@localhost/.identity_key", b"{}")
    mail.message("bob@localhost/outbox", "m", "Mine.", ago=60)
    with AgentAZAllStore.open(mail.root) as store:
        assert [one.id for one in of(Message, scanned(store))] == ["m"]


def test_a_message_that_is_read_is_a_receipt_and_no_new_message(mail: AgentAZAllMail) -> None:
    path = mail.message("ann@localhost/inbox", "m", BOB.signed("Signed."), Subject="About Status: new flags")

    async def story(came: Follower) -> None:
        # as its program marks it: the first such text, wherever it stands, then again where it belongs
        path.write_bytes(path.read_bytes().replace(b"Status: new", b"Status: read"))
        await came.until(lambda events: bool(of(Receipt, events)))

    events = follow(mail, story)
    assert of(Receipt, events) == [Receipt("m", "ann@localhost")]
    assert not of(Message, events)
    assert not of(Reset, events)


def test_an_answer_comes_with_what_it_answers_in_any_order(mail: AgentAZAllMail) -> None:
    async def story(came: Follower) -> None:
        quoted = "Yes.\n\n--- Original from bob@localhost (2026-11-20 11:00:00) ---\nOne?"
        mail.message(
            "ann@localhost/sent", "answer", quoted, From="ann@localhost", To="bob@localhost", Subject="Re: One"
        )
        mail.message("ann@localhost/inbox", "question", "One?", Subject="One", Date="2026-11-20 11:00:00")
        await came.until_message("answer", "question")

    events = follow(mail, story)
    assert {one.id: one.thread for one in of(Message, events)} == {"answer": "question", "question": None}


def test_a_day_and_an_agent_that_come_later_are_watched_too(mail: AgentAZAllMail) -> None:
    async def story(came: Follower) -> None:
        for day in ("2026-11-21", "2026-11-22"):
            for number in range(2):
                name = f"{day}-{number}"
                path = mail.message("ann@localhost/inbox", name)
                target = mail.root / "cyd@localhost" / day / "inbox" / path.name
                target.parent.mkdir(parents=True, exist_ok=True)
                path.rename(target)
                await came.until_message(name)

    events = follow(mail, story)
    assert "cyd@localhost" in {one.session_id for one in of(Agent, events)}
    assert not of(Reset, events)


def test_a_mailbox_that_is_put_in_the_place_of_another_is_read_anew(mail: AgentAZAllMail, tmp_path: Path) -> None:
    for day in range(10, 20):
        path = mail.message("ann@localhost/inbox", f"m{day}")
        mail.put(f"ann@localhost/2026-11-{day}/inbox/{path.name}", path.read_bytes())
        path.unlink()

    async def story(came: Follower) -> None:
        mail.root.rename(tmp_path / "away")
        other = AgentAZAllMail(tmp_path / "other")
        path = other.message("ann@localhost/inbox", "other")
        for day in range(10, 20):
            other.put(f"ann@localhost/2026-11-{day}/inbox/{path.name}", path.read_bytes())
        other.root.rename(mail.root)
        await came.until_message("other")

    events = follow(mail, story)
    last = max(place for place, event in enumerate(events) if isinstance(event, Reset))
    assert [one.id for one in of(Message, events[last:])] == ["other"]


def test_a_day_of_long_ago_that_comes_late_is_told_of(mail: AgentAZAllMail) -> None:
    for day in range(10, 20):
        mail.put(f"ann@localhost/2026-11-{day}/index.txt", b"")

    async def story(came: Follower) -> None:
        path = mail.message("bob@localhost/outbox", "old")
        data = path.read_bytes()
        path.unlink()
        mail.put("ann@localhost/2020-01-01/inbox/old.txt", data)
        await came.until_message("old")

    assert not of(Reset, follow(mail, story))


def test_what_an_agent_does_is_told_anew(mail: AgentAZAllMail) -> None:
    mail.put(f"ann@localhost/{DAY}/what_am_i_doing/tasks.txt", b"Reading\nand more")

    async def story(came: Follower) -> None:
        mail.put(f"ann@localhost/{DAY}/what_am_i_doing/tasks.txt", b"Writing")
        await came.until(lambda events: any(one.activity == "Writing" for one in of(Agent, events)))

    assert not of(Reset, follow(mail, story))


def test_a_body_that_is_tampered_with_is_told_anew(mail: AgentAZAllMail) -> None:
    path = mail.message("ann@localhost/inbox", "m", BOB.signed("Pay 1."))

    async def story(came: Follower) -> None:
        path.write_bytes(path.read_bytes().replace(b"Pay 1.", b"Pay 9."))
        await came.until(lambda events: bool(of(Reset, events)) and bool(of(Message, events)))

    [message] = of(Message, follow(mail, story))[-1:]
    assert (message.id, "!signature:INVALID" in message.tags) == ("m", True)


def test_a_large_box_is_looked_at_in_its_newest_files_and_now_and_then_wholly(tmp_path: Path) -> None:
    import os

    folder = tmp_path / "box"
    folder.mkdir()
    for number in range(LARGE + 10):
        path = folder / f"{number:05}.txt"
        path.write_bytes(b"x")
        os.utime(path, (1_700_000_000 + number,) * 2)
    os.utime(folder, (1_700_000_000,) * 2)
    box = AgentBox(tmp_path, "box")
    box.look(closely=True, wholly=True)
    before = dict(box.parts)
    assert next(iter(box.parts)) == f"box/{LARGE + 9:05}.txt"
    for name in ("00000.txt", f"{LARGE:05}.txt"):
        (folder / name).write_bytes(b"changed")
    os.utime(folder, (1_700_000_000,) * 2)

    def changed() -> set[str]:
        return {part for part, stamp in box.parts.items() if before[part] != stamp}

    box.look(closely=True, wholly=False)
    assert changed() == {f"box/{LARGE:05}.txt"}
    box.look(closely=True, wholly=True)
    assert changed() == {f"box/{LARGE:05}.txt", "box/00000.txt"}
    (folder / "new.txt").write_bytes(b"x")
    (folder / "00001.txt").unlink()
    box.look(closely=True, wholly=False)
    assert next(iter(box.parts)) == "box/new.txt"
    assert "box/00001.txt" not in box.parts
