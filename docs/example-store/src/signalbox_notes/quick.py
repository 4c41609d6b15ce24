"""Whether an agent may have unread notes, told by their bytes: most looks of a hook end here."""

from __future__ import annotations

import os
import re

from mailstore.files.scan import Unusual
from mailstore.files.whole import read_whole
from mailstore.quick_answers import QuickAnswers, QuickMail
from mailstore.records.protocol import LEAST_PREFIX

TO = re.compile(rb"^To:(.*)$", re.MULTILINE)
SESSION = re.compile(rb"[\w-]+-[0-9a-f]{8}")


class NotesAnswers(QuickAnswers):
    def watched(self, location: str) -> tuple[str, ...]:
        return (location,)  # a new note changes its folder

    def unread(self, location: str, agent: str, now: float) -> QuickMail:
        with os.scandir(location) as entries:
            notes = [entry.path for entry in entries if entry.name.endswith(".md")]
        for path in notes:
            data = read_whole(path)
            if agent[:LEAST_PREFIX].encode() in data or not all(map(SESSION.fullmatch, recipients(data))):
                raise Unusual("a note that may be for the agent")
        return QuickMail((), lambda ids: None)


def recipients(data: bytes) -> list[bytes]:
    return [name.strip() for line in TO.findall(data.partition(b"\n\n")[0]) for name in line.split(b",")]


ANSWERS = NotesAnswers()
