"""`signalbox [open] [URL]`: the console."""

from __future__ import annotations

import gc
import os
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

from console.browser.place import is_in_browser, is_read_only
from console.cli.loading import moment_of, open_mailbox
from console.cli.settings import settings
from console.cli.terminal_io import warn
from console.errors import Refused, UsedWrongly
from console.running.process import SignalHandler, prepare
from console.settings.server_tables import use_config_file

if TYPE_CHECKING:
    import argparse

    from mailstore.store import Store

PLAINLY = {
    "observe": False,
    "plain": False,
    "theme": None,
    "reader": None,
    "store": None,
    "poll": False,
    "at": None,
    "log": None,
}
"""Defaults of the options; a test compares them with the parser's."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from console.cli.options import mailbox_options, reader_option

    parser.add_argument(
        "url", nargs="*", metavar="URL", help="Mailbox: KIND:PATH or a path; several as URL or LABEL=URL each"
    )
    parser.add_argument("--observe", action="store_true", help="Write nothing, not even read marks")
    parser.add_argument("--plain", action="store_true", help="Line mode, for screen readers and dumb terminals")
    parser.add_argument("--theme", metavar="NAME", help="Theme (see signalbox themes)")
    parser.add_argument(
        "--log", metavar="FILE", help="Log each command too, for a bug report; never the text of messages"
    )
    reader_option(parser, "Who you are in this mailbox (default: user)")
    mailbox_options(parser, json=False)


def open_plainly(url: list[str]) -> int:
    """Open the console with default options, without building a parser."""
    return run(cast("argparse.Namespace", SimpleNamespace(url=url, **PLAINLY)))


def run(args: argparse.Namespace) -> int:
    """Open the mailbox, then the console on it."""
    gc.disable()  # little garbage at startup; the application enables it again
    if args.url and args.store and args.url != [args.store]:
        raise UsedWrongly("both URL and --store are given", "use one of them", "E117")
    args.store = named_mailbox(args) or args.store
    use_config_file()
    configured = settings(is_told=False)
    with open_mailbox(args, configured) as store:
        moment = _moment(args)
        if args.plain or os.environ.get("TERM") == "dumb":
            return _plain(args, store)
        if not is_in_browser() and not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise Refused("the console needs a terminal", "use signalbox open --plain without one", "E234")
        prepare()
        from console.app import SignalboxApp
        from console.settings.config import log_file
        from console.settings.config_file import load_config

        config, problems = load_config()
        with ExitStack() as stack:
            state = None
            log: Path | None = log_file() if args.log is None else Path(args.log)
            if is_read_only():
                from console.browser.guest import guest_config, guest_state

                config, state, log = guest_config(config), stack.enter_context(guest_state()), None
            app = SignalboxApp(
                store,
                config,
                observe=args.observe or config.observe,
                user=args.reader or config.user,
                theme=args.theme,
                state=state,
                problems=problems,
                moment=moment,
                log=log,
                logs_commands=args.log is not None,
            )
            return stack.enter_context(SignalHandler()).run(app)


def named_mailbox(args: argparse.Namespace) -> str:
    """Return the URL for the mailbox, or mailboxes, given as arguments; empty for none."""
    if len(args.url) < 2:
        return args.url[0] if args.url else ""
    from mailstore.several.store import named_together

    return named_together(args.url, poll=args.poll)


def _moment(args: argparse.Namespace) -> float | None:
    """Return the moment to show first, in seconds since the epoch; None for now."""
    if args.at is None:
        return None
    if args.plain:
        raise UsedWrongly(
            "--at is not available with --plain", "use signalbox threads --at or signalbox thread --at", "E118"
        )
    return moment_of("--at", args.at, time.time(), is_past=True)


def _plain(args: argparse.Namespace, store: Store) -> int:
    gc.enable()
    from console.plain.commands import run_plain
    from console.session import Session
    from console.settings.config_file import load_config
    from console.state.personal_state import PersonalState

    config, problems = load_config()
    for problem in problems:
        warn(problem)
    state = PersonalState()
    try:
        return run_plain(
            Session(store, state, config, user=args.reader or config.user, observe=args.observe or config.observe)
        )
    finally:
        state.close()
