"""What `doctor` says about the mirrors of a mailbox."""

from __future__ import annotations

import msgspec

from console.cli.setup_output import MirrorRow
from console.render.timestamps import iso_time
from mailstore.mirroring.mirror_report import MirrorStatus
from mailstore.mirroring.mirror_state import statuses_of


def mirror_rows(url: str) -> list[MirrorRow]:
    """Return the mirrors of a mailbox, as their last status says."""
    return [_row(url, status, is_running=is_running) for status, is_running in statuses_of(url)]


def _row(url: str, status: MirrorStatus, *, is_running: bool) -> MirrorRow:
    first, second = status.ends
    is_first = first.url == url
    cut_off = next((end for end in status.ends if end.cut_off is not None), None)
    return MirrorRow(
        other=second.url if is_first else first.url,
        direction="both" if status.is_both else "to" if is_first else "from",
        is_running=is_running,
        equal_at=iso_time(status.equal_at),
        cut_off=iso_time(cut_off.cut_off) if cut_off else None,
        why=f"{cut_off.url}: {cut_off.reason}" if cut_off else "",
        pending=sum(end.pending for end in status.ends),
        written=sum(sum(msgspec.structs.astuple(end.written)) for end in status.ends),
        lost=sum(loss.number for loss in status.losses),
        lost_why=[f"{loss.number:,} {loss.what}" + (f": {loss.after}" if loss.after else "") for loss in status.losses],
        conflicts=status.conflict_number,
    )


ARROWS = {"both": "⇄", "to": "→", "from": "←"}


def mirror_words(row: MirrorRow) -> str:
    """Return a mirror as a line."""
    parts = ["running" if row.is_running else "not running"]
    parts.append(f"last equal {row.equal_at}" if row.equal_at else "never equal yet")
    parts.append(f"{row.written:,} records written")
    parts += [f"{row.pending:,} waiting"] if row.pending else []
    parts += [f"{row.lost:,} could not be mirrored ({'; '.join(row.lost_why)})"] if row.lost else []
    parts += [f"{row.conflicts:,} id conflict{'s' * (row.conflicts != 1)}"] if row.conflicts else []
    parts += [f"cut off since {row.cut_off} ({row.why})"] if row.cut_off else []
    return f"mirror {ARROWS[row.direction]} {row.other}: {', '.join(parts)}"
