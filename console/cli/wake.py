"""`signalbox wake --as ID [-- COMMAND…]`: wake a sleeping agent when mail arrives that should."""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from console.cli.following import news_of
from console.cli.loading import Loaded, known_agent, loaded
from console.cli.options import mailbox_options, reader_option
from console.cli.settings import settings
from console.cli.terminal_io import run_loop, warn
from console.errors import Refused, UsedWrongly
from console.hooks.sessions.hooked_agents import LiveHook
from console.hooks.sessions.live import live_hooks
from console.hooks.waking.limits import PAIR_SECONDS
from console.hooks.waking.ringing import log_line, wake_for, wake_log
from console.hooks.waking.wake_command import ENVIRONMENT
from console.hooks.waking.wake_command import wake as wake_by
from console.hooks.waking.wake_session import hears_by_itself
from console.render.timestamps import iso_time
from console.state.unread_mail import keeps_reads, note_shown, shown_to, unread_mail
from mailstore.errors import reason_of
from mailstore.records.message import Message
from mailstore.rules.presence import WAKING_TYPES, is_dormant, waking_mail
from mailstore.store import Capability
from mailstore.writing.policy import is_the_user

COALESCE_SECONDS = 0.5
"""How long to collect mail before a wake, so that a burst wakes once."""
LOOK_SECONDS = 5.0
"""How often to check whether an agent with unread mail fell asleep."""
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 300.0
"""Seconds before a retry: after the first failure, doubled with each further one, and the maximum."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    reader_option(parser, "Agent to wake: a session id of the roster", required=True)
    usual = ",".join(WAKING_TYPES)
    parser.add_argument("--on", metavar="T,T", default=usual, help=f"Message types that wake it (default: {usual})")
    parser.add_argument("--once", action="store_true", help="Exit after the first successful wake")
    parser.add_argument("--log", type=Path, metavar="FILE", help="Log of wakes (default: in the state folder)")
    parser.add_argument(
        "command",
        nargs="*",
        metavar="COMMAND",
        help="Command to run with its arguments, after -- (default: wake the agent through its program, "
        "if its hooks are installed with --wake; else the command of the settings)",
    )
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
    """Wake once for each batch of mail that wakes the agent, until interrupted."""
    types = [word for word in (part.strip() for part in args.on.split(",")) if word]
    if not types:
        raise UsedWrongly("--on is empty", f"write --on {','.join(WAKING_TYPES)}", "E137")
    with loaded(args) as mail:
        if why := mail.store.capabilities.why_not(Capability.FOLLOW):
            raise Refused(f"{mail.store.called()} can't be followed", why, "E207")
        agent = known_agent(mail.mailbox, args.reader)
        waker = _Waker(args, mail, agent.session_id, types)
        if not waker.has_way():
            raise UsedWrongly(
                f"{agent.session_id} can't be woken",
                "install its hooks with --wake, or give a command: signalbox wake --as ID -- COMMAND …",
                "E218",
            )
        run_loop(waker.work())
    return 0


class _Waker:
    """Wake one agent, one wake at a time; no message wakes it twice."""

    def __init__(self, args: argparse.Namespace, mail: Loaded, session_id: str, types: list[str]) -> None:
        self._mail = mail
        self._session_id = session_id
        self._types = types
        configured = settings(is_told=False)
        self._command: Sequence[str] = args.command or configured.wake_command
        self._rings = not args.command
        self._once: bool = args.once
        self._log: Path = args.log or wake_log()
        self._stale_seconds = configured.stale_seconds
        self._told: set[str] = set()
        self._woken = shown_to(mail.store, session_id, "wake")
        """Mail that earlier runs woke for, where the mailbox records no reads."""
        self._came = asyncio.Event()

    def has_way(self) -> bool:
        """Return whether there is a command, or the agent's program can be woken now. Blocks."""
        hook = self._hook(time.time())
        return bool(self._command) or (hook is not None and hook.can_be_woken)

    def _hook(self, now: float) -> LiveHook | None:
        """Return the session that is woken through its program, if there is one; blocks."""
        hook = live_hooks(self._mail.store.url, now).get(self._session_id) if self._rings else None
        return hook if hook is not None and hook.can_be_woken else None

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
        """Wake the agent if that is due; return whether it succeeded, None if none is due."""
        mailbox, now = self._mail.mailbox, time.time()
        agent = mailbox.roster.get(self._session_id)
        fresh = [
            message
            for message in await self._unread(now)
            if not (message.id in self._told or self._woken.holds(message.id))
        ]
        if agent is None or not fresh:
            return None
        if (hook := await asyncio.to_thread(self._hook, now)) is not None:
            return await self._ring(hook, fresh, now)
        if not self._command or not is_dormant(agent, now, self._stale_seconds):
            return None
        return await self._run(fresh, now)

    async def _ring(self, hook: LiveHook, fresh: list[Message], now: float) -> bool | None:
        """Wake the session through its program, unless it works, or its program has woken it already."""
        if hears_by_itself(hook):
            fresh = [message for message in fresh if now - message.time > PAIR_SECONDS]
        if not fresh or not hook.is_idle:
            return None
        people = {one.sender for one in fresh if is_the_user(one.sender, self._mail.mailbox)}
        done = await asyncio.to_thread(wake_for, self._session_id, hook, fresh, now, people, self._log)
        if done is None:
            return None
        if done.problem:
            warn(f"{done.problem}: trying again later")
            return False
        await self._note(done.ids)
        return True

    async def _run(self, fresh: list[Message], now: float) -> bool:
        """Run the command."""
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
        await self._note(ids)
        return True

    async def _note(self, ids: Sequence[str]) -> None:
        """Note that the agent was woken for some messages."""
        self._told.update(ids)
        if not keeps_reads(self._mail.store, self._mail.mailbox, self._session_id):
            await asyncio.to_thread(note_shown, self._mail.store, self._session_id, ids, "wake")

    async def _unread(self, now: float) -> list[Message]:
        store, mailbox = self._mail.store, self._mail.mailbox
        shown = None
        if not keeps_reads(store, mailbox, self._session_id):
            shown = await asyncio.to_thread(shown_to, store, self._session_id)
        return waking_mail(unread_mail(store, mailbox, self._session_id, now, shown), self._types)
