"""Describe an archival: the plan before it, the report after it."""

from __future__ import annotations

from collections.abc import Callable

from console.render.short_text import size_words
from mailstore.rules.archive_plan import ArchivePlan, ArchiveReport, Reason, Staying

NAMED = 3


def plan_lines(plan: ArchivePlan, file_of: Callable[[str], str]) -> list[str]:
    """Return what would be archived to which files, and what would be kept and why, as lines."""
    size = f", {size_words(plan.size)}" if plan.size else ""
    threads = f" in {len(plan.threads)} thread{'s' * (len(plan.threads) != 1)}" if plan.leaving else ""
    lines = [f"{_messages(plan.leaving)} to archive{threads}{size}"]
    width = max((len(f"{number:,}") for number in _numbers(plan)), default=0)
    lines += [f"  {number:>{width},}  {file_of(month)}" for month, number in plan.months.items()]
    lines.append(f"{_messages(plan.staying)} to keep")
    lines += [f"  {stay.messages:>{width},}  {stay_words(stay, plan)}" for stay in plan.stays]
    return [*lines, *writer_lines(plan)]


def writer_lines(plan: ArchivePlan) -> list[str]:
    """Return the programs that may write late, as lines; empty if none is known."""
    if not plan.writers:
        return []
    number = len({writer.pid for writer in plan.writers})
    have = "1 program has" if number == 1 else f"{number:,} programs have"
    head = f"{have} the mailbox open for writing; mail it writes late is picked up by the next command that writes"
    return [head, *(f"  {writer.program} (process {writer.pid}): {writer.file}" for writer in plan.writers)]


def stay_words(stay: Staying, plan: ArchivePlan) -> str:
    """Return why messages are kept, and for whom."""
    rules = {
        Reason.NEWEST: f"{stay.reason} {plan.keep:,}",
        Reason.RETAINED: f"{stay.reason}: {plan.retention.words}",
        Reason.UNTIMED: "time unreadable",
        Reason.GLUED: "on the same line as another",
        Reason.THREAD: "thread still active",
    }
    words = rules.get(stay.reason, stay.reason.value)
    if not stay.by:
        return words
    names = [f"{name} {number:,}" for name, number in stay.by[:NAMED]]
    more = f", {len(stay.by) - NAMED} more" if len(stay.by) > NAMED else ""
    return f"{words}: {', '.join(names)}{more}"


def report_line(plan: ArchivePlan, report: ArchiveReport) -> str:
    """Return the result of an archival, in one line."""
    if report.is_cancelled:
        return "Cancelled: nothing was archived"
    if not report.archived:
        return f"Nothing was archived: {_messages(report.kept)} kept"
    held = plan.leaving - report.archived
    words = f"{_messages(report.archived)} archived to {', '.join(report.files)} · {report.kept:,} kept"
    return (
        f"{words} · {held:,} planned but kept: new mail in the thread, or a line that can't be moved" if held else words
    )


def _numbers(plan: ArchivePlan) -> list[int]:
    return [*plan.months.values(), *(stay.messages for stay in plan.stays)]


def _messages(number: int) -> str:
    return f"{number:,} message{'s' * (number != 1)}"
