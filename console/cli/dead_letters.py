"""`signalbox dead-letters`: list and settle mail that will stay unread unless the user acts."""

from __future__ import annotations

import argparse
import time
from functools import cache, partial

from console.cli.document import JsonOutput
from console.cli.loading import Loaded, find_message, loaded_for_listing
from console.cli.options import mailbox_options
from console.cli.person import require_person
from console.cli.plain import columns, put
from console.cli.settings import settings
from console.cli.settling_output import DeadLetterRow, SettledRow
from console.cli.terminal_io import warn
from console.errors import Refused, UsedWrongly
from console.render.safe import visible_line
from console.render.short_text import age
from console.render.timestamps import iso_time
from mailstore.queries.takeover import takers_for
from mailstore.records.message import Intervention
from mailstore.state.mailbox import Mailbox
from mailstore.state.views import DeadLetter
from mailstore.writing.settling import Done, Step, acknowledge, carry_out, redirect, resend, undo, undoable

DEAD_LETTERS = JsonOutput(list[DeadLetterRow], "list")
SETTLED = JsonOutput(list[SettledRow], "redirect", "resend", "acknowledge", "undo")
OUTPUTS = (DEAD_LETTERS, SETTLED)

ACTIONS = {
    "list": "List dead letters, one row for each recipient",
    "redirect": "Send messages to the recipient that --to names instead",
    "resend": "Send messages to their recipients again",
    "acknowledge": "Record that nothing needs to be done about messages",
    "undo": "Undo a change, by its record in the journal",
}

