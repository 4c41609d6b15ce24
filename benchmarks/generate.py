"""Write a mailbox of any size that looks like one in use: python -m benchmarks.generate DIR --messages N.

The same seed gives the same bytes.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from itertools import count, islice
from pathlib import Path
from random import Random

AGENTS = 40
ROLES = ("architect", "librarian", "steward", "scribe", "curator", "engineer", "auditor", "ontologist")
TAGS = (
    *(f"project:{name}" for name in ("inscription", "face-decoding", "letters", "atlas")),
    *(f"concern:{name}" for name in ("governance", "ontology", "privacy")),
    *(f"domain:{name}" for name in ("architecture", "scripts", "archive")),
)
SPAN_DAYS = 90.0
RECENT = 400
BODY_WORDS = 120
TEXT_WORDS = 100_000
"""Bodies are cut from one text of this many words: drawing every word would take half of the time."""

WRITE_AT = 4_000
WORDS = """
the a of to and in is it that for on with as this be at by from or an was not are but have if will one all when
draft schema entity leaf message archive roster ledger mailbox agent session review merge branch commit test failure
figure column index record field value table query answer question plan step note page chapter source reference
museum scan catalogue inventory provenance transcription line margin watermark ink quire folio hand date place name
please check before after until only because whether should could would must can run read write keep drop move wait
nightly ingest pipeline queue worker timeout retry cache token limit disk memory batch report summary meeting memo
""".split()  # noqa: SIM905 - as a list it would fill a page


@dataclass(frozen=True, slots=True)
class Company:
    """The agents that write: session ids, and the roles and tags of each."""

    living: list[str]
    dead: list[str]
    roster: list[dict[str, object]]

    @classmethod
    def of(cls, rng: Random, now: float) -> Company:
        """Make the agents: most alive, some frozen, some dead for a month."""
        living: list[str] = []
        dead: list[str] = []
        roster: list[dict[str, object]] = []
        for at in range(AGENTS):
            status = "dead" if at % 8 == 7 else "frozen" if at % 10 == 9 else "living"
            session_id = f"{ROLES[at % len(ROLES)]}-{rng.getrandbits(32):08x}"
            agent: dict[str, object] = {
                "session_id": session_id,
                "status": status,
                "role": ROLES[at % len(ROLES)] if at < 2 * len(ROLES) else None,
                "tags": rng.sample(TAGS, rng.randint(1, 3)),
                "started_at": stamp(now - SPAN_DAYS * 86_400),
            }
            if status == "dead":
                agent["ended_at"] = agent["last_seen"] = stamp(now - 30 * 86_400)
                dead.append(session_id)
            else:
                agent["last_seen"] = stamp(now - rng.random() * 3_600)
                living.append(session_id)
            roster.append(agent)
        return cls(living, dead, roster)


@lru_cache(4)
def day(number: int) -> str:
    """Return a day, counted from the epoch, as the protocol writes it."""
    return datetime.fromtimestamp(number * 86_400, UTC).strftime("%Y-%m-%d")


def stamp(seconds: float) -> str:
    """Return a moment as the protocol writes it."""
    number, second = divmod(int(seconds), 86_400)
    return f"{day(number)}T{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}Z"


def identifier(rng: Random) -> str:
    """Return a UUID v4."""
    digits = f"{rng.getrandbits(128):032x}"
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"


def recipient(rng: Random, company: Company, sender: str) -> str:
    """Return the recipients of a new thread: agents, roles, channels, everybody, the user."""
    kind = rng.random()
    if kind < 0.01:
        return rng.choice(company.dead)
    if kind < 0.4:
        return rng.choice([agent for agent in company.living if agent != sender])
    if kind < 0.6:
        return rng.choice(ROLES)
    if kind < 0.92:
        return rng.choice(TAGS)
    return "all" if kind < 0.97 else "user"


def readers(rng: Random, company: Company, to: str) -> list[str]:
    """Return who has read a message: its recipient, a holder of the role, some of a channel."""
    if to in company.living:
        return [to] if rng.random() < 0.98 else []
    if to in ROLES:
        return [rng.choice(company.living)]
    if to in company.dead or to == "user":
        return []
    return rng.sample(company.living, min(len(company.living), int(rng.expovariate(0.13))))


def body(rng: Random, text: list[str]) -> str:
    """Return some paragraphs of about 120 words of a text, ready to stand in a JSON string."""
    at = int(rng.random() * TEXT_WORDS)
    words = text[at : at + max(12, int(rng.gauss(BODY_WORDS, 40)))]
    half = len(words) // 2
    both = f"{' '.join(words[:half]).capitalize()}.\\n\\n{' '.join(words[half:]).capitalize()}."
    return f"{both}\\n\\n- `{words[0]}`\\n- **{words[1]}**" if rng.random() < 0.2 else both


def records(rng: Random, company: Company, start: float, step: float) -> Iterator[tuple[str, list[str]]]:
    """Yield each message's line and the lines of its reads, the oldest first, a message every `step` seconds."""
    recent: deque[tuple[str, str, str, str]] = deque(maxlen=RECENT)
    text = rng.choices(WORDS, k=TEXT_WORDS)
    text += text[: 4 * BODY_WORDS]
    for at in count():
        sent = start + at * step
        message_id, sender = identifier(rng), rng.choice(company.living)
        if recent and rng.random() < 0.6:
            parent, subject, to, before = recent[-1 - min(int(rng.expovariate(0.1)), len(recent) - 1)]
            to = before if to in company.living else to
            thread = f'"{parent}"'
        else:
            subject = " ".join(rng.choices(WORDS, k=rng.randint(2, 6))).capitalize()
            to, thread = recipient(rng, company, sender), "null"
        recent.append((message_id, subject, to, sender))
        line = (
            f'{{"id":"{message_id}","sender":"{sender}","recipient":"{to}","timestamp":"{stamp(sent)}",'
            f'"subject":"{subject}","content":"{body(rng, text)}","thread":{thread},"ttl_hours":null,"read_by":[]}}\n'
        )
        reads = [
            f'{{"message_id":"{message_id}","reader_session_id":"{reader}",'
            f'"timestamp":"{stamp(sent + 60 + rng.random() * 3_600)}"}}\n'
            for reader in readers(rng, company, to)
        ]
        yield line, reads


