"""What agents are doing, and since when, as a person sees it."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from console.panes.sidebar import sidebar_rows, with_state
from console.session import Session
from mailstore.state.views import View
from tests.console.screen_text import opened
from tests.hooked import ended_process, hooked
from tests.mailboxes import NOW, MailFiles, iso

ANN, BOB, CAT, DAN, EVE = (f"{name}-00000001" for name in ("ann", "bob", "cat", "dan", "eve"))


@pytest.fixture
def mail(tmp_path: Path) -> MailFiles:
    mail = MailFiles(tmp_path)

    def beats(session_id: str, *told: tuple[str, float], **more: Any) -> None:
        start = iso(NOW - 7200)
        mail.agent(session_id, started_at=start, updated=start, last_seen=start, **more)
        for activity, ago in told:
            mail.agent(session_id, activity=activity, updated=iso(NOW - ago), last_seen=iso(NOW - ago), **more)

    beats(ANN, ("idle", 900), ("working: leaf 12", 300), ("working: leaf 13", 60), role="architect")
    beats(BOB, ("waiting: Bash", 120), role="clerk")
    beats(CAT, ("idle", 600))
    beats(DAN, ("working", 3600))
    mail.agent(EVE, "frozen", activity="working")
    mail.message("one", ANN, "user", ago=60)
    return mail


@pytest.mark.parametrize("size", [(80, 24), (40, 12)])
async def test_each_state_has_its_sign_and_its_time(mail: MailFiles, size: tuple[int, int]) -> None:
    async with opened(mail.data, size=size) as seat:
        await seat.press("1", "G")
        for row in (f"► {ANN}.* 5m", f"! {BOB}.* 2m", f"‖ {CAT} 10m", f"◌ {DAN} 1h", f"◐ {EVE}"):
            assert re.search(row, seat.text), row
        if size[0] > 40:
            assert "1 waiting" in seat.lines[0]


async def test_the_title_says_what_an_agent_is_doing_and_the_past_what_it_did(mail: MailFiles) -> None:
    async with opened(mail.data, size=(220, 40)) as seat:
        for agent, words in (
            (ANN, r"working since \d\d:\d\d · architect · leaf 13"),
            (BOB, r"waiting for a permission since \d\d:\d\d · clerk · Bash"),
            (CAT, r"idle since \d\d:\d\d ─"),
            (DAN, r"stale, seen 1h ago · was working"),
        ):
            seat.screen.show_view(View("agent", agent))
            await seat.sees(agent)
            assert re.search(rf"─ {agent} · {words}", seat.text)


async def test_hooks_know_sooner_what_agents_are_doing_and_which_have_ended(mail: MailFiles) -> None:
    hooked(mail.url, DAN, doing="idle", since=NOW - 3000, last_run=NOW - 3000)
    file = hooked(mail.url, CAT, doing="idle", since=NOW - 30, last_run=NOW - 30)
    hooked(mail.url, ANN, doing="working", since=NOW - 40, last_run=NOW - 30, extra=ended_process())
    async with opened(mail.data) as seat:
        await seat.sees(f"‖ {DAN} 50m")  # not stale: its program runs
        assert re.search(f"◌ {ANN}.* now", seat.text)
        hooked(mail.url, CAT, doing="waiting", since=NOW - 1, last_run=NOW - 1)
        await seat.sees(f"! {CAT} now")
        assert "2 waiting" in seat.lines[0]
        seat.screen.show_view(View("agent", ANN))
        await seat.sees(f"─ {ANN} · gone, seen now")
        Path(file).unlink()
        await seat.sees(f"‖ {CAT} 10m")


async def test_the_composer_says_when_agents_with_hooks_will_hear_of_a_message(mail: MailFiles) -> None:
    mail.agent(EVE, "living", tags=["project:ink"], last_seen=iso(NOW))
    mail.agent("fay-00000001", tags=["project:ink"], last_seen=iso(NOW))
    hooked(mail.url, ANN, doing="working", since=NOW, last_run=NOW)
    hooked(mail.url, BOB, doing="idle", since=NOW, last_run=NOW, can_wake=True, tool="codex")
    hooked(mail.url, CAT, doing="idle", since=NOW, last_run=NOW, tool="gemini")
    hooked(mail.url, EVE, doing="idle", since=NOW, last_run=NOW, can_wake=True)
    async with opened(mail.data) as seat:
        await seat.until(lambda: len(seat.app.session.hooked.live) == 4)
        await seat.press("c")
        for to, words in (
            (ANN, f"reaches {ANN} · will hear of it within a turn · "),
            (BOB, f"reaches {BOB} · will be woken · "),
            (CAT, f"reaches {CAT} · will hear of it at the next turn · "),
            (f"{ANN}, {BOB}", f"will hear of it within a turn: {ANN} · will be woken: {BOB}"),
            ("project:ink", f"will hear of it at the next turn: {EVE}"),
            (EVE, f"reaches {EVE} · will be woken · "),
            ("fay-00000001", "reaches fay-00000001 · expires"),
        ):
            await seat.press("ctrl+u")
            await seat.paste(to)
            place = seat.screen.query_one("#reach").region
            lines = [line[place.x : place.right].strip() for line in seat.lines[place.y : place.bottom]]
            assert words in " ".join(filter(None, lines))


async def test_a_wide_screen_has_room_for_what_agents_do(mail: MailFiles) -> None:
    for width, is_told in ((120, False), (160, True)):
        async with opened(mail.data, size=(width, 40)) as seat:
            shown = [line[: seat.screen.sizes.now("sidebar")] for line in seat.lines]
            assert any("clerk 2m · Bash" in line for line in shown if BOB in line) is is_told, shown
            assert seat.screen.sidebar.size.width + 2 == seat.screen.sizes.now("sidebar")


async def test_names_are_sorted_by_their_numbers(tmp_path: Path) -> None:
    mail = MailFiles(tmp_path)
    names = ["hand-2", "hand-10", "hand-10b", "hand-" + "9" * 5000, "hands"]
    for at, name in enumerate(reversed(names)):
        mail.agent(name, tags=[f"project:room-{name.removeprefix('hand')}"])
        mail.message(f"m-{at}", name, f"project:room-{name}", "Hello.", ago=60 + at)
    async with opened(mail.data, size=(120, 40)) as seat:
        shown = [words[0] for line in seat.lines if (words := re.findall(r"^│(?:#room-|. )(hand[-\w…]*)", line))]
        assert [it for it in shown if "99" not in it] == ["hand-2", "hand-10", "hand-10b", "hands"] * 2, shown


def instructions(work: Callable[[], object]) -> int:
    """Return how many instructions of Python are executed for some work."""
    number = 0

    def count(frame: FrameType, event: str, _: object) -> Any:
        nonlocal number
        frame.f_trace_lines, frame.f_trace_opcodes = False, True
        number += event == "opcode"
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        work()
    finally:
        sys.settrace(before)
    return number


def drawn(session: Session) -> None:
    """Complete all rows of the sidebar, as if all were in sight."""
    for row in sidebar_rows(session):
        with_state(row, session)


async def test_twice_as_many_agents_and_channels_are_twice_the_work(tmp_path: Path) -> None:
    costs = []
    for most in (150, 300):
        mail = MailFiles(tmp_path / f"{most}", now=NOW)
        for number in range(most):
            name = f"agent-{number:08}"
            mail.agent(name, role=f"role-{number}", tags=[f"project:p{number}", f"concern:c{number}"])
            mail.message(f"m{number}", "agent-00000000", name, "Hello.", ago=9 + number)
            mail.message(f"r{number}", "agent-00000000", f"role-{number}", "Hello.", ago=9 + number)
        async with opened(mail.data) as seat:
            session = seat.app.session
            drawn(session)
            session.mailbox.roster.put(next(iter(session.mailbox.roster)))  # as a heartbeat does
            costs.append(instructions(partial(drawn, session)))
    assert costs[1] < 2.5 * costs[0]
