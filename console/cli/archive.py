"""`signalbox archive`: show what would be archived, ask, and archive it."""

from __future__ import annotations

import argparse
import sys
import time
from typing import Annotated

import msgspec

from console.cli.document import JsonOutput
from console.cli.loading import Loaded, loaded_for_listing
from console.cli.options import mailbox_options
from console.cli.plain import put
from console.cli.progress import ProgressLine, is_terminal
from console.cli.settings import settings
from console.cli.terminal_io import warn
from console.errors import Refused, UsedWrongly
from console.render.safe import visible_line
from console.words.archive_report import plan_lines, report_line
from mailstore.rules.archive_plan import ArchivePlan, ArchiveReport, Reason
from mailstore.rules.retention import KEEP, Retention
from mailstore.store import Capability
from mailstore.writing.archiving import archive, plan_for


class StayRow(msgspec.Struct, frozen=True):
    """Messages that are kept for one reason."""

    reason: Annotated[Reason, "Why they are kept."]
    messages: Annotated[int, "How many they are."]
    by: Annotated[dict[str, int], "How many for each recipient; empty if the reason concerns no recipients."]


class WriterRow(msgspec.Struct, frozen=True):
    """A program that has a mailbox file open, and may write to it after an archival."""

    program: Annotated[str, "Its name."]
    pid: Annotated[int, "Its process id."]
    file: Annotated[str, "The file that it has open."]


class ArchiveRow(msgspec.Struct, frozen=True):
    """What an archival did, or would do with `--dry-run`."""

    archived: Annotated[int, "How many messages were moved to the archive."]
    kept: Annotated[int, "How many stay in the mailbox."]
    files: Annotated[list[str], "The archive's files that were written, from the mailbox's folder."]
    months: Annotated[dict[str, int], "How many messages were planned for the archive, by month (2026-03)."]
    stays: Annotated[
        list[StayRow], "What was planned to stay, by reason; a thread that got new mail meanwhile stays too."
    ]
    dry_run: Annotated[bool, "Whether nothing was written."]
    run: Annotated[str | None, "The name of the run in the journal; null where nothing was moved."]
    mended: Annotated[list[str], "What an interrupted run had left to be repaired."]
    writers: Annotated[list[WriterRow], "Programs that may still write to the mailbox's files."]


REPORT = JsonOutput(ArchiveRow)
OUTPUTS = (REPORT,)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="Show the plan without archiving")
    parser.add_argument("--keep", type=int, metavar="N", help="Keep the newest N messages (default: 200)")
    parser.add_argument("--keep-days", type=float, metavar="N", help="Keep messages of the last N days")
    parser.add_argument("--yes", action="store_true", help="Archive without asking")
    mailbox_options(parser)


def run(args: argparse.Namespace) -> int:
    """Plan, ask, and archive."""
    if args.keep is not None and args.keep < 0:
        raise UsedWrongly(f"--keep {args.keep} is negative", "use 0 to keep only what must stay", "E101")
    if args.keep_days is not None and not args.keep_days >= 0:
        raise UsedWrongly(f"--keep-days {args.keep_days:g} is out of range", "use 0 or more", "E102")
    if not (args.yes or args.dry_run or is_terminal(sys.stdin)):
        raise UsedWrongly(
            "no terminal to ask for confirmation",
            "use --yes to archive without asking, or --dry-run to see the plan",
            "E103",
        )
    with loaded_for_listing(args) as mail:
        plan = plan_for(mail.store, mail.mailbox, mail.now, _keep(args), _retention(args))
        if args.dry_run:
            _tell_plan(args, mail, plan)
            return 0
        if why := mail.store.capabilities.why_not(Capability.ARCHIVE):
            raise Refused(f"{mail.store.called()} can't archive", why, "E200")
        if plan.leaving and not args.yes and not _is_wanted(mail, plan):
            raise Refused("nothing was archived", "answer y to archive, or use --yes", "E201")
        report = archive(
            mail.store, plan, actor=mail.mailbox.user, clock=time.time, progress=ProgressLine(is_shown=plan.leaving > 0)
        )
        _tell_report(args, plan, report)
    return 0


def _keep(args: argparse.Namespace) -> int:
    if args.keep is not None:
        return int(args.keep)
    configured = settings(is_told=False).archive_keep
    return KEEP if configured is None else configured


def _retention(args: argparse.Namespace) -> Retention:
    if args.keep_days is not None:
        return Retention(days=args.keep_days)
    return settings(is_told=False).retention


def _is_wanted(mail: Loaded, plan: ArchivePlan) -> bool:
    """Show the plan and ask on standard error, so that standard output holds only the result."""
    for line in plan_lines(plan, mail.store.archive_file):
        print(visible_line(line), file=sys.stderr)
    print("Archive? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _tell_plan(args: argparse.Namespace, mail: Loaded, plan: ArchivePlan) -> None:
    if args.json:
        files = [mail.store.archive_file(month) for month in plan.months]
        REPORT.put(_row(plan, plan.leaving, plan.staying, files, is_dry=True))
    else:
        for line in plan_lines(plan, mail.store.archive_file):
            put(visible_line(line))


def _tell_report(args: argparse.Namespace, plan: ArchivePlan, report: ArchiveReport) -> None:
    if report.mended:
        warn("an interrupted archival was repaired first")
    if args.json:
        run = report.run if report.archived else None
        REPORT.put(_row(plan, report.archived, report.kept, list(report.files), run=run, mended=list(report.mended)))
    else:
        put(visible_line(report_line(plan, report)))


def _row(
    plan: ArchivePlan,
    archived: int,
    kept: int,
    files: list[str],
    *,
    is_dry: bool = False,
    run: str | None = None,
    mended: list[str] | None = None,
) -> ArchiveRow:
    return ArchiveRow(
        archived=archived,
        kept=kept,
        files=files,
        months=plan.months,
        writers=[WriterRow(writer.program, writer.pid, writer.file) for writer in plan.writers],
        stays=[StayRow(stay.reason, stay.messages, dict(stay.by)) for stay in plan.stays],
        dry_run=is_dry,
        run=run,
        mended=mended or [],
    )
