"""Deliver notifications: by the terminal, the desktop, or a command of the user."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
from collections.abc import Mapping
from html import escape

from console.notification_rules import Notification
from console.render.safe import visible_line

SECONDS = 20
LONGEST = 200
LONGEST_FIELD = 4000
"""Characters of a field: the size of an environment is limited."""
SCRIPT = ("on run argv", "display notification (item 2 of argv) with title (item 1 of argv)", "end run")
ON_MACOS = tuple(word for line in SCRIPT for word in ("-e", line))
"""What is shown comes as arguments, never as text of the script."""


def osc9(notice: Notification) -> str:
    """Return the escape by which terminals show a notification; nothing in it can end or begin another."""
    text = visible_line(f"{notice.title}: {notice.words}")[:LONGEST]
    return f"\x1b]9;{''.join(char for char in text if char.isprintable())}\x07"


async def show_on_desktop(notice: Notification) -> str:
    """Show a notification on the desktop; return what went wrong, empty for success."""
    words = visible_line(notice.words)[:LONGEST]
    if program := shutil.which("notify-send"):
        # desktops show the second text as markup: links, pictures
        return await _run([program, "--app-name=Signalbox", "--", notice.title, escape(words, quote=False)], {})
    if program := shutil.which("osascript"):
        return await _run([program, *ON_MACOS, notice.title, words], {})
    return "notify-send is not installed: desktop notifications are off"


async def run_quietly(command: str, notice: Notification) -> str:
    """Run the user's command with a notification in its environment; return what went wrong, empty for success."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        return f"can't parse the notification command: {error}"
    return await _run(words, notice.fields) if words else "the notification command is empty"


async def _run(words: list[str], fields: Mapping[str, str]) -> str:
    env = {**os.environ, **{name: _value(text) for name, text in fields.items()}}
    nowhere = asyncio.subprocess.DEVNULL
    try:
        process = await asyncio.create_subprocess_exec(*words, env=env, stdin=nowhere, stdout=nowhere, stderr=nowhere)
    except (OSError, ValueError, UnicodeEncodeError) as error:
        return f"{words[0]} can't be run: {error}"
    try:
        async with asyncio.timeout(SECONDS):
            status = await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
        return f"{words[0]} was stopped after {SECONDS} s"
    return "" if status == 0 else f"{words[0]} exited with status {status}"


def _value(text: str) -> str:
    """Return a text that an environment variable can hold."""
    return text[:LONGEST_FIELD].replace("\0", "").encode("utf-8", "replace").decode()
