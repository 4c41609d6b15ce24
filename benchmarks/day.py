"""The keys that a morning takes, after a night of twenty agents: python -m benchmarks.day [--before DIR].

Every task is done in the real console and ends only when the screen shows that it is done. Each key counts, and each
character that is typed; `--before` does the same tasks with the keys of version 0.1 in an older checkout.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.night import AWAY_HOURS, FOR_YOU, night
from tests.mailboxes import HOUR
from tests.terminal import Terminal, environment

ROOT = Path(__file__).parents[1]
REST = 0.3
"""Seconds to wait for the effect of a key."""
MOST = 100
"""Keys after which a task counts as failed."""
ANSWER = "The one from Tuesday."
PREPARE = """
import json, sys
from console.state.personal_state import PersonalState
url, left, *seen = sys.argv[1:]
state = PersonalState()
state.mark_seen(url, seen, float(left))
state.save_session(url, {"view": {"kind": "all", "name": ""}})
if hasattr(state, "database"):
    state.database.write("INSERT INTO remembered VALUES (?, 'left', ?, ?)", [(url, left, float(left))])
state.close()
"""


class Morning:
    """A console on the mailbox, and the keys that were pressed for the task at hand."""

    def __init__(self, folder: Path, checkout: Path) -> None:
        now = time.time()
        files, seen = night(folder, now)
        (folder / "home").mkdir()
        env = environment(folder / "home")
        url = f"haak:{files.mailbox}"
        left = str(now - AWAY_HOURS * HOUR)
        subprocess.run([sys.executable, "-c", PREPARE, url, left, *seen], env=env, cwd=checkout, check=True)
        self.terminal = Terminal([sys.executable, "-m", "console", "open", url], env=env, cwd=checkout)
        self.keys = 0
        self.terminal.wait_for(f"{FOR_YOU} for you")
        time.sleep(2)

    def press(self, *names: str) -> None:
        """Press keys by their names, each after the one before has taken effect."""
        for name in names:
            self.terminal.press(name)
            self.keys += 1
            time.sleep(REST)

    def write(self, text: str) -> None:
        """Type a text."""
        self.terminal.send(text)
        self.keys += len(text)
        time.sleep(3 * REST)

    def go(self, row: str) -> None:
        """Go to a row of the sidebar."""
        self.press("1", "g")
        place = next(at for at, line in enumerate(self._sidebar()) if line[1:].startswith(row))
        here = next(at for at, line in enumerate(self._sidebar()) if line.startswith("│"))
        self.press(*["j"] * (place - here - sum("──" in line for line in self._sidebar()[here:place])))

    def until(self, key: str, is_done: Callable[[], bool]) -> None:
        """Press a key until the screen shows what was wanted."""
        while not is_done():
            if self.keys >= MOST:
                raise AssertionError(self.terminal.screen_text())
            self.press(key)

    def sees(self, text: str) -> None:
        """Wait for a text; raises AssertionError with the screen."""
        self.terminal.wait_for(text)

    def for_you(self) -> int:
        """Return how many messages to the person the header counts."""
        found = re.search(r"(\d+) for you", self.terminal.line(0))
        return int(found[1]) if found else 0

    def _sidebar(self) -> list[str]:
        return [line[:25] for line in self.terminal.lines]


def read_all(day: Morning) -> None:
    """Read twenty messages to the person, in fourteen threads."""
    day.go("For you")
    day.press("enter")
    day.until("space", lambda: not day.for_you())


def find(day: Morning) -> None:
    """Find a message of the day before by a word whose spelling is remembered wrongly."""
    day.press("/")
    day.write("provenence")
    day.sees("Did you mean provenance?")
    day.press("enter")
    day.sees("the Kyoto")


def find_without_spelling(day: Morning) -> None:
    """Find it where no spelling is offered: by a shorter word."""
    day.press("/")
    day.write("provenence")
    day.press("enter", "/", "ctrl+u")
    day.write("proven")
    day.press("enter")
    day.sees("the Kyoto")


def answer(day: Morning) -> None:
    """Answer the question in the channel; the text counts."""
    day.go("#alpha")
    day.press("enter")
    day.sees("0 words")
    day.write(ANSWER)
    day.press("ctrl+s")
    day.sees(f"▎ {ANSWER}")


def answer_with_c(day: Morning) -> None:
    """Write to the channel where opening it doesn't open the composer."""
    day.go("#alpha")
    day.press("c")
    day.write(ANSWER)
    day.press("ctrl+s")
    day.sees(f"▎ {ANSWER}")


def settle(day: Morning) -> None:
    """Hand three dead letters to the agent that holds the role now."""
    day.press("D", "V", ">")
    day.sees("Redirect 3 messages")
    day.press("enter")
    day.sees("Redirected to courier-2 (3 messages)")


def settle_in_two_steps(day: Morning) -> None:
    """Hand them over where the address and the plan are two dialogs."""
    day.press("D", "V", "r")
    day.sees("Redirect 3 messages to")
    day.press("enter")
    day.sees("Redirect 3 messages?")
    day.press("enter")
    day.sees("Redirected to courier-2 (3 messages)")


def look_back(day: Morning) -> None:
    """See what happened overnight: how much for the person, questions, dead letters, who ended, the busiest threads."""
    for words in ("While you were away", "20 for you", "1 open question", "3 dead letters", "courier-1", "busiest"):
        day.sees(words)


def look_back_in_places(day: Morning) -> None:
    """See the same where it stands in several places; the busiest threads must be found by eye."""
    day.sees("20 for you")
    day.press("D")
    day.sees("courier-1")
    day.press("escape", "p")
    day.sees("Which dump?")
    day.press("escape", "U")
    day.sees("Night run")


TASKS: dict[str, tuple[Callable[[Morning], None], Callable[[Morning], None]]] = {
    "see what happened overnight": (look_back, look_back_in_places),
    "read 20 unread": (read_all, read_all),
    "find a half-remembered message": (find, find_without_spelling),
    "answer in a channel": (answer, answer_with_c),
    "settle three dead letters": (settle, settle_in_two_steps),
}
"""For each task, how it is done now, and how it was done before."""


def count(checkout: Path, *, is_before: bool = False) -> dict[str, int]:
    """Return the keys of each task, done one after the other in consoles of their own on the same mailbox."""
    taken = {}
    for name, ways in TASKS.items():
        with tempfile.TemporaryDirectory() as folder:
            day = Morning(Path(folder), checkout)
            with day.terminal:
                ways[is_before](day)
        taken[name] = day.keys
    return taken


def main(words: list[str] | None = None) -> None:
    """Print the keys of each task."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.day", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--before", type=Path, metavar="DIR", help="An older checkout to compare with")
    older = parser.parse_args(words).before
    now = count(ROOT)
    before = count(older, is_before=True) if older is not None else {}
    print(f"{'keys':32}{'before':>8}{'now':>8}")
    for name, keys in now.items():
        print(f"{name:32}{before.get(name, ''):>8}{keys:>8}")


if __name__ == "__main__":
    main()
