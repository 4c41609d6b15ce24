"""One agent's unread mail, read without folding the mailbox: what a hook asks at every start."""

from __future__ import annotations

import os

from mailstore.quick_answers import QuickAnswers, QuickMail

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection


class HaakAnswers(QuickAnswers):
    """Answers by the lines that name an agent; a location is the path of the mailbox file."""

    def watched(self, location: str) -> tuple[str, ...]:
        folder, name = os.path.split(location)
        rosters = f"{folder}/agent-roster.jsonl", f"{folder}/agent-roster.json"
        return location, *rosters, f"{folder}/{name.removesuffix('.jsonl')}-deliveries.jsonl"

    def unread(self, location: str, agent: str, now: float) -> QuickMail:
        from mailstore.haak.quick.quick_unread import quick_unread

        def record(message_ids: Collection[str]) -> None:
            from mailstore.haak.quick.quick_unread import record_reads

            record_reads(location, agent, message_ids)

        return QuickMail(quick_unread(location, agent, now), record)

    def registered(self, location: str, name: str) -> str:
        from mailstore.haak.quick.quick_records import roster_in
        from mailstore.rules.unread import registered_name

        return registered_name(name, roster_in(os.path.dirname(location)))  # noqa: PTH120


ANSWERS = HaakAnswers()
