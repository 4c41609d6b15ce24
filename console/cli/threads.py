"""`signalbox threads`: list the threads of a view, the newest first."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import get_args

from console.cli.document import JsonOutput
from console.cli.loading import Loaded, loaded_for_listing, unread_of_agent
from console.cli.options import mailbox_options, reader_option
from console.cli.output import ThreadRow
from console.cli.plain import columns, put
from console.cli.settings import settings
from console.errors import Refused, UsedWrongly
from console.render.short_text import age
from mailstore.records.address import channels_named
from mailstore.records.protocol import TAG_NAMESPACES
from mailstore.state.views import OWN_KINDS, View, ViewKind

ROWS = JsonOutput(list[ThreadRow])
OUTPUTS = (ROWS,)

PLAIN_VIEWS = tuple(
    kind
    for kind in get_args(ViewKind)
    if kind not in OWN_KINDS | {"channel", "agent", "role", "type", "saved", "store"}
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--view",
        metavar="VIEW",
        default="all",
        help=f"{', '.join(PLAIN_VIEWS)}, #CHANNEL, a tag, agent:ID, role:NAME or type:TYPE (default: all)",
    )
    reader_option(parser, "Count unread mail of this agent instead of mail new to you")
    mailbox_options(parser)


def run(args: argparse.Namespace) -> int:
    """Print one row per thread."""
    with loaded_for_listing(args, with_seen=True) as mail:
        view = _view(args.view, mail)
        unread = unread_of_agent(args, mail, lambda message: [mail.mailbox.root_of(message.id)])
        rows, ages = [], []
        for root in _roots(mail, view):
            thread_summary = mail.mailbox.summary(root)
            rows.append(
                ThreadRow(
                    root=root,
                    subject=thread_summary.subject,
                    participants=thread_summary.participants,
                    messages=thread_summary.messages,
                    unread=thread_summary.unseen if unread is None else unread[root],
                    last_timestamp=thread_summary.last_timestamp,
                    cancelled=thread_summary.cancelled,
                )
            )
            ages.append(age(mail.now - thread_summary.last_time))
    if args.json:
        ROWS.put(rows)
    elif rows:
        cells = [
            (
                when,
                str(row.unread or ""),
                str(row.messages),
                row.root,
                f"{row.subject}{_cancelled(row.cancelled)}",
                ", ".join(row.participants),
            )
            for row, when in zip(rows, ages, strict=True)
        ]
        put(columns(cells, ("age", "unread", "messages", "thread", "subject", "participants")))
    else:
        put("No threads")
    return 0


def _cancelled(tasks: int) -> str:
    return f" ({tasks} task{'s' * (tasks != 1)} cancelled)" if tasks else ""


def _roots(mail: Loaded, view: View) -> Sequence[str]:
    if view.kind == "recent":
        return mail.mailbox.recent(settings(is_told=False).retention, mail.now)
    return mail.mailbox.threads(view)


def _view(text: str, mail: Loaded) -> View:
    for kind in PLAIN_VIEWS:
        if text == kind:
            return View(kind)
    namespace, _, rest = text.partition(":")
    if namespace == "agent" and rest:
        agent = mail.mailbox.roster.find(rest)
        return View("agent", agent[0].session_id if agent else rest)
    if namespace in ("role", "type") and rest:
        return View("role" if namespace == "role" else "type", rest)
    if namespace in TAG_NAMESPACES and rest:
        return View("channel", text)
    if not text.startswith("#"):
        raise UsedWrongly(
            f'unknown view "{text}"',
            f"use {', '.join(PLAIN_VIEWS)}, #CHANNEL, agent:ID, role:NAME or type:TYPE",
            "E135",
        )
    tags = channels_named(text, [channel.tag for channel in mail.mailbox.channels()])
    if not tags:
        raise Refused(f"unknown channel {text}", "write the full tag (signalbox channels lists them)", "E161")
    if len(tags) > 1:
        named = " or ".join(tags)
        raise Refused(f"{text} is ambiguous ({named})", "write the full tag (signalbox channels lists them)", "E160")
    return View("channel", tags[0])
