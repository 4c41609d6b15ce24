"""Agents are held, stopped and released in the console: who can be, what is shown of it, and what is recorded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from console.hooks.calls import calls_file, note
from console.hooks.orders import HOLD, Order, give, orders_in, place_of, take_cancellations
from console.settings.config import AttentionSettings, Config, HookSettings
from mailstore.state.views import View
from tests.console.screen_text import Seat, opened
from tests.hooked import hooked
from tests.mailboxes import NOW, MailFiles

ANN, BOB, CID = "ann-00000001", "bob-00000001", "cid-00000001"
WORDS = "Mend the lamp: No longer needed"


@pytest.fixture
def mail(tmp_path: Path) -> MailFiles:
    mail = MailFiles(tmp_path)
    for name in (ANN, BOB):
        mail.agent(name)
    mail.message("m", ANN, BOB, "The lamp.", ago=60, subject="Lamp")
    return mail


def place(mail: MailFiles) -> str:
    """Return the folder of the orders; Ann's hooks have a gate, Bob's have none."""
    hooked(mail.url, BOB, doing="working", since=NOW, last_run=NOW, tool="codex")
    state = hooked(mail.url, ANN, doing="working", since=NOW, last_run=NOW, options="--gate")
    return place_of(str(Path(state).parent))


async def go(seat: Seat, name: str) -> None:
    await seat.until(lambda: len(seat.app.session.hooked.live) == 2)
    seat.screen.show_view(View("agent", name))
    await seat.press("H")
    await seat.sees(f"{name} (living)")


def journal(mail: MailFiles) -> list[str]:
    path = mail.data / "agent-mailbox-oversight.jsonl"
    return [json.loads(line)["action"] for line in path.read_text().splitlines()] if path.exists() else []


async def test_an_agent_is_held_once_its_hook_says_so_and_released_by_undo(mail: MailFiles) -> None:
    folder = place(mail)
    async with opened(mail.data, size=(120, 40)) as seat:
        await go(seat, ANN)
        await seat.press("h")
        await seat.sees(f"{ANN} (claude-code): its next tool call")
        await seat.press(*"The museum calls", "enter")
        await seat.until(lambda: seat.notice == f"Hold asked: {ANN} · z: undo")
        order = orders_in(folder)[ANN]
        assert (order.what, order.why, order.by) == (HOLD, "The museum calls", "user")
        await seat.sees(f"{ANN} · hold asked")
        hooked(mail.url, ANN, doing="held", extra={"obeyed": order.since})
        await seat.sees(f"{ANN} · held since")
        await go(seat, ANN)
        await seat.sees("hold since 14:30")
        await seat.press("escape", "z")
        await seat.until(lambda: not orders_in(folder))
        await seat.until(lambda: journal(mail) == ["hold", "release"])
        await seat.press("L")
        await seat.sees("held")
        assert "The museum calls" in seat.text


async def test_who_can_not_be_held_says_what_would_let_it(mail: MailFiles) -> None:
    folder = place(mail)
    async with opened(mail.data, size=(120, 40)) as seat:
        await go(seat, BOB)
        await seat.press("s")
        await seat.until(lambda: seat.notice.startswith("Can't stop it: its hooks were installed without --gate."))
        assert not orders_in(folder)
        await go(seat, BOB)
        await seat.press("H", "escape")
        await seat.until(lambda: seat.notice == "Nothing was asked")
        assert not orders_in(folder)


async def test_all_are_held_together_and_an_earlier_order_comes_back_by_undo(mail: MailFiles) -> None:
    folder = place(mail)
    give(folder, Order(ANN, "stop", NOW - 60, "user", "Enough"))
    async with opened(mail.data, size=(120, 40)) as seat:
        await seat.press("1", "g")
        await seat.until(lambda: len(seat.app.session.hooked.live) == 2)
        await seat.press("H", "H")
        await seat.sees("and is refused after")
        await seat.press("enter")
        await seat.until(lambda: seat.notice == "Hold asked: all agents · z: undo")
        assert set(orders_in(folder)) == {"*", ANN}
        await seat.press("H", "L")
        await seat.until(lambda: not orders_in(folder))
        await seat.press("z")
        await seat.until(lambda: set(orders_in(folder)) == {"*", ANN})
        assert orders_in(folder)[ANN].why == "Enough"


async def test_nothing_is_asked_of_agents_while_observing(mail: MailFiles) -> None:
    place(mail)
    async with opened(mail.data, observe=True) as seat:
        seat.screen.show_view(View("agent", ANN))
        await seat.press("H")
        await seat.until(lambda: "Can't change agents here" in seat.notice)


async def test_a_task_is_cancelled_with_those_below_it_and_who_works_on_them_is_told_at_the_next_tool(
    mail: MailFiles,
) -> None:
    folder = place(mail)
    mail.message("t", "user", BOB, "Mend it.", ago=50, subject="Mend the lamp", type="task-assigned")
    mail.message("u", BOB, ANN, "Buy a bulb.", ago=40, subject="A bulb", type="task-assigned", thread="t")
    async with opened(mail.data, size=(120, 40)) as seat:
        await seat.until(lambda: len(seat.app.session.hooked.live) == 2)
        seat.screen.show_message("t")
        await seat.press("H")
        await seat.sees("cancel 2 tasks …")
        await seat.press("c", *"No longer needed", "ctrl+s")
        await seat.until(lambda: '"cancel"' in mail.mailbox.read_text())
        sent = json.loads(mail.mailbox.read_text().splitlines()[-1])
        assert (sent["type"], sorted(sent["recipient"])) == ("cancel", [ANN, BOB])
        await seat.until(lambda: [each.why for each in take_cancellations(folder, ANN)] == [WORDS])
    assert not take_cancellations(folder, BOB), "its hooks have no gate: it reads its mail"
    assert orders_in(folder) == {}


async def test_who_calls_the_same_tool_again_and_again_needs_attention_until_it_does_something_else(
    mail: MailFiles,
) -> None:
    folder = place(mail)
    path = calls_file("claude-code", f"0000-{ANN}")
    for _ in range(58):
        note(path, f"{NOW - 1:.0f} a Bash")
    async with opened(mail.data, size=(120, 40)) as seat:
        await seat.until(lambda: len(seat.app.session.hooked.live) == 2)
        await seat.press("p")
        await seat.sees("Agents that may be stuck 1")
        await seat.sees("58 identical calls of Bash")
        await seat.press("H", "h", *"Look at it", "enter")
        await seat.until(lambda: [each.why for each in orders_in(folder).values()] == ["Look at it"])
        note(path, f"{NOW:.0f} b Bash")
        hooked(mail.url, ANN, last_run=NOW + 1)  # the file of calls wakes no console: it is read with all else
        await seat.until(lambda: "58 identical" not in seat.text)


async def test_those_of_a_channel_are_held_together_and_released_by_undo(mail: MailFiles) -> None:
    folder = place(mail)
    mail.agent(ANN, tags=["project:ink"])
    mail.agent(CID, tags=["project:ink"])
    mail.message("c", ANN, "project:ink", "All of you.", ago=30)
    hooked(mail.url, CID, doing="working", since=NOW, last_run=NOW, options="--gate")
    async with opened(mail.data, size=(120, 40)) as seat:
        await seat.until(lambda: len(seat.app.session.hooked.live) == 3)
        seat.screen.show_view(View("channel", "project:ink"))
        await seat.press("H")
        await seat.sees("hold project:ink")
        await seat.press("g")
        await seat.sees(f"{CID} (claude-code): its next tool call")
        assert f"{BOB} (" not in seat.text
        await seat.press("enter")
        await seat.until(lambda: set(orders_in(folder)) == {ANN, CID})
        await seat.press("z")
        await seat.until(lambda: not orders_in(folder))


async def test_those_of_marked_threads_and_of_a_thread_are_held_together(mail: MailFiles) -> None:
    folder = place(mail)
    mail.agent(CID)
    mail.message("n", CID, "user", "The wick.", ago=30, subject="Wick")
    mail.message("o", BOB, "user", "The oil.", ago=20, subject="Oil")
    hooked(mail.url, CID, doing="working", since=NOW, last_run=NOW, options="--gate")
    async with opened(mail.data, size=(120, 40)) as seat:
        await seat.until(lambda: len(seat.app.session.hooked.live) == 3)
        seat.screen.show_view(View("all"))
        await seat.press("2", "g", "v", "v", "v", "H")
        await seat.sees("hold those in 3 marked threads")
        await seat.press("g")
        await seat.sees(f"{CID} (claude-code): its next tool call")
        await seat.press("enter")
        await seat.until(lambda: set(orders_in(folder)) == {ANN, CID})
        await seat.press("z")
        await seat.until(lambda: not orders_in(folder))
        await seat.press("escape", "G", "H")
        await seat.sees("hold those in this thread")
        await seat.press("g", "enter")
        await seat.until(lambda: set(orders_in(folder)) == {ANN})


async def test_those_of_marked_rows_of_the_desk_are_held_together(mail: MailFiles) -> None:
    folder = place(mail)
    for number, name in enumerate((ANN, CID)):
        mail.agent(CID)
        mail.message(f"q{number}", name, "user", "May I?", ago=30, subject=f"Question {number}", type="question")
    hooked(mail.url, CID, doing="working", since=NOW, last_run=NOW, options="--gate")
    async with opened(mail.data, size=(120, 40)) as seat:
        await seat.until(lambda: len(seat.app.session.hooked.live) == 3)
        await seat.press("p")
        await seat.sees("Question 1")
        await seat.press("V", "H")
        await seat.sees("hold those of the marked rows")
        await seat.press("g", "enter")
        await seat.until(lambda: set(orders_in(folder)) == {ANN, CID})


async def test_an_agent_is_held_from_the_overview(mail: MailFiles) -> None:
    folder = place(mail)
    async with opened(mail.data, size=(120, 40)) as seat:
        await seat.until(lambda: len(seat.app.session.hooked.live) == 2)
        await seat.press("O")
        await seat.sees("Agents")
        await seat.press("2", "g", "H")
        await seat.sees(f"{ANN} (living)")
        await seat.press("h", "enter")
        await seat.until(lambda: set(orders_in(folder)) == {ANN})
        await seat.press("z")
        await seat.until(lambda: not orders_in(folder))


async def test_agents_that_keep_each_other_busy_are_held_once_where_the_user_chose_that(mail: MailFiles) -> None:
    folder = place(mail)
    config = Config(hooks=HookSettings(hold_loops=True), attention=AttentionSettings(loop_messages=6))
    for number in range(8):
        sides = (ANN, BOB) if number % 2 else (BOB, ANN)
        mail.message(f"l{number}", *sides, "And you?", ago=300 - number, thread=f"l{number - 1}" if number else None)
    async with opened(mail.data, size=(120, 40), config=config) as seat:
        await seat.until(lambda: set(orders_in(folder)) == {ANN})
        assert orders_in(folder)[ANN].why.startswith("you answered each other 8 times")
        assert orders_in(folder)[ANN].by == "limit"
        await seat.sees("Held: they kept each other busy")
        await seat.until(lambda: journal(mail) == ["hold"])
        await seat.press("z")
        await seat.until(lambda: not orders_in(folder))
        mail.message("l8", BOB, ANN, "And you?", ago=100, thread="l7")
        await seat.press("p")
        await seat.sees("answered each other 10 times")
        assert not orders_in(folder), "who was released is not held again for the same loop"


async def test_without_the_setting_a_loop_holds_nobody(mail: MailFiles) -> None:
    folder = place(mail)
    for number in range(8):
        sides = (ANN, BOB) if number % 2 else (BOB, ANN)
        mail.message(f"l{number}", *sides, "And you?", ago=300 - number, thread=f"l{number - 1}" if number else None)
    async with opened(mail.data, config=Config(attention=AttentionSettings(loop_messages=6))) as seat:
        await seat.press("p")
        await seat.sees("answered each other 8 times")
        assert not orders_in(folder)
