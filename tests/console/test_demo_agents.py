"""The simulated agents: a process that writes as others do, answers the person, and ends when it should."""

from __future__ import annotations

import asyncio
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest

from console.demo.agents import LOG, main
from console.demo.cast import USER
from console.demo.company import Company
from console.demo.responder import Responder
from console.demo.run import prepared, simulated
from mailstore.haak import HaakStore
from mailstore.records.draft import draft
from mailstore.records.events import Event
from mailstore.records.message import Message, Receipt
from mailstore.records.roster import Agent, Status
from mailstore.state.mailbox import Mailbox
from mailstore.store import Store
from tests.patience import PATIENCE

FAST = 50.0


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    with prepared(3, tmp_path / "demo") as root:
        yield root


async def _until(store: Store, is_there: Callable[[Event], bool], act: Callable[[], object] = lambda: None) -> Event:
    """Read the mailbox, act, and return the first event after it that is the one looked for."""
    for _ in store.scan():
        pass
    act()

    async def follow() -> Event:
        async for batch in store.changes():
            for event in batch:
                if is_there(event):
                    return event
        raise AssertionError("the mailbox went away")

    return await asyncio.wait_for(follow(), PATIENCE)


def _write(store: Store, to: str, body: str, thread: str | None = None) -> Message:
    return store.send(draft(sender=USER, recipients=(to,), content=body, thread=thread))


async def _answer(root: Path, to: str, body: str) -> Message:
    """Return the answer of the agents to what the person writes."""
    sent: list[Message] = []
    with HaakStore.open(root / "data") as store, simulated(root, 3, FAST):
        found = await _until(
            store,
            lambda event: isinstance(event, Message) and bool(sent) and event.thread == sent[0].id,
            lambda: sent.append(_write(store, to, body)),
        )
    assert isinstance(found, Message)
    return found


async def test_agents_write_into_the_mailbox_and_read_it(root: Path) -> None:
    with HaakStore.open(root / "data") as store, simulated(root, 3, FAST):
        message = await _until(store, lambda event: isinstance(event, Message))
    with HaakStore.open(root / "data") as store, simulated(root, 4, FAST):
        await _until(store, lambda event: isinstance(event, Receipt))
    assert isinstance(message, Message)
    assert message.sender in {
        "architect-new",
        "librarian-7",
        "steward-3",
        "scribe-2",
        "ontologist-4",
        "runner-9",
        "face-decoder-1",
        "face-decoder-2",
    }
    assert not (root / "data" / LOG).exists()
    assert (root / "agents-output.log").read_bytes() == b""


async def test_what_they_write_leaves_no_damage(root: Path) -> None:
    seen: list[Event] = []

    def is_tenth(event: Event) -> bool:
        seen.append(event)
        return sum(isinstance(one, Message) for one in seen) == 10

    with HaakStore.open(root / "data") as store, simulated(root, 3, FAST):
        await _until(store, is_tenth)
    mailbox = Mailbox()
    for batch in HaakStore.open(root / "data").scan():
        mailbox.fold(batch, 2e9)
    assert mailbox.counts().unreadable == 1
    assert not mailbox.duplicates
    assert not mailbox.orphans()


async def test_an_agent_answers_the_person_who_writes_to_it(root: Path) -> None:
    answer = await _answer(root, "librarian-7", "Which messages are still missing?")
    assert answer.sender == "librarian-7"
    assert USER in answer.recipients
    assert answer.type == "answer"


async def test_the_holder_of_a_role_answers(root: Path) -> None:
    answer = await _answer(root, "steward", "What are you working on?")
    assert answer.sender == "steward-3"
    with HaakStore.open(root / "data") as store:
        assert "watching the mailbox" in store.content(answer) or "unread" in store.content(answer).lower()


async def test_a_channel_answers_in_the_channel_and_mentions_the_person(root: Path) -> None:
    answer = await _answer(root, "project:face-decoding", "Please send me the caption of figure 3.")
    assert answer.recipients == ("project:face-decoding",)
    assert answer.sender in {"face-decoder-1", "face-decoder-2"}
    assert USER in answer.mentions


async def test_an_answer_quotes_what_the_person_wrote(root: Path) -> None:
    answer = await _answer(root, "architect-new", "How many leaves have three hands?")
    with HaakStore.open(root / "data") as store:
        assert "> How many leaves have three hands?" in store.content(answer)


