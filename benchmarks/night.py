"""A mailbox on which twenty agents worked overnight, with what the person had seen before."""

from __future__ import annotations

import random
from pathlib import Path

from tests.mailboxes import HOUR, MailFiles, iso

AWAY_HOURS = 10.0
FOR_YOU = 20
"""Messages to the person that came meanwhile."""

ROLES = "architect librarian scribe decoder steward curator runner auditor ontologist reviewer".split()  # noqa: SIM905
TOPICS = ["ingest", "index", "schema", "backup", "export", "fonts", "margins", "dates", "names", "ruling"]
AGENTS = [f"{ROLES[at % 10]}-{at + 1:02}" for at in range(20)]


class _Night:
    def __init__(self, folder: Path, now: float) -> None:
        self.files = MailFiles(folder, now=now)
        self.rng = random.Random(7)
        self._number = 0

    def send(self, sender: str, to: str, text: str, ago: float, **more: str | int) -> str:
        """Append a message of so many hours ago, read by an agent it is addressed to."""
        self._number += 1
        name = f"m-{self._number:04}"
        self.files.message(name, sender, to, text, ago=ago * HOUR, **more)
        if to in AGENTS:
            self.files.read(name, to, ago=max(ago * HOUR - 300, 0))
        return name

    def roster(self) -> None:
        for at, name in enumerate(AGENTS):
            self.files.agent(name, role=name[:-3], tags=["project:alpha" if at % 2 else "project:beta"])
        ended = iso(self.files.now - 5 * HOUR)
        self.files.agent("courier-1", "dead", role="courier", tags=["project:alpha"], ended_at=ended)
        self.files.agent("courier-2", role="courier", tags=["project:alpha"])

    def before(self) -> list[str]:
        """Write the mail of two days, which the person has seen; return its ids."""
        seen = []
        for at in range(40):
            ago, topic = 48 - at * 0.9, self.rng.choice(TOPICS)
            one, other = self.rng.sample(AGENTS, 2)
            to = other if at % 3 else "project:alpha"
            root = self.send(one, to, f"About the {topic} of batch {at}.", ago, subject=f"The {topic} of batch {at}")
            seen.append(root)
            for number in (1, 2):
                words = f"Answer {number} about batch {at}."
                seen.append(self.send(other, one, words, ago - 0.2 * number, thread=root))
        words = "The provenance of leaf 88 is the Kyoto catalogue, entry 412."
        return [*seen, self.send("librarian-02", "scribe-03", words, 30, subject="Leaf 88")]

    def overnight(self) -> None:
        """Write twenty messages to the person, the agents' own talk, a question in a channel, three dead letters."""
        for at in range(14):
            topic, ago = TOPICS[at % 10], 9 - at * 0.5
            root = self.send(AGENTS[at], "user", f"Done with {topic}.", ago, subject=f"Report {at}: {topic}")
            if at < FOR_YOU - 14:
                self.send(AGENTS[at + 1], "user", f"One more thing about report {at}.", ago - 0.2, thread=root)
        for at in range(10):
            one, other = self.rng.sample(AGENTS, 2)
            ago, to = 8.5 - at * 0.6, other if at % 2 else "project:beta"
            root = self.send(one, to, f"Night talk {at}.", ago, subject=f"Night run {at}")
            for number in range(5):
                sender, back = (one, other) if number % 2 else (other, one)
                self.send(sender, to if to not in AGENTS else back, f"Line {number}.", ago - 0.1, thread=root)
        self.send("runner-07", "project:alpha", "Which dump is right?", 2, subject="Which dump?", type="question")
        for at in range(3):
            words = f"Please carry parcel {at}."
            self.send(AGENTS[at], "courier-1", words, 5.6 + at * 0.1, subject=f"Parcel {at}", ttl_hours=48)


def night(folder: Path, now: float) -> tuple[MailFiles, list[str]]:
    """Write the mailbox; return its files and the ids of what the person had seen before leaving."""
    made = _Night(folder, now)
    made.roster()
    seen = made.before()
    made.overnight()
    return made.files, seen