def generate(folder: Path, messages: int, *, seed: int = 1, now: float | None = None) -> None:
    """Write a mailbox, its reads and its roster into a folder that holds none."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = Random(seed)
    now = time.time() if now is None else now
    company = Company.of(rng, now)
    roster = "".join(json.dumps(agent) + "\n" for agent in company.roster)
    (folder / "agent-roster.jsonl").write_text(roster, encoding="utf-8")
    with (
        (folder / "agent-mailbox.jsonl").open("x", encoding="ascii") as mailbox,
        (folder / "agent-mailbox-reads.jsonl").open("x", encoding="ascii") as read,
    ):
        lines: list[str] = []
        marks: list[str] = []
        step = SPAN_DAYS * 86_400 / messages
        for line, reads in islice(records(rng, company, now - messages * step, step), messages):
            lines.append(line)
            marks += reads
            if len(lines) == WRITE_AT:
                mailbox.write("".join(lines))
                read.write("".join(marks))
                lines, marks = [], []
        mailbox.write("".join(lines))
        read.write("".join(marks))


def arrivals(messages: int, *, seed: int, start: float, seconds: float) -> Iterator[bytes]:
    """Yield the lines of messages that the agents of a generated mailbox write within so many seconds."""
    company = Company.of(Random(1), start)
    for line, _ in islice(records(Random(f"arrivals {seed}"), company, start, seconds / messages), messages):
        yield line.encode()


def main() -> None:
    """Read the words and write the mailbox."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.generate", description="write a mailbox of any size")
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("--messages", type=int, default=10_000, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    try:
        generate(args.folder, args.messages, seed=args.seed)
    except FileExistsError as error:
        sys.exit(f"{error.filename} is there already: name a new folder")


if __name__ == "__main__":
    main()
