"""Brings notices to the person: on the screen, by the bell, the terminal, the desktop, a command of their own."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
from collections.abc import Mapping

from console.notification_rules import Notification
from console.render.safe import visible_line

__all__ = ["osc9", "run_quietly", "show_on_desktop"]

SECONDS = 20
LONGEST = 200
LONGEST_FIELD = 4000
"""Characters of a field: an environment has no room for a subject of any length."""


def osc9(notice: Notification) -> str:
    """Return the escape by which terminals show a notification; nothing in it can end or begin another."""
    text = visible_line(f"{notice.title}: {notice.words}")[:LONGEST]
    return f"\x1b]9;{''.join(char for char in text if char.isprintable())}\x07"


async def show_on_desktop(notice: Notification) -> str:
    """Let the desktop show a notice; return what went wrong, in words."""
    program = shutil.which("notify-send")
    if program is None:
        return "notify-send is not there: the desktop can't be told"
    words = visible_line(notice.words)[:LONGEST]
    return await _run([program, "--app-name=Signalbox", "--", notice.title, words], {})


async def run_quietly(command: str, notice: Notification) -> str:
    """Run the person's command with a notice in its environment; return what went wrong, in words."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        return f"the command for notices can't be read: {error}"
    return await _run(words, notice.fields) if words else "the command for notices is empty"


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
    return "" if status == 0 else f"{words[0]} ended with status {status}"


def _value(text: str) -> str:
    """Return what can stand in an environment."""
    return text[:LONGEST_FIELD].replace("\0", "").encode("utf-8", "replace").decode()
