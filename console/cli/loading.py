"""Open and read the mailbox that a command's options name."""

from __future__ import annotations

import gc
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from console.cli.settings import Settings, seen_marks, settings
from console.cli.terminal_io import tell, warn
from console.errors import Refused, UsedWrongly
from mailstore.errors import StoreError
from mailstore.records.address import Kind, resolve
from mailstore.records.message import Message
from mailstore.records.roster import Agent
from mailstore.state.mailbox import Mailbox
from mailstore.store import Store

if TYPE_CHECKING:
    import argparse


class Loaded(NamedTuple):
    """A store, its mailbox, and the time at which the mailbox is shown (seconds since the epoch)."""

    store: Store
    mailbox: Mailbox
    now: float


def mailbox_url(given: str | None, configured: str) -> str:
    """Choose the mailbox: what was given, else SIGNALBOX_STORE, the settings, or the first one found."""
    if chosen := given or os.environ.get("SIGNALBOX_STORE") or configured:
        return chosen
    from mailstore.registry import mailbox_for

    return mailbox_for(Path.cwd())


def open_mailbox(args: argparse.Namespace, configured: Settings) -> Store:
    """Open the mailbox that the options name; raises StoreError."""
    from mailstore.registry import open_store

    return open_store(mailbox_url(args.store, configured.store), poll=args.poll or configured.poll)


def send_waiting(args: argparse.Namespace) -> None:
    """Send what an agent has written and what waits, where that is a step of its own; warn of problems."""
    with open_mailbox(args, settings(is_told=False)) as store:
        for problem in store.send_waiting(args.reader, tell):
            warn(str(problem))


@contextmanager
def loaded(args: argparse.Namespace, *, with_seen: bool = False, alone: bool = False) -> Iterator[Loaded]:
    """Open and read the mailbox that the options name, on request with what the user has seen.

    With `alone`, other processes that ask for the same wait until the block has ended.
    """
    configured = settings()
    with open_mailbox(args, configured) as store, _alone(store) if alone else nullcontext():
        now = time.time()
        mailbox = folded(store, configured, now, with_seen=with_seen)
        if store.notice:
            warn(store.notice)
        if args.at is None:
            yield Loaded(store, mailbox, now)
        else:
            yield _past(store, mailbox, moment_of("--at", args.at, now, is_past=True))


@contextmanager
def loaded_for_listing(args: argparse.Namespace, *, with_seen: bool = False) -> Iterator[Loaded]:
    """Open and read the mailbox for a command that lists what is there; then warn of records that can't be read."""
    with loaded(args, with_seen=with_seen) as mail:
        try:
            yield mail
        finally:
            if number := mail.mailbox.counts().unreadable:
                warn(
                    f"{f'{number:,} records' if number > 1 else '1 record'} can't be read: "
                    "signalbox doctor says which and why"
                )


def _alone(store: Store) -> AbstractContextManager[None]:
    from mailstore.writing.turns import one_at_a_time

    return one_at_a_time(store.url)


def folded(store: Store, configured: Settings, now: float, *, with_seen: bool) -> Mailbox:
    """Return the mailbox of an open store as it is now, on request with what the user has seen; raises StoreError."""
    from mailstore.folding import fold_store

    gc.disable()  # many small values and no garbage: collecting would take a tenth of the time
    try:
        mailbox = fold_store(store, configured.user, now)
        if mailbox.gone:
            raise StoreError(mailbox.gone, "try again later")
        if with_seen:
            mailbox.fold(seen_marks(store.url), now)
    finally:
        gc.enable()
    mailbox.advance(now)
    return mailbox


def _past(store: Store, mailbox: Mailbox, moment: float) -> Loaded:
    """Return the mailbox as it was at a past moment, read-only."""
    from mailstore.delegating import ReadOnly
    from mailstore.state.past import mailbox_at

    times = mailbox.times()
    if times and moment < times[0]:
        from console.render.timestamps import iso_time

        tell("the mailbox was empty then", f"the first message is from {iso_time(times[0])}")
    return Loaded(ReadOnly(store, "the past is read-only; drop --at"), mailbox_at(mailbox, moment), moment)


def moment_of(option: str, text: str, now: float, *, is_past: bool = False) -> float:
    """Parse the time given to an option; raises UsedWrongly, with `is_past` also for a time in the future."""
    from mailstore.queries.time_parse import EXAMPLES, read_moment

    moment = read_moment(text.strip(), now)
    if moment is None:
        raise UsedWrongly(f'can\'t read {option} "{text}" as a time', f"write {EXAMPLES}", "E156")
    if is_past and moment > now:
        raise UsedWrongly(f"{option} is in the future", "give a time in the past", "E157")
    return moment


def find_message(mailbox: Mailbox, typed: str) -> Message:
    """Return the message with this id, or with this unique start of an id; raises Refused."""
    messages = mailbox.find(typed)
    if not messages:
        raise Refused(f'no message with id "{typed}"', "signalbox threads and signalbox search show ids", "E158")
    if len(messages) > 1:
        raise Refused(f'"{typed}" matches {len(messages)} messages', "type more of the id", "E159")
    return messages[0]


def known_agent(mailbox: Mailbox, typed: str) -> Agent:
    """Return the agent with this session id, start of an id, or name; raises Refused."""
    agent = mailbox.roster.find(_labelled(mailbox, typed))
    if agent is None:
        from difflib import get_close_matches

        near = get_close_matches(typed, [agent.session_id for agent in mailbox.roster], n=1)
        hint = f"did you mean {near[0]}?" if near else "signalbox who lists agents"
        raise Refused(f'"{typed}" is not registered', hint, "E152")
    return agent[0]


def reader_name(mailbox: Mailbox, typed: str) -> str:
    """Resolve `--as` to a session id, or to the user; an unknown name stays as it is.

    Raises UsedWrongly for an empty name: a hook whose variable is unset must not look like an empty mailbox.
    """
    if not typed.strip():
        raise UsedWrongly("--as is empty", "give an agent id; in a hook, check that $SIGNALBOX_AGENT is set", "E153")
    if resolve(typed, mailbox.roster, mailbox.user).kind is Kind.USER:
        return "user"
    name = _labelled(mailbox, typed)
    agent = mailbox.roster.find(name)
    return agent[0].session_id if agent else name


def _labelled(mailbox: Mailbox, typed: str) -> str:
    """Return a session id with the label of its mailbox, among several mailboxes. Raises Refused where two have it."""
    labels = sorted(mailbox.mailboxes())
    names = [name for label in labels if mailbox.roster.get(name := f"{label}/{typed}") is not None]
    if len(names) > 1:
        raise Refused(f'"{typed}" is an agent of {len(names)} mailboxes', f"write {' or '.join(names)}", "E154")
    return names[0] if names else typed


def unread_of_agent(
    args: argparse.Namespace, mail: Loaded, keys: Callable[[Message], list[str]]
) -> Counter[str] | None:
    """Count an agent's unread mail by the keys of each message; None without `--as`."""
    if args.reader is None:
        return None
    from console.state.unread_mail import unread_mail  # the first frame needs none of it

    reader = reader_name(mail.mailbox, args.reader)
    return Counter(key for message in unread_mail(mail.store, mail.mailbox, reader, mail.now) for key in keys(message))
