"""Take the screenshots of the README: the real application over real mailbox files.

python -m screenshots.take [NAME ...], or with --check: say which of them show something else than the program does.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import closing
from dataclasses import dataclass
from html import unescape
from pathlib import Path

from textual.pilot import Pilot
from textual.widgets import Input, TextArea

from console.app import SignalboxApp
from console.demo.history import write_history
from console.demo.run import remember
from console.hooks.permissions import PermissionRequest
from console.hooks.sessions.hooked_agents import HookedAgents, LiveHook
from console.screens.away import LEFT
from console.screens.desks.attention_watch import TOLD
from console.settings.config import Config
from console.state.personal_state import PersonalState
from console.state.remembered import RememberedValues
from mailstore import open_store
from mailstore.records.events import Gone
from mailstore.records.scope import url_of

HERE = Path(__file__).parent
NOW = 1_773_671_400.0
LATER = 1_795_213_800.0
"""Soon after the last message of the other systems' files."""
FIXTURES = HERE.parent / "tests" / "fixtures"
SEED = 7
FONT_FACE = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)
TEXT = re.compile(r'<text [^>]*?x="(?P<x>[\d.]+)" y="(?P<y>[\d.]+)"[^>]*>(?P<text>[^<]*)</text>')
CHECK = "--check"
READING_SECONDS = 60
BUSY = {"away", "blocks", "overview", "search", "marks", "drafts", "text", "travel", "archive"}


@dataclass(frozen=True, slots=True)
class Shot:
    """A picture: its name, size and theme, and the keys that lead there."""

    name: str
    size: tuple[int, int]
    theme: str = "night-box"
    keys: tuple[str, ...] = ()
    now: float = NOW
    away: float = 0.0
    """For how many seconds the person was away; 0: they were never there."""
    others: tuple[str, ...] = ()
    """Mailboxes of other systems, by their folders among the tests' files, beside the one of every picture."""
    cut_off: str = ""
    """The label of a mailbox that was cut off eight minutes ago."""
    asks: str = ""
    """A command for which an agent asks for a permission that can be given here."""


SLOW = {"D", "H", "O", "P", "Q", "T", "a", "comma", "enter", "greater_than_sign", "p", "r", "s"}
"""Keys whose effect comes from a worker: the next one waits for it."""

INTO_THREAD = ("j", "j", "j", "enter", "j")
SHOTS = (
    Shot("console-120x40", (120, 40), keys=INTO_THREAD),
    Shot("console-200x60", (200, 60), keys=(*INTO_THREAD, "r", *"Go ahead, but keep the old field.")),
    Shot("console-80x24", (80, 24), keys=INTO_THREAD),
    Shot("console-timetable", (120, 40), "timetable", INTO_THREAD),
    Shot("console-blackout", (120, 40), "blackout", INTO_THREAD),
    Shot("composer", (120, 40), keys=(*INTO_THREAD, "R", *"Stop here until the museum has answered.")),
    Shot("dead-letters", (120, 40), keys=("D", "j", "j", "space")),
    Shot("redirect", (100, 30), keys=("D", "greater_than_sign")),
    Shot("attention", (120, 40), keys=("p", "j")),
    Shot("permission", (120, 40), keys=("p", "g", "y"), asks="rm -rf build\nmake plates SIZE=large\nmake proofs"),
    Shot("hold", (100, 30), keys=("p", "g", "H", "h", *"The museum calls"), asks="rm -rf build"),
    Shot("one-at-a-time", (120, 40), keys=("p", "j", "f")),
    Shot("what-led-to-it", (120, 40), keys=("P",)),
    Shot("settings", (120, 40), keys=("colon", *"settings", "enter", *"jj", "enter", "down", "down")),
    Shot("narrowed", (120, 40), keys=("slash", *"leaf", "enter", "Q")),
    Shot("archive-plan", (120, 40), keys=("a",)),
    Shot("timeline", (120, 40), keys=(*INTO_THREAD, "i")),
    Shot("time-travel", (160, 50), keys=("T", *("comma",) * 25)),
    Shot("journal", (120, 40), keys=("L",)),
    Shot("overview", (120, 40), keys=("O",)),
    Shot("stream", (120, 40), keys=("1", "g", *"j" * 11, "enter", *"Leaf 231 first, please.")),
    Shot("away", (120, 40), away=36_000.0),
    Shot("snooze", (120, 40), keys=("j", "asterisk", "k", "s")),
    Shot("spelling", (80, 24), keys=("slash", *"provenence")),
    Shot("search", (120, 40), keys=("slash", *"from:librarian-7 leaf")),
    Shot(
        "several",
        (160, 50),
        keys=("slash", *"tag:nested-signature", "enter", "enter"),
        now=LATER,
        others=("agentazall", "agent-mail", "channels", "neo"),
    ),
    Shot(
        "agent",
        (100, 30),
        keys=("1", "g", *"j" * 16, "i"),
        now=LATER,
        others=("agentazall",),
    ),
    Shot(
        "files",
        (80, 24),
        keys=("slash", *"has:attachment", "enter", "enter", "X"),
        now=LATER,
        others=("agentazall",),
    ),
    Shot(
        "cut-off",
        (120, 40),
        keys=("slash", *"from:codex", "enter", "enter", "r", *"Yes, both."),
        now=LATER,
        others=("agent-mail", "channels"),
        cut_off="channels",
    ),
    Shot("help", (120, 40), keys=("question_mark",)),
)


