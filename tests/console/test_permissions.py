"""What programs ask their user is answered in the console: what is shown of it, and what the waiting hook gets."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from console.hooks.permissions import (
    ALLOW,
    DENY,
    ELSEWHERE,
    END_TURN,
    PermissionAnswer,
    PermissionRequest,
    answer,
    answer_to,
    folder_of,
    put,
    requests_in,
    settle,
)
from console.hooks.sessions.processes import process_name
from console.screens.desks import permissions
from mailstore.queries.concerns import ConcernKind
from tests.console.screen_text import Seat, opened
from tests.hooked import ended_process, hooked
from tests.mailboxes import NOW, MailFiles

ANN = "ann-00000001"
QUESTION = {"question": "Which colour?", "options": [{"label": "Red"}, {"label": "Blue"}], "multiSelect": False}


@pytest.fixture
def mail(tmp_path: Path) -> MailFiles:
    mail = MailFiles(tmp_path)
    mail.agent(ANN)
    mail.message("m", ANN, "user", "The lamp.", ago=60, subject="Lamp")
    return mail


class WaitingHook:
    """Ann's hook, which waits for the answer to a permission."""

    def __init__(self, mail: MailFiles, tool: str, given: dict[str, Any], **facts: Any) -> None:
        program = facts.setdefault("program", "claude-code")
        state = hooked(mail.url, ANN, doing="waiting", since=NOW, last_run=NOW, options="--gate", tool=program)
        self.folder = folder_of(str(Path(state).parent))
        text = json.dumps(given)
        self.request = PermissionRequest(
            {
                "id": "0123",
                "session_id": f"0000-{ANN}",
                "agent_id": ANN,
                "tool": tool,
                "given": text,
                "size": len(text),
                "questions": given.get("questions"),
                "cwd": "/repo/ink",
                "since": NOW,
                "until": NOW + 540,
                "process": process_name(os.getpid()),
                **facts,
            }
        )
        put(self.folder, self.request)

        self._given: Future[PermissionAnswer] = Future()
        self._is_over = Event()

    @property
    def answer(self) -> PermissionAnswer | None:
        return answer_to(self.folder, self.request.id)

    @contextmanager
    def waits(self, outcome: str = "") -> Iterator[asyncio.Future[PermissionAnswer]]:
        """Take the answer as soon as it is there, and say that, or what else became of the request."""
        with ThreadPoolExecutor(1) as pool:
            pool.submit(self._wait, outcome)
            try:
                yield asyncio.wrap_future(self._given)
            finally:
                self._is_over.set()

    def _wait(self, outcome: str) -> None:
        while not self._is_over.is_set():
            if (given := self.answer) is not None:
                settle(self.folder, self.request, outcome or given.what)
                self._given.set_result(given)
                return
            self._is_over.wait(0.01)


async def go(seat: Seat, row: str) -> None:
    await seat.until(lambda: seat.app.session.hooked.live)
    await seat.press("p")
    await seat.sees("Needs attention")
    await seat.until(lambda: any(it.kind is ConcernKind.PERMISSION for it in seat.app.session.attention.shown))
    await seat.press("g")  # the row may have come after others, and a small screen shows one
    await seat.until(lambda: str(getattr(seat.app.screen, "place", "")).startswith("permission"))
    await seat.sees(row)


def journal(mail: MailFiles) -> list[tuple[str, str, Any]]:
    path = mail.data / "agent-mailbox-oversight.jsonl"
    found = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    return [(each["action"], each["note"], each["details"]) for each in found]


async def test_a_permission_is_given_once_after_its_whole_input_was_shown(mail: MailFiles) -> None:
    hook = WaitingHook(mail, "Bash", {"command": "rm -r [b]old[/b]\necho done", "description": "tidy \x1b[31mup"})
    async with opened(mail.data, size=(120, 40)) as seat:
        await go(seat, "rm -r [b]old[/b]")
        await seat.sees("/repo/ink")
        await seat.sees("echo done")
        assert "\x1b" not in seat.text
        await seat.press("y")
        await seat.sees(f"{ANN} asks to use Bash in /repo/ink")
        assert hook.answer is None, "nothing was decided yet"
        with hook.waits() as answered:
            await seat.press("y")
            given = await answered
        assert (given.what, given.by, given.words) == (ALLOW, "user", "")
        await seat.sees(f"Allowed once · {ANN}")
        await seat.sees("✓ ")
    assert journal(mail) == [("allow", "", {"agents": [ANN], "tool": "Bash"})], "without the tool's input"


