"""From the options of a command to a mailbox that has been read."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from console.cli.problems import Refused, UsedWrongly
from console.cli.settings import Settings, seen_marks, settings
from console.cli.terminal_io import warn
from mailstore.errors import StoreError
from mailstore.records.address import Kind, resolve
from mailstore.records.message import Message
from mailstore.records.roster import Agent
from mailstore.state.mailbox import Mailbox
from mailstore.store import Store

if TYPE_CHECKING:
    import argparse

__all__ = ["Loaded", "find_message", "known_agent", "loaded", "mailbox_url", "moment_of", "open_mailbox", "reader_name"]


class Loaded(NamedTuple):
    """A store, all that it holds folded, and the moment for which that holds (seconds since the epoch)."""

    store: Store
    mailbox: Mailbox
    now: float


def mailbox_url(given: str | None, configured: str) -> str:
    """Choose the mailbox: what was given, else SIGNALBOX_STORE, the settings, or the first one found."""
    if chosen := given or os.environ.get("SIGNALBOX_STORE") or configured:
        return chosen
    from mailstore.registry import discover

    return discover(Path.cwd())


def open_mailbox(args: argparse.Namespace, configured: Settings) -> Store:
    """Open the mailbox that the options name; raises StoreError."""
    from mailstore.registry import open_store

    return open_store(mailbox_url(args.store, configured.store), poll=args.poll or configured.poll)


@contextmanager
def loaded(args: argparse.Namespace, *, with_seen: bool = False) -> Iterator[Loaded]:
    """Open and read the mailbox that the options name, and on demand what the person has seen of it."""
    from mailstore.folding import fold_store

    configured = settings()
    with open_mailbox(args, configured) as store:
        now = time.time()
        gc.disable()  # a mailbox is many small values and no garbage: collecting is a tenth of the load
        try:
            mailbox = fold_store(store, configured.user, now)
            if mailbox.gone:
                raise StoreError(mailbox.gone, "try again when it can be")
            if with_seen:
                mailbox.fold(seen_marks(store.url), now)
        finally:
            gc.enable()
        if store.notice:
            warn(store.notice)
        mailbox.advance(now)
        if args.at is None:
            yield Loaded(store, mailbox, now)
        else:
            yield _past(store, mailbox, moment_of("--at", args.at, now, is_past=True))


def _past(store: Store, mailbox: Mailbox, moment: float) -> Loaded:
    """Return the mailbox as it stood, to be looked at only."""
    from mailstore.read_only import ReadOnly
    from mailstore.state.past import mailbox_at

    times = mailbox.times()
    if times and moment < times[0]:
        from console.cli.plain import stamp
        from console.cli.terminal_io import tell

        tell("no mail was there yet", f"the first message came at {stamp(times[0])}")
    return Loaded(ReadOnly(store, "the past can't be changed: leave --at out"), mailbox_at(mailbox, moment), moment)


def moment_of(option: str, text: str, now: float, *, is_past: bool = False) -> float:
    """Read the time that an option was given; raises UsedWrongly, for one to come too where it must have been."""
    from mailstore.queries.time_parse import EXAMPLES, read_moment

    moment = read_moment(text.strip(), now)
    if moment is None:
        raise UsedWrongly(f"{option} {text!r} is no time", f"write {EXAMPLES}")
    if is_past and moment > now:
        raise UsedWrongly(f"{option} is in the future", "name a moment that has been")
    return moment


def find_message(mailbox: Mailbox, typed: str) -> Message:
    """Return the message whose id, or the only one whose id's beginning, was typed; raises Refused."""
    found = mailbox.find(typed)
    if not found:
        raise Refused(f"no message has the id {typed!r}", "signalbox threads and search show ids")
    if len(found) > 1:
        raise Refused(f"{len(found)} ids begin with {typed!r}", "type more of it")
    return found[0]


def known_agent(mailbox: Mailbox, typed: str) -> Agent:
    """Return the agent that a session id, the beginning of one, or a name stands for; raises Refused."""
    found = mailbox.roster.find(typed)
    if found is None:
        from difflib import get_close_matches

        near = get_close_matches(typed, [agent.session_id for agent in mailbox.roster], n=1)
        raise Refused(
            f"the roster does not know {typed!r}", f"did you mean {near[0]}?" if near else "see signalbox who"
        )
    return found[0]


def reader_name(mailbox: Mailbox, typed: str) -> str:
    """Return whose mail is meant: a session id, the one for which a prefix or a name stands, or the user.

    Raises UsedWrongly for nobody: a hook whose variable is not set must not seem to have found no mail.
    """
    if not typed.strip():
        raise UsedWrongly("--as names nobody", "write --as ID; a hook takes it from $SIGNALBOX_AGENT: is that set?")
    if resolve(typed, mailbox.roster, mailbox.user).kind is Kind.USER:
        return "user"
    found = mailbox.roster.find(typed)
    return found[0].session_id if found else typed
