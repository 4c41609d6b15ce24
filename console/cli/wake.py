"""`signalbox wake --as ID -- COMMAND…`: run a command when mail arrives that should wake a sleeping agent."""

from __future__ import annotations

import argparse
import asyncio
import time
from contextlib import suppress
from pathlib import Path

from console.cli.following import news_of
from console.cli.loading import Loaded, known_agent, loaded
from console.cli.options import mailbox_options, reader_option
from console.cli.settings import settings
from console.cli.terminal_io import warn
from console.errors import Refused, UsedWrongly
from console.render.timestamps import iso_time
from console.unread_mail import keeps_reads, note_shown, shown_to, unread_mail
from console.wake_command import ENVIRONMENT, log_line
from console.wake_command import wake as wake_by
from mailstore.errors import reason_of
from mailstore.records.message import Message
from mailstore.rules.waking import WAKING_TYPES, is_dormant, waking_mail
from mailstore.store import Capability

COALESCE_SECONDS = 0.5
"""How long to collect mail before a wake, so that a burst wakes once."""
LOOK_SECONDS = 5.0
"""How often to check whether an agent with unread mail fell asleep."""
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 300.0
"""Seconds before a retry: after the first failure, doubled with each further one, and the maximum."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    reader_option(parser, "Agent to wake: a session id of the roster", required=True)
    usual = ",".join(WAKING_TYPES)
    parser.add_argument("--on", metavar="T,T", default=usual, help=f"Message types that wake it (default: {usual})")
    parser.add_argument("--once", action="store_true", help="Exit after the first successful wake")
    parser.add_argument("--log", type=Path, metavar="FILE", help="Log of wakes (default: in the state folder)")
    parser.add_argument("command", nargs="*", metavar="COMMAND", help="Command to run with its arguments, after --")
    mailbox_options(parser, json=False, at=False)
    parser.set_defaults(at=None)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = "\n".join(
        [
            "environment of the command:",
            *(f"  {name:18}  {words}" for name, words in ENVIRONMENT.items()),
        ]
    )


def run(args: argparse.Namespace) -> int:
    """Run the command once for each batch of mail that wakes the agent, until interrupted."""
    types = [word for word in (part.strip() for part in args.on.split(",")) if word]
    if not args.command:
        raise UsedWrongly("no command is given", "write it after --: signalbox wake --as ID -- COMMAND …")
    if not types:
        raise UsedWrongly("--on is empty", f"write --on {','.join(WAKING_TYPES)}")
    with loaded(args) as mail:
        if why := mail.store.capabilities.why_not(Capability.FOLLOW):
            raise Refused(f"{mail.store.called()} can't be followed", why)
        agent = known_agent(mail.mailbox, args.reader)
        asyncio.run(_Waker(args, mail, agent.session_id, types).work())
    return 0


class _Waker:
    """Wake one agent, one wake at a time; no message wakes it twice."""

    def __init__(self, args: argparse.Namespace, mail: Loaded, session_id: str, types: list[str]) -> None:
        self._mail = mail
        self._session_id = session_id
        self._types = types
        self._command: list[str] = args.command
        self._once: bool = args.once
        self._log: Path = args.log or _state_folder() / "wake.jsonl"
        self._stale_seconds = settings(is_told=False).stale_seconds
        self._told: set[str] = set()
        self._woken = shown_to(mail.store, session_id, "wake")
        """Mail that earlier runs woke for, where the mailbox records no reads."""
        self._came = asyncio.Event()

    async def work(self) -> None:
        following = asyncio.create_task(self._follow())
        try:
            pause = 0.0
            while True:
                if pause:
                    await asyncio.sleep(pause)
                woken = await self._wake_if_due()
                if woken and self._once:
                    return
                pause = 0.0 if woken is not False else min(max(FIRST_PAUSE, 2 * pause), LONGEST_PAUSE)
                if woken is None:
                    await self._until_something_comes(following)
        finally:
            following.cancel()
            with suppress(asyncio.CancelledError):
                await following

    async def _follow(self) -> None:
        async for _ in news_of(self._mail, time.time):
            self._came.set()

    async def _until_something_comes(self, following: asyncio.Task[None]) -> None:
        waiting = asyncio.create_task(self._came.wait())
        await asyncio.wait({waiting, following}, timeout=LOOK_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if following.done():
            following.result()  # raises what ended it
        if self._came.is_set():
            await asyncio.sleep(COALESCE_SECONDS)
        self._came.clear()

    async def _wake_if_due(self) -> bool | None:
        """Run the command if a wake is due; return whether it succeeded, None if none is due."""
        mailbox, now = self._mail.mailbox, time.time()
        agent = mailbox.roster.get(self._session_id)
        fresh = [it for it in await self._unread(now) if not (it.id in self._told or self._woken.holds(it.id))]
        if agent is None or not fresh or not is_dormant(agent, now, self._stale_seconds):
            return None
        status, seconds = await wake_by(self._command, self._mail.store.url, self._session_id, fresh)
        ids = [message.id for message in fresh]
        record = {
            "at": iso_time(now),
            "agent": self._session_id,
            "ids": ids,
            "status": status,
            "seconds": round(seconds, 3),
        }
        try:
            await asyncio.to_thread(log_line, self._log, record)
        except OSError as error:
            warn(f"{self._log} can't be written ({reason_of(error)})")
        if status:
            warn(f"{self._command[0]} exited with {status}: trying again later")
            return False
        self._told.update(ids)
        if not keeps_reads(self._mail.store, mailbox, self._session_id):
            await asyncio.to_thread(note_shown, self._mail.store, self._session_id, ids, "wake")
        return True

    async def _unread(self, now: float) -> list[Message]:
        store, mailbox = self._mail.store, self._mail.mailbox
        shown = None
        if not keeps_reads(store, mailbox, self._session_id):
            shown = await asyncio.to_thread(shown_to, store, self._session_id)
        return waking_mail(unread_mail(store, mailbox, self._session_id, now, shown), self._types)


def _state_folder() -> Path:
    from platformdirs import user_state_path

    return user_state_path("signalbox")