async def test_it_can_be_answered_at_its_terminal_instead(mail: MailFiles) -> None:
    hook = WaitingHook(mail, "Bash", {"command": "make"})
    async with opened(mail.data) as seat:
        await go(seat, "Bash: make")
        await seat.press("y")
        await seat.sees("answer at its terminal")
        await seat.press("p")
        await seat.sees(f"The terminal of {ANN} is not known")
        assert hook.answer is None


async def test_on_the_smallest_screen_it_is_said_who_asks_for_what_and_what_can_be_done(mail: MailFiles) -> None:
    WaitingHook(mail, "Bash", {"command": "make plates\nmake proofs"})
    async with opened(mail.data, size=(30, 8)) as seat:
        await go(seat, "Bas")
        await seat.sees("tool  Bash")
        await seat.press("y")
        await seat.sees("asks to use")
        for words in ("Bash", "more lines", "n  deny", "y  allow once"):
            assert words in seat.text
        assert "reads why" not in seat.text, "what a choice is goes before what is said of it"


async def test_it_is_denied_with_words_that_the_agent_reads(mail: MailFiles) -> None:
    hook = WaitingHook(mail, "Write", {"file_path": "/etc/hosts", "content": "x"}, program="codex")
    async with opened(mail.data, size=(80, 24)) as seat:
        await go(seat, "Write: /etc/hosts")
        await seat.press("enter", "enter", "escape")
        await seat.sees("Nothing was answered")
        assert hook.answer is None, "nothing is allowed by a key that was pressed twice"
        await seat.press("enter", "e")  # Codex can't end its turn: the key does nothing
        assert hook.answer is None
        with hook.waits() as answered:
            await seat.press("n", *"Not there", "enter")
            given = await answered
        assert (given.what, given.words) == (DENY, "Not there")
        await seat.sees(f"Denied · {ANN}")


async def test_its_turn_is_ended(mail: MailFiles) -> None:
    hook = WaitingHook(mail, "Bash", {"command": "make"})
    async with opened(mail.data) as seat:
        await go(seat, "Bash: make")
        with hook.waits() as answered:
            await seat.press("y", "e")
            assert (await answered).what == END_TURN
        await seat.sees(f"Turn ended · {ANN}")


async def test_who_answers_second_is_told_so(mail: MailFiles) -> None:
    hook = WaitingHook(mail, "Bash", {"command": "make"})
    async with opened(mail.data, size=(120, 40)) as seat:
        await go(seat, "Bash: make")
        with hook.waits(ELSEWHERE):
            await seat.press("y", "y")
            await seat.sees(f"Answered at its terminal meanwhile · {ANN}")
    assert journal(mail) == []
    other = WaitingHook(mail, "Bash", {"command": "make"}, id="4567")
    assert answer(other.folder, "4567", PermissionAnswer(DENY, "another console"))
    async with opened(mail.data, size=(120, 40)) as seat:
        await go(seat, "Bash: make")
        await seat.press("y", "y")
        await seat.sees("It was answered here already")


