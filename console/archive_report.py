"""An archival in words: the plan before it, the report after it."""

from __future__ import annotations

from collections.abc import Callable

from mailstore.rules.archive_plan import ArchivePlan, ArchiveReport, Reason, Staying

__all__ = ["plan_lines", "report_line", "stay_words", "writer_lines"]

NAMED = 3
UNITS = ("bytes", "KiB", "MiB", "GiB")


def plan_lines(plan: ArchivePlan, file_of: Callable[[str], str]) -> list[str]:
    """Return what leaves, to which files, and what stays and why; a line each."""
    size = f", {_size(plan.size)}" if plan.size else ""
    threads = f" in {len(plan.threads)} thread{'s' * (len(plan.threads) != 1)}" if plan.leaving else ""
    lines = [f"{_messages(plan.leaving)} leave{'s' * (plan.leaving == 1)} for the archive{threads}{size}"]
    width = max((len(f"{number:,}") for number in _numbers(plan)), default=0)
    lines += [f"  {number:>{width},}  {file_of(month)}" for month, number in plan.months.items()]
    lines.append(f"{_messages(plan.staying)} stay{'s' * (plan.staying == 1)}")
    lines += [f"  {stay.messages:>{width},}  {stay_words(stay, plan)}" for stay in plan.stays]
    return [*lines, *writer_lines(plan)]


def writer_lines(plan: ArchivePlan) -> list[str]:
    """Return which programs may write late, and what becomes of it; no line where none is known."""
    if not plan.writers:
        return []
    number = len({it.pid for it in plan.writers})
    have = "1 program has" if number == 1 else f"{number:,} programs have"
    head = f"{have} the mailbox open for writing; later mail of theirs is taken in by the next command that writes"
    return [head, *(f"  {it.program} (process {it.pid}): {it.file}" for it in plan.writers)]


def stay_words(stay: Staying, plan: ArchivePlan) -> str:
    """Return why messages stay, and for whom."""
    rules = {Reason.NEWEST: f"{stay.reason} {plan.keep:,}", Reason.RETAINED: f"{stay.reason}: {plan.retention.words}"}
    words = rules.get(stay.reason, stay.reason.value)
    if not stay.by:
        return words
    names = [f"{name} {number:,}" for name, number in stay.by[:NAMED]]
    more = f", {len(stay.by) - NAMED} more" if len(stay.by) > NAMED else ""
    return f"{words}: {', '.join(names)}{more}"


def report_line(plan: ArchivePlan, report: ArchiveReport) -> str:
    """Return what was done."""
    if report.is_cancelled:
        return "cancelled: nothing was archived"
    if not report.archived:
        return f"nothing was archived: {_messages(report.kept)} stay"
    held = plan.leaving - report.archived
    words = f"{_messages(report.archived)} archived to {', '.join(report.files)} · {report.kept:,} kept"
    return f"{words} · {held:,} of the plan stayed: a thread got new mail, or a line can't be moved" if held else words


def _numbers(plan: ArchivePlan) -> list[int]:
    return [*plan.months.values(), *(stay.messages for stay in plan.stays)]


def _messages(number: int) -> str:
    return f"{number:,} message{'s' * (number != 1)}"


def _size(size: float) -> str:
    unit = 0
    while size >= 1024 and unit < len(UNITS) - 1:
        size, unit = size / 1024, unit + 1
    return f"{size:,.0f} {UNITS[unit]}" if not unit else f"{size:,.1f} {UNITS[unit]}"