SETTLING = ("redirect", "resend", "acknowledge")
OPTIONS = {
    "to": ("redirect",),
    "ttl_hours": ("resend",),
    "note": ("acknowledge",),
    "recipient": SETTLING,
    "dry_run": (*SETTLING, "undo"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", nargs="?", choices=ACTIONS, default="list", help="What to do (default: list)")
    parser.add_argument("ids", nargs="*", metavar="ID", help="Message ids; for undo, a journal record")
    parser.add_argument("--to", metavar="ADDR", help="redirect: the new recipient")
    parser.add_argument("--recipient", metavar="NAME", help="Settle only messages to this recipient")
    parser.add_argument("--ttl-hours", type=int, metavar="N", help="resend: expire after N hours")
    parser.add_argument("--note", metavar="TEXT", help="acknowledge: a note for the journal")
    parser.add_argument("--dry-run", action="store_true", help="Show what would be written without writing it")
    mailbox_options(parser)


def run(args: argparse.Namespace) -> int:
    """List dead letters, or settle some."""
    _check(args)
    with loaded_for_listing(args) as mail:
        if args.action == "list":
            return _list(mail, as_json=args.json)
        if settings(is_told=False).to_user and not args.dry_run:
            require_person(mail.store.url)
        steps = _steps(args, mail)
        if args.dry_run:
            return _tell(args, steps, [])
        done, error = carry_out(mail.store, steps, actor=mail.mailbox.user, clock=time.time)
        _tell(args, steps, done)
        if error is not None:
            if done:
                warn(f"only {len(done)} of {len(steps)} were written")
            raise error
    return 0


def _check(args: argparse.Namespace) -> None:
    action = args.action
    if action == "list" and args.ids:
        raise UsedWrongly("list takes no ids", "use redirect, resend, acknowledge or undo", "E107")
    if action not in ("list", "undo") and not args.ids:
        raise UsedWrongly(
            f"{action} needs at least one message id", f"write signalbox dead-letters {action} ID …", "E108"
        )
    if action == "redirect" and not args.to:
        raise UsedWrongly("redirect needs --to", "name the new recipient: --to ADDR", "E109")
    for option, takes in OPTIONS.items():
        given = getattr(args, option)
        if given is not None and given is not False and action not in takes:
            flag = f"--{option.replace('_', '-')}"
            raise UsedWrongly(f"{flag} can't be used with {action}", f"use it with {' or '.join(takes)}", "E110")


def _steps(args: argparse.Namespace, mail: Loaded) -> list[Step]:
    mailbox, now = mail.mailbox, mail.now
    if args.action == "undo":
        deeds = undoable(mailbox)
        if args.ids:
            chosen = [_deed(mailbox, typed) for typed in dict.fromkeys(args.ids)]
        elif not deeds:
            raise Refused("nothing to undo", "signalbox dead-letters lists what is not settled yet", "E190")
        else:
            chosen = deeds[:1]
        return [step for deed in chosen for step in undo(mailbox, deed, now)]
    messages = _dead_letters(args, mail)
    if args.action == "redirect":
        return redirect(mailbox, messages, args.to, now, read_body=mail.store.content)
    if args.action == "resend":
        return resend(mailbox, messages, args.ttl_hours, now, read_body=mail.store.content)
    return acknowledge(messages, args.note or "")


def _deed(mailbox: Mailbox, typed: str) -> Intervention:
    """Return the journal record with this id, or with this unique start of an id. Raises Refused."""
    every = mailbox.interventions()
    interventions = [intervention for intervention in every if intervention.id == typed] or [
        intervention for intervention in every if typed and intervention.id.startswith(typed)
    ]
    if not interventions:
        raise Refused(f'no journal record with id "{typed}"', "signalbox dead-letters undo takes the newest", "E187")
    if len(interventions) > 1:
        raise Refused(f'"{typed}" matches {len(interventions)} records', "type more of the id", "E188")
    return interventions[0]


def _dead_letters(args: argparse.Namespace, mail: Loaded) -> list[DeadLetter]:
    """Return the dead letters of the given messages. Raises Refused for a message that is not a dead letter."""
    every = mail.mailbox.dead_letters(mail.now)
    dead_letters: dict[tuple[str, str], DeadLetter] = {}
    for typed in args.ids:
        message = find_message(mail.mailbox, typed)
        mine = [
            dead_letter
            for dead_letter in every
            if dead_letter.message.id == message.id and args.recipient in (None, dead_letter.recipient)
        ]
        if not mine:
            whom = f" for {args.recipient}" if args.recipient else ""
            raise Refused(f"{message.id} is not a dead letter{whom}", "signalbox dead-letters lists them", "E189")
        dead_letters.update(((dead_letter.message.id, dead_letter.recipient), dead_letter) for dead_letter in mine)
    return list(dead_letters.values())


def _tell(args: argparse.Namespace, steps: list[Step], done: list[Done]) -> int:
    written: list[Done | None] = [*done]
    if args.dry_run:
        written = [None] * len(steps)
    rows = [_row(step, deed) for step, deed in zip(steps, written, strict=False)]
    if args.json:
        SETTLED.put(rows)
    else:
        for step, row in zip(steps, rows, strict=False):
            put(visible_line(("would " if args.dry_run else "") + step.words + (f": {row.sent}" if row.sent else "")))
    return 0


def _row(step: Step, done: Done | None) -> SettledRow:
    return SettledRow(
        action=step.action,
        message_id=step.message_id,
        recipient=step.recipient,
        sent=done.sent.id if done is not None and done.sent is not None else None,
        intervention_id=done.intervention.id if done is not None and done.intervention is not None else None,
    )


def _list(mail: Loaded, *, as_json: bool) -> int:
    """Print one row per message and recipient, the newest first."""
    dead_letters = mail.mailbox.dead_letters(mail.now)
    found = cache(partial(takers_for, mail.mailbox))

    def takers_of(dead_letter: DeadLetter) -> list[str]:
        return [name for name in found(dead_letter.recipient) if name != dead_letter.message.sender]

    if as_json:
        DEAD_LETTERS.put(
            [
                DeadLetterRow(
                    message_id=dead_letter.message.id,
                    recipient=dead_letter.recipient,
                    state=dead_letter.state,
                    since=iso_time(dead_letter.since),
                    sender=dead_letter.message.sender,
                    subject=dead_letter.message.subject,
                    reason=dead_letter.reason,
                    takers=takers_of(dead_letter),
                )
                for dead_letter in dead_letters
            ]
        )
    elif dead_letters:
        cells = [
            (
                dead_letter.state.value,
                "" if dead_letter.since is None else age(mail.now - dead_letter.since),
                dead_letter.message.id,
                dead_letter.recipient,
                dead_letter.message.sender,
                dead_letter.message.subject,
                dead_letter.reason,
                ", ".join(takers_of(dead_letter)),
            )
            for dead_letter in dead_letters
        ]
        put(columns(cells, ("state", "since", "message", "recipient", "sender", "subject", "why", "could take over")))
    else:
        put("No dead letters")
    return 0