async def test_an_answer_that_no_hook_takes_says_where_to_answer(
    mail: MailFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(permissions, "TRIES", 2)
    WaitingHook(mail, "Bash", {"command": "make"})
    async with opened(mail.data, size=(120, 40)) as seat:
        await go(seat, "Bash: make")
        await seat.press("y", "y")
        await seat.sees("Its hook waits no longer: answer at its terminal")
    assert journal(mail) == []


async def test_a_question_with_options_is_answered_by_number(mail: MailFiles) -> None:
    hook = WaitingHook(mail, "AskUserQuestion", {"questions": [QUESTION]})
    async with opened(mail.data, size=(120, 40)) as seat:
        await go(seat, "Which colour?")
        await seat.sees("1. Red · 2. Blue")
        await seat.press("4")
        await seat.sees("options 1 to 2 only")
        with hook.waits() as answered:
            await seat.press("2")
            assert (await answered).choices == {"Which colour?": "Blue"}
        await seat.sees(f"Answered: Blue · {ANN}")


async def test_several_questions_are_answered_one_after_the_other_also_in_words(mail: MailFiles) -> None:
    several = {**QUESTION, "question": "Which of them?", "multiSelect": True}
    hook = WaitingHook(mail, "AskUserQuestion", {"questions": [QUESTION, several]})
    async with opened(mail.data, size=(120, 40)) as seat:
        await go(seat, "Which colour?")
        await seat.press("2")
        await seat.sees("No numbered options in this row")
        await seat.press("y", "w", *"Green, says the user", "enter")
        await seat.sees("Which of them?")
        with hook.waits() as answered:
            await seat.press(*"2,1", "enter")
            given = await answered
        assert given.choices == {"Which colour?": "Green, says the user", "Which of them?": "Blue, Red"}


async def test_what_can_not_be_answered_here_says_why(mail: MailFiles) -> None:
    state = hooked(mail.url, ANN, doing="waiting", since=NOW, last_run=NOW, tool="gemini")
    async with opened(mail.data, size=(120, 40)) as seat:
        await go(seat, ANN)
        await seat.press("y")
        await seat.sees("Answer it at its terminal: signalbox hook install --gate")
    Path(state).unlink()
    WaitingHook(mail, "Bash", {"command": "make"})
    async with opened(mail.data, size=(120, 40), observe=True) as seat:
        await go(seat, "Bash: make")
        await seat.press("y")
        await seat.sees("Can't answer here: observing")


@pytest.mark.parametrize("facts", [ended_process(), {"until": NOW - 1}, {"outcome": ELSEWHERE}])
async def test_what_nobody_waits_for_any_more_is_not_asked(facts: dict[str, Any], mail: MailFiles) -> None:
    WaitingHook(mail, "Bash", {"command": "make"}, **facts)
    async with opened(mail.data, size=(120, 40)) as seat:
        await go(seat, ANN)
        assert "make" not in seat.text
        await seat.press("y")
        await seat.sees("Answer it at its terminal: its hook waits no longer")


async def test_a_subagents_permission_is_asked_for_though_its_session_works_and_was_seen_since(mail: MailFiles) -> None:
    hook = WaitingHook(mail, "Bash", {"command": "make"})
    hooked(mail.url, ANN, doing="working", last_run=NOW - 60, options="--gate")
    async with opened(mail.data, size=(120, 40)) as seat:
        await go(seat, "Bash: make")
        with hook.waits() as answered:
            await seat.press("y", "y")
            assert (await answered).what == ALLOW


async def test_a_huge_input_is_cut_and_says_how_much_is_missing(mail: MailFiles) -> None:
    lines = "\n".join(f"line {number}" for number in range(500))
    hook = WaitingHook(mail, "Write", {"content": lines}, size=1_000_000)
    async with opened(mail.data, size=(100, 24)) as seat:
        await go(seat, "Write: ")
        await seat.press("y")
        await seat.sees("more lines")
        await seat.press("escape")
        await seat.sees("Nothing was answered")
        assert hook.answer is None


@pytest.mark.parametrize("data", ["", "{", "[]", '{"id": "0123"}', '{"id": "other"}', "\0" * 100])
async def test_a_request_that_can_not_be_read_asks_nothing(data: str, mail: MailFiles) -> None:
    hook = WaitingHook(mail, "Bash", {"command": "make"})
    Path(hook.folder, "0123").write_text(data)
    assert requests_in(hook.folder) == []
    async with opened(mail.data, size=(120, 40)) as seat:
        await go(seat, ANN)
