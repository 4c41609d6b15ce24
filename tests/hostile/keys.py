"""Type a hundred keys at once, in every screen: the console lives, and still does what it is asked.

A terminal hands over what was typed while the program was busy in one read; a paste without brackets does the same.
The keys are typed by Textual's pilot, into a terminal, or into a page that `signalbox serve` gives a browser.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import chdir, suppress
from itertools import chain, repeat
from pathlib import Path

from textual.events import Key, Paste
from textual.keys import key_to_character

from console.commands.table import COMMANDS
from console.serve.sockets import CLOSED_BY_PERSON
from tests.console.screen_text import Seat, opened, settle
from tests.mailboxes import MailFiles
from tests.patience import PATIENCE
from tests.serve.served import Page, Served
from tests.terminal import SIGNALBOX, Terminal, environment
from tests.terminal_keys import encoded

OPENERS = (
    "question_mark", "colon", "p", "D", "L", "O", "B", "d", "i", "n", "r", "slash", "T", "w", "m", "s", "a",
    "exclamation_mark", "R", "b", "x", "f", "t", "v", "E", "W", "I", "X", "enter", "g", "tab",
)  # fmt: skip
"""The keys that open something, or may."""
PLAIN = ("enter", "escape", "tab", "space", "down", "up", "y", "n", "j", "k", "backspace", "1", "2", "0", "a", "z")
PASTE, PASTED = "paste", "\x1bq\x1b[31mred\x07 \r\nq"
"""Something between keys that is pasted in brackets, and of which nothing is a key."""
ESCAPES = b"\x1b[27u" * 60
"""Escape as a terminal sends it that means no other key by it, as often as any screens lie on each other."""
HELP = "Keys"
LEAVE = encoded("ctrl+q")
"""What ends the console from anywhere; q asks where a draft is open beside the list that has the focus."""
TURNS = 6
"""How often a user tries to get out: a page that was still being made may open after the Escapes, and take the keys."""
LONGEST_PAUSE = 80
"""Rounds of the event loop; the palette takes fewer to be built."""
LEAVING = {"q", "ctrl+q", "ctrl+c", "ctrl+z", "vertical_line"}
"""Keys that end or stop the console, or hand mail to another program."""


def box(folder: Path) -> MailFiles:
    """Make a mailbox with something for every screen."""
    mail = MailFiles(folder)
    mail.agent("ann-00000001", role="clerk", tags=["project:ink"])
    mail.agent("bob-00000001", "frozen", role="critic")
    mail.agent("eve-00000001", "dead", ended_at=mail.now - 9_000)
    for number in range(12):
        mail.message(f"q{number}", "ann-00000001", "user", "See https://example.com and `code`.", type="question")
        mail.message(f"d{number}", "ann-00000001", "eve-00000001", "Too late.", ago=8_000 + number, thread=None)
        mail.message(f"c{number}", "bob-00000001", "project:ink", "To all of us @ann-00000001.", ago=900)
        mail.message(f"a{number}", "bob-00000001", "ann-00000001", "An answer.", ago=100, thread=f"c{number}")
    return mail


def alphabet() -> list[str]:
    """Return every key that does something, those of dialogs more often, and a paste."""
    bound = {key for command in COMMANDS for key in command.keys.split(",") if key}
    return sorted(bound - LEAVING) + list(PLAIN) * 6 + [PASTE] * 2


async def burst(seat: Seat, keys: Sequence[str], pauses: Iterable[int] = ()) -> None:
    """Give the application keys as one read of a terminal gives them, or some rounds of the event loop after each."""
    for key, rounds in zip(keys, chain(pauses, repeat(0)), strict=False):
        seat.app.post_message(Paste(PASTED) if key == PASTE else Key(key, key_to_character(key)))
        for _ in range(rounds):
            await asyncio.sleep(0)
    await settle(seat.pilot)


async def home(seat: Seat) -> None:
    """Go back to the main screen, as a user does: by Escape."""
    for _ in range(60):
        if len(seat.app.screen_stack) == 1:
            return
        await seat.until(lambda: not getattr(seat.app.screen, "ignores_keys", False))  # it came late, and takes no key
        await seat.press("escape")
    raise AssertionError(f"Escape doesn't lead out of {seat.app.screen}")


async def storm(seat: Seat, keys: Sequence[str], pauses: Iterable[int]) -> None:
    """Type keys without waiting for their effects; afterwards the console still answers."""
    await burst(seat, keys, pauses)
    await home(seat)
    await seat.press("escape", "f1")
    assert "Keys" in seat.text, seat.text
    await home(seat)


def typed(keys: Sequence[str]) -> bytes:
    """Return what a terminal sends for keys, without those that none could send."""
    sent = b""
    for key in keys:
        with suppress(ValueError):
            sent += f"\x1b[200~{PASTED}\x1b[201~".encode() if key == PASTE else encoded(key)
    return sent


async def storm_in_pilot(mail: MailFiles, keys: Sequence[str]) -> None:
    """Type keys by the pilot: most at once, some while a screen is being built."""
    chance = random.Random(" ".join(keys))
    pauses = [chance.choice((0, 0, 0, chance.randrange(LONGEST_PAUSE))) for _ in keys]
    async with opened(mail.data, now=mail.now) as seat:
        await storm(seat, keys, pauses)


async def storm_in_a_terminal(mail: MailFiles, keys: Sequence[str]) -> None:
    """Type keys at once into a terminal; afterwards the console shows its help, and ends when it is told to."""
    with Terminal([*SIGNALBOX, "open", mail.url], env=environment(mail.data.parent, PATH="")) as terminal:
        terminal.wait_for("ann-00000001")
        terminal.send(typed(keys))
        for sent in range(1, TURNS + 1):
            terminal.send(ESCAPES + encoded("f1"))
            try:
                terminal.wait_for(HELP, PATIENCE / TURNS)
                break
            except AssertionError:
                if sent == TURNS or terminal.status is not None:
                    raise
        terminal.send(ESCAPES)
        terminal.wait_gone(HELP)
        for sent in range(1, TURNS + 1):
            with suppress(OSError):
                terminal.send(LEAVE)  # what an editor that is being started keeps the console from reading is lost
            try:
                assert terminal.wait_exit(PATIENCE / TURNS) == 0, terminal.screen_text()
                break
            except AssertionError:
                if sent == TURNS or terminal.status is not None:
                    raise


async def storm_in_a_page(mail: MailFiles, keys: Sequence[str]) -> None:
    """Type keys at once into a page; afterwards the console shows its help, and ends when it is told to."""
    with Served(mail.url, mail.data.parent) as server:
        page = Page(server)
        try:
            await page.open()
            await page.see("ann-00000001")
            await page.type(typed(keys))
            for sent in range(1, TURNS + 1):
                await page.type(ESCAPES + encoded("f1"))
                try:
                    await page.see(HELP, PATIENCE / TURNS)
                    break
                except TimeoutError:
                    if sent == TURNS:
                        raise
            await page.type(ESCAPES)
            await page.see("ann-00000001")
            await page.type(LEAVE)
            ended = await page.end()
            assert ended == CLOSED_BY_PERSON, f"closed ({ended}): {page.said}"
        finally:
            await page.session.close()


STORMS = {"pilot": storm_in_pilot, "terminal": storm_in_a_terminal, "page": storm_in_a_page}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--where", choices=STORMS, default="pilot", help="what the keys are typed into")
    parser.add_argument("--bursts", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=None)


def run(args: argparse.Namespace) -> int:
    """Type at random; print what ended the console, with the seed that repeats it."""
    seed = args.seed if args.seed is not None else random.SystemRandom().randrange(1 << 32)
    os.environ["PATH"] = ""  # no key runs a program
    faults = 0
    for number in range(args.bursts):
        chance = random.Random(f"{seed}/{number}")
        opener = OPENERS[number % len(OPENERS)]
        keys = [opener, *chance.choices(alphabet(), k=100)]
        with tempfile.TemporaryDirectory() as folder, chdir(folder):  # what is exported lands there
            try:
                asyncio.run(STORMS[args.where](box(Path(folder, "mail")), keys))
            except Exception as error:
                faults += 1
                print(f"seed {seed}, burst {number}: {type(error).__name__}: {error}\n  {' '.join(keys)}", flush=True)
                for log in Path(folder).rglob("console.log"):
                    print(log.read_text(), flush=True)
    print(f"{args.bursts} bursts, {faults} ended the console (seed {seed})")
    return min(faults, 1)
