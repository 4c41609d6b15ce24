"""Notifies the user of arrivals and of new dead letters."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from html import escape
from time import monotonic
from typing import Any, Protocol

from textual.notifications import SeverityLevel

from console.notifications.rules import (
    DeliveryMethod,
    Notification,
    Occasion,
    delivery_methods,
    group_notifications,
    occasion_of,
)
from console.render.safe import visible_line
from console.running.workers import RunsWorkers, start_worker
from console.session import Session
from console.settings.config import Config
from mailstore.errors import reason_of
from mailstore.records.message import Message
from mailstore.rules.presence import Working
from mailstore.state.mailbox import Mailbox

COALESCE_SECONDS = 0.5
"""How long arrivals are collected before the user is notified of them together."""
MANY, MANY_SECONDS = 10, 3.0
"""After a notification of more than so many the next comes so long afterwards: nobody reads two a second."""
TOAST_SECONDS = 6
MINUTE = 60.0
RUN_SECONDS = 20
LONGEST_NOTICE = 200
LONGEST_FIELD = 4000
"""Characters of a field: the size of an environment is limited."""
SCRIPT = ("on run argv", "display notification (item 2 of argv) with title (item 1 of argv)", "end run")
ON_MACOS = tuple(word for line in SCRIPT for word in ("-e", line))
"""What is shown comes as arguments, never as text of the script."""


class NotifyingApp(RunsWorkers, Protocol):
    """What a notifier needs of the application."""

    def notify(
        self, message: str, *, title: str = "", severity: SeverityLevel = "information", timeout: float | None = None
    ) -> None:
        """Show a notification on the screen, for so many seconds."""

    def bell(self) -> None:
        """Ring the terminal's bell."""

    def write_to_terminal(self, text: str) -> None:
        """Write an escape sequence to the terminal."""

    def set_timer(self, delay: float, callback: Callable[[], None]) -> Any:
        """Call back after so many seconds."""


class Notifier:
    """Collects what happened, and notifies the user of it once for each kind of occasion."""

    def __init__(self, app: NotifyingApp, session: Session) -> None:
        self._app = app
        self._session = session
        self._pending: list[tuple[Occasion, Message]] = []
        self._rests_until = float("-inf")
        self._known_dead: set[tuple[str, str]] = set()
        self._dead: int | None = None
        self._waiting: dict[tuple[str, float], float] | None = None
        """The agents that wait for a permission, with since when, and when the user was notified of it last."""

    def start_from(self, mailbox: Mailbox) -> None:
        """Take the dead letters of a mailbox as known."""
        self._known_dead.update(mailbox.deaths())
        self._dead = mailbox.counts().dead

    def note(self, arrived: Sequence[Message] = ()) -> None:
        """Note messages that arrived, and dead letters that are new since the last call."""
        mailbox = self._session.live
        occasions = ((occasion_of(message, mailbox, self._session.personal.joined), message) for message in arrived)
        noted = [(occasion, message) for occasion, message in occasions if occasion is not None]
        if (number := mailbox.counts().dead) != self._dead:
            fresh = [key for key in mailbox.deaths() if key not in self._known_dead]
            self._known_dead.update(fresh)
            if self._dead is not None:
                noted += [(Occasion.DEAD_LETTER, message) for key, _ in fresh if (message := mailbox.message(key))]
            self._dead = number
        self._add(noted)

    def note_waiting(self) -> None:
        """Note which agents with hooks wait for a permission: those that didn't, and those that still do.

        Those that did at the first call are shown already.
        """
        session, now = self._session, self._session.clock()
        again = session.config.notifications.again_minutes * MINUTE
        before, self._waiting = self._waiting, {}
        known = {} if before is None else before
        due = []
        for name, hook in session.hooked.live.items():
            agent = session.live.roster.get(name)
            if agent is None or (presence := session.live_presence(agent)).state != Working.WAITING:
                continue
            key = name, presence.since or 0.0
            self._waiting[key] = since = known.get(key, now)
            is_again = again > 0 and now >= since + again
            if (before is not None and key not in known) or is_again:
                self._waiting[key] = now
                occasion = Occasion.PERMISSION_AGAIN if is_again else Occasion.PERMISSION
                due.append((occasion, Message("", name, (session.user,), "", now, presence.substate or hook.tool)))
        self._add(due)

    def _add(self, occasions: Sequence[tuple[Occasion, Message]]) -> None:
        if occasions and not self._pending:
            self._app.set_timer(max(COALESCE_SECONDS, self._rests_until - monotonic()), self._notify)
        self._pending += occasions

    def try_out(self, occasion: Occasion, config: Config) -> list[DeliveryMethod]:
        """Notify the user as of a message that came now; return the ways."""
        now, user = self._session.clock(), self._session.user
        sample = Message("sample", "signalbox", (user,), "", now, "A notification to try the settings")
        notification = Notification(occasion, 1, sample)
        ways = delivery_methods(notification, config.notifications, now, bell=config.bell)
        for way in ways:
            self._deliver(way, notification)
        return ways

    def _notify(self) -> None:
        pending, self._pending = self._pending, []
        if len(pending) > MANY:
            self._rests_until = monotonic() + MANY_SECONDS
        config, now = self._session.config, self._session.clock()
        for notification in group_notifications(pending):
            for method in delivery_methods(notification, config.notifications, now, bell=config.bell):
                self._deliver(method, notification)

    def _deliver(self, method: DeliveryMethod, notification: Notification) -> None:
        match method:
            case DeliveryMethod.TOAST:
                text = visible_line(notification.words)
                self._app.notify(text, title=notification.title, timeout=TOAST_SECONDS)
            case DeliveryMethod.BELL:
                self._app.bell()
            case DeliveryMethod.OSC9:
                self._app.write_to_terminal(osc9(notification))
            case DeliveryMethod.DESKTOP:
                self._run(partial(show_on_desktop, notification))
            case DeliveryMethod.COMMAND:
                self._run(partial(run_quietly, self._session.config.notifications.command, notification))

    def _run(self, deliver: Callable[[], Awaitable[str]]) -> None:
        start_worker(self._app, self._delivered(deliver), group="notifications")

    async def _delivered(self, deliver: Callable[[], Awaitable[str]]) -> None:
        if problem := await deliver():
            self._app.notify(problem, title="Notification", severity="warning")


def osc9(notice: Notification) -> str:
    """Return the escape by which terminals show a notification; nothing in it can end or begin another."""
    text = visible_line(f"{notice.title}: {notice.words}")[:LONGEST_NOTICE]
    return f"\x1b]9;{''.join(char for char in text if char.isprintable())}\x07"


async def show_on_desktop(notice: Notification) -> str:
    """Show a notification on the desktop; return what went wrong, empty for success."""
    words = visible_line(notice.words)[:LONGEST_NOTICE]
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
        return f"{words[0]} can't be run: {reason_of(error)}"
    try:
        async with asyncio.timeout(RUN_SECONDS):
            status = await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
        return f"{words[0]} was stopped after {RUN_SECONDS} s"
    return "" if status == 0 else f"{words[0]} exited with status {status}"


def _value(text: str) -> str:
    """Return a text that an environment variable can hold."""
    return text[:LONGEST_FIELD].replace("\0", "").encode("utf-8", "replace").decode()
