"""What the owner of an Agenties mailbox does to it while one looks: appends, marks, changes, trims."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from mailstore.conformance.following import following, ids, of, scanned
from mailstore.errors import ContentGone
from mailstore.kinds.agenties.store import AgentiesStore
from mailstore.records.events import Event, Reset
from mailstore.records.message import Message, Receipt
from mailstore.records.roster import Agent
from tests.kinds.agenties.agenties_project import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def followed(project: Project, deed: Callable[[], None], holds: Callable[[list[Event]], bool]) -> list[Event]:
    """Scan, let the owner do something, and take in what comes until something holds of it."""

    async def run(store: AgentiesStore) -> list[Event]:
        async with following(store) as came:
            deed()
            return await came.until(holds)

    with AgentiesStore.open(project.root) as store:
        scanned(store)
        return asyncio.run(run(store))


def rewritten(project: Project, change: Callable[[list[bytes]], list[bytes]]) -> Callable[[], None]:
    """Return a deed that puts other lines in the log's place."""

    def rewrite() -> None:
        new = project.log.with_name("new")
        new.write_bytes(b"".join(change(project.log.read_bytes().splitlines(keepends=True))))
        new.replace(project.log)

    return rewrite


@pytest.mark.parametrize(
    ("count", "read", "words"),
    [
        (12, 3, "12 messages are gone, 9 of them unread"),
        (12, 12, "12 messages are gone"),
        (1, 0, "an unread message is gone"),
        (1, 1, "a message is gone"),
    ],
)
def test_a_trimmed_log_is_told_as_one(project: Project, count: int, read: int, words: str) -> None:
    for number in range(20):
        project.message(f"m{number:02}", createdAt=f"2026-05-10T14:00:{number:02}Z", read=number < read)
    kept = [f"m{number:02}" for number in range(count, 20)]
    events = followed(
        project, rewritten(project, lambda lines: lines[count:]), lambda came: set(kept) <= set(ids(came))
    )
    assert of(Reset, events) == [Reset(f"{words}: Agenties trims old mail")]
    assert ids(events) == dict.fromkeys(kept, 1)


def test_what_is_marked_read_by_a_newer_line_or_a_rewrite_is_no_new_mail(project: Project) -> None:
    project.message("m")
    project.message("n")

    def marked(line: bytes) -> bytes:
        return line.replace(b'"read": false', b'"read": true')

    events = followed(
        project, lambda: project.append(project.line("m", read=True)), lambda came: bool(of(Receipt, came))
    )
    assert events == [Receipt("m", "ag_x1")]
    events = followed(
        project, rewritten(project, lambda lines: [*map(marked, lines)]), lambda came: bool(of(Receipt, came))
    )
    assert events == [Receipt("n", "ag_x1")]


def test_bodies_are_found_where_they_moved_to(project: Project) -> None:
    for number in range(3):
        project.message(f"m{number}")
    with AgentiesStore.open(project.root) as store:
        found = {message.id: message for message in of(Message, scanned(store))}
        rewritten(project, lambda lines: [*lines[1:], *lines[1:2]])()
        assert store.content(found["m2"]) == "The text of m2."
        assert store.content(found["m1"]) == "The text of m1."
        with pytest.raises(ContentGone, match="Agenties trims old mail"):
            store.content(found["m0"])


def test_a_message_that_is_changed_is_told_anew(project: Project) -> None:
    project.message("m", subject="Before")
    deed = lambda: project.append(project.line("m", subject="After"))  # noqa: E731 - a deed in a line
    events = followed(project, deed, lambda came: [one.subject for one in of(Message, came)] == ["After"])
    assert [one.reason for one in of(Reset, events)] == ["a message was changed"]


def test_an_agent_that_gets_a_task_is_told_anew(project: Project) -> None:
    project.message("m")
    deed = lambda: project.append(project.line("n", type="task-assigned"))  # noqa: E731 - a deed in a line
    events = followed(project, deed, lambda came: bool(of(Agent, came)) and "n" in ids(came))
    assert [(one.session_id, one.activity) for one in of(Agent, events)] == [("ag_x1", "working (inferred)")]
    assert not of(Reset, events)