async def test_a_role_that_nobody_holds_finds_a_holder_when_the_person_writes(root: Path) -> None:
    answer = await _answer(root, "auditor", "Please read what waits for you.")
    assert answer.sender == "auditor-2"


async def test_a_frozen_agent_wakes_for_the_person(root: Path) -> None:
    answer = await _answer(root, "curator-5", "Can you finish the loan list?")
    assert answer.sender == "curator-5"


async def test_an_agent_dies_and_another_takes_its_role(root: Path) -> None:
    died: list[Agent] = []

    def is_heir(event: Event) -> bool:
        if not isinstance(event, Agent):
            return False
        if event.status is Status.DEAD:
            died.append(event)
        return any(
            event.role == one.role and event.started_at and event.started_at >= (one.ended_at or 0) for one in died
        )

    with HaakStore.open(root / "data") as store, simulated(root, 3, 400.0):
        heir = await _until(store, is_heir)
    assert isinstance(heir, Agent)
    assert heir.session_id != died[0].session_id


async def test_they_end_when_they_are_told(root: Path) -> None:
    with HaakStore.open(root / "data") as store, simulated(root, 3, FAST) as process:
        await _until(store, lambda event: isinstance(event, Message))
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0


async def test_they_end_when_the_folder_is_removed(root: Path) -> None:
    with HaakStore.open(root / "data") as store, simulated(root, 3, FAST) as process:
        await _until(store, lambda event: isinstance(event, Message))
        while (root / "data").exists():  # a file that is written meanwhile would stop a single attempt
            shutil.rmtree(root / "data", ignore_errors=True)
        assert process.wait(PATIENCE) in (0, 1)
        assert not (root / "data" / "agent-mailbox.jsonl").exists()


def test_they_end_when_their_parent_is_gone(root: Path) -> None:
    starter = (
        "import os, subprocess, sys\n"
        "words = [sys.executable, '-m', 'console.demo.agents', sys.argv[1], '--parent', str(os.getpid())]\n"
        "subprocess.Popen(words)\n"
        "print('started', flush=True)\n"
        "sys.stdin.read()\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", starter, str(root / "data")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert parent.stdout is not None
    assert parent.stdin is not None
    assert parent.stdout.readline() == b"started\n"
    parent.kill()
    parent.wait()
    # The agents hold the other end of the pipe until they end.
    ready, _, _ = select.select([parent.stdout], [], [], PATIENCE)
    assert ready
    assert os.read(parent.stdout.fileno(), 1) == b""
    parent.stdout.close()
    parent.stdin.close()


def test_they_refuse_a_mailbox_that_is_no_demo(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "agent-mailbox.jsonl").touch()
    with pytest.raises(SystemExit) as stopped:
        main([str(tmp_path)])
    assert stopped.value.code == 2
    assert "no mailbox of a demo" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == [tmp_path / "agent-mailbox.jsonl"]


async def test_a_package_of_the_same_name_where_one_works_does_not_matter(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "project" / "console").mkdir(parents=True)
    (tmp_path / "project" / "console" / "__init__.py").touch()
    monkeypatch.chdir(tmp_path / "project")
    with HaakStore.open(root / "data") as store, simulated(root, 3, FAST):
        assert await _until(store, lambda event: isinstance(event, Message))


@pytest.mark.parametrize(("to", "answers"), [("curator-5", "curator-5"), ("auditor", "auditor-2")])
def test_who_was_woken_answers_even_if_the_roster_was_not_read_since(to: str, answers: str, root: Path) -> None:
    due: list[Callable[[], None]] = []
    with HaakStore.open(root / "data") as store:
        company = Company(store, Random(3), time.time)
        for batch in store.scan():
            company.take(batch)
        responder = Responder(company, lambda seconds, act: due.append(act), time.time() - 60)
        sent = _write(store, to, "Can you finish the loan list?")
        company.take([sent])
        responder.notice(sent)
        while due:
            due.pop(0)()
        with HaakStore.open(root / "data") as other:
            found = [it for batch in other.scan() for it in batch if isinstance(it, Message) and it.thread == sent.id]
    assert [it.sender for it in found] == [answers]
