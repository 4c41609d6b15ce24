"""What could not be mirrored, counted by field and by the mailbox it was meant for."""

from __future__ import annotations

from mailstore.encoding import encodable
from mailstore.mirroring.mirror_report import EXAMPLES, IdConflict, MirrorLoss
from mailstore.records.message import Message

SHOWN = 60


class MirrorLosses:
    """Each record once by field; conflicts of ids beside them."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, str], dict[str, tuple[str, str]]] = {}
        self.conflicts: dict[str, IdConflict] = {}

    def add(self, what: str, target: str, record: object, before: object, after: object) -> None:
        """Note that a field of a record, or a record, is not in the mailbox it was meant for."""
        self._found.setdefault((what, target, ""), {})[encodable(str(record))] = (_shown(before), _shown(after))

    def lost(self, what: str, target: str, record: str, before: str, why: str) -> None:
        """Note that a record is not in the mailbox it was meant for; those of one reason are counted together."""
        self._found.setdefault((what, target, why), {})[encodable(record)] = (_shown(before), _shown(why))

    def remove(self, what: str, target: str, record: str) -> None:
        """Forget a loss that was made good."""
        rows = self._found.get((what, target, ""), {})
        rows.pop(encodable(record), None)
        if not rows:
            self._found.pop((what, target, ""), None)

    def conflict(self, first: Message, second: Message) -> None:
        """Note that two messages claim one id."""
        self.conflicts[first.id] = IdConflict(encodable(first.id), _told(first), _told(second))

    def all(self) -> list[MirrorLoss]:
        """Return everything but the conflicts, in the order in which it was found."""
        return [
            MirrorLoss(what, target, len(rows), tuple(rows)[:EXAMPLES], *next(iter(rows.values())))
            for (what, target, _), rows in self._found.items()
        ]


def _told(message: Message) -> str:
    return _shown(f"{message.sender}: {message.subject}")


def _shown(value: object) -> str:
    return encodable(str(value))[:SHOWN]