async def settle(pilot: Pilot[None]) -> None:
    """Wait until nothing is being rendered or searched."""
    quiet = 0
    while quiet < 3:
        await pilot.pause()
        is_busy = any(worker.group in BUSY and not worker.is_finished for worker in pilot.app.workers)
        quiet = 0 if is_busy else quiet + 1
        await asyncio.sleep(0.05)


async def taken(shot: Shot, folder: Path, settle: Callable[[Pilot[None]], Awaitable[None]] = settle) -> str:
    """Open the console, type the keys, return the picture."""
    data = folder / shot.name / "data"
    data.mkdir(parents=True)
    write_history(data, shot.now, SEED)
    url = f"haak:{data}"
    with closing(PersonalState(folder / shot.name / "state.db")) as state:
        with open_store(url) as before:
            remember(before, state, shot.now)
            if shot.away:
                left = RememberedValues()
                left.remember(LEFT, shot.now - shot.away)
                left.save(state.database, before.url, LEFT)
        if shot.others:
            url = url_of({"desk": url, **{kind: f"{kind}:{FIXTURES / kind}" for kind in shot.others}})
        with open_store(url) as store:
            config = Config(bell=False, stale_after_minutes=24 * 60)
            app = SignalboxApp(store, config, theme=shot.theme, state=state, clock=lambda: shot.now)
            return await _drawn(shot, app, settle)


async def _drawn(shot: Shot, app: SignalboxApp, settle: Callable[[Pilot[None]], Awaitable[None]]) -> str:
    app.session.personal.remember(TOLD, True)
    async with app.run_test(size=shot.size) as pilot:
        async with asyncio.timeout(READING_SECONDS):
            while app.main_screen is None or app.session.is_loading:
                await pilot.pause(0.01)
        await settle(pilot)
        if shot.away and app.main_screen is not None:
            app.main_screen.tick()  # the first second is over
            await settle(pilot)
        if shot.cut_off and app.main_screen is not None:
            app.feed.fold([Gone("no server answers at hub.example:4222", shot.now - 480, shot.cut_off)])
            app.main_screen.redraw()
            await settle(pilot)
        if shot.asks and app.main_screen is not None:
            app.session.hooked = asking(shot)
            app.main_screen.mail_changed(False)
            await settle(pilot)
        for key in shot.keys:
            await pilot.press("space" if key == " " else key)
            if key in SLOW:
                await settle(pilot)
        await settle(pilot)
        for field in app.screen.query("Input, TextArea").results(Input | TextArea):
            field.cursor_blink = False  # it stands in every picture
        app.clear_notifications()
        if app.main_screen is not None:
            app.main_screen.redraw()
        await settle(pilot)
        return FONT_FACE.sub("", app.export_screenshot(title="signalbox")) + "\n"


def asking(shot: Shot) -> HookedAgents:
    """Return an agent whose hook waits for the answer to a permission."""
    given = json.dumps({"command": shot.asks, "description": "Make the plates and their proofs again"})
    facts = {"tool": "Bash", "given": given, "size": len(given), "cwd": "/ink/plates", "program": "claude-code"}
    request = PermissionRequest({**facts, "since": shot.now - 95, "until": shot.now + 445})
    hook = LiveHook("claude-code", "", "waiting", shot.now - 95, shot.now, False, "", has_gate=True, asked=(request,))
    return HookedAgents({"librarian-7": hook})


def text_in(picture: str) -> list[str]:
    """Return the lines of text in a picture, from top to bottom; a cursor that blinks is none."""
    rows: dict[float, list[tuple[float, str]]] = {}
    for found in TEXT.finditer(picture):
        rows.setdefault(float(found["y"]), []).append((float(found["x"]), unescape(found["text"])))
    lines = ["".join(text for _, text in sorted(row)).replace("\xa0", " ") for _, row in sorted(rows.items())]
    return [re.sub(" +(?=│|$)", "", line) for line in lines]


def kept(shot: Shot) -> str:
    """Return the picture as it was taken last; empty if it never was."""
    path = HERE / f"{shot.name}.svg"
    return path.read_text("utf-8") if path.exists() else ""


def main() -> int:
    """Take or check all pictures, or those that are named; return 1 if one is out of date."""
    wanted = set(sys.argv[1:]) - {CHECK}
    is_checking, stale = CHECK in sys.argv[1:], 0
    with tempfile.TemporaryDirectory() as folder:
        for shot in SHOTS:
            if wanted and shot.name not in wanted:
                continue
            picture = asyncio.run(taken(shot, Path(folder)))
            if not is_checking:
                (HERE / f"{shot.name}.svg").write_text(picture, encoding="utf-8")
                sys.stdout.write(f"{shot.name}.svg\n")
            elif text_in(picture) != text_in(kept(shot)):
                stale += 1
                sys.stdout.write(f"{shot.name}.svg is out of date\n")
    return min(stale, 1)


if __name__ == "__main__":
    raise SystemExit(main())
