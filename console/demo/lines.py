"""What simulated agents say: the conversations they hold, and their answers to the person."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from random import Random
from string import Template

import msgspec

from console.demo.conversations import read_talk


class Spoken(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One letter of a conversation; `by` is the role that says it."""

    by: str
    body: str
    to: str = ""
    subject: str = ""
    type: str = ""


class Episode(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One conversation: each letter answers the one before it."""

    lines: list[Spoken]


class Question(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Something that a role wants to know from the person."""

    by: str
    subject: str
    body: str


class LiveTalk(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All that the agents have to talk about."""

    episode: list[Episode]
    question: list[Question]


class Answers(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is written to the person, by what the person wrote, and what is said at the ends of a life."""

    question: list[str]
    status: list[str]
    who: list[str]
    order: list[str]
    thanks: list[str]
    greeting: list[str]
    yes: list[str]
    no: list[str]
    statement: list[str]
    done: list[str]
    farewell: list[str]
    hello: list[str]
    activities: list[str]

    def to(self, what: str) -> list[str]:
        """Return the texts for one intent."""
        texts: list[str] = getattr(self, what)
        return texts


def live_talk() -> LiveTalk:
    """Return the conversations that go on while the console is open."""
    return msgspec.convert(tomllib.loads(read_talk("live")), LiveTalk)


def read_answers() -> Answers:
    """Return the texts of answers."""
    return msgspec.convert(tomllib.loads(read_talk("answers")), Answers)


def fill(text: str, rng: Random, known: Mapping[str, str] | None = None) -> str:
    """Put the figures of this moment, and what is known, in place of `$names`."""
    figures = {
        "leaf": f"{rng.randint(231, 411)}{rng.choice('rv')}",
        "letter": str(rng.randint(5, 64)),
        "n": str(rng.randint(11, 48)),
        "percent": str(rng.randint(12, 97)),
        "minutes": str(rng.randint(4, 19)),
    }
    return Template(text).safe_substitute(figures | dict(known or {}))


INTENTS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("thanks", re.compile(r"^(thanks?|thank you|well done|good work|perfect|great)\b")),
    ("greeting", re.compile(r"^(hello|hi|hey|good (morning|day|afternoon|evening))\b")),
    ("yes", re.compile(r"^(yes|yep|ok|okay|agreed|sure|go ahead|do it|approved)\b")),
    ("no", re.compile(r"^(no|nope|not (yet|now)|don't|do not|stop|wait|leave it)\b")),
    ("who", re.compile(r"\bwho (is|are|lives|holds|else)\b")),
    ("status", re.compile(r"\b(status|how far|what are you (doing|working)|progress|busy with)\b")),
    ("question", re.compile(r"\?|^(what|when|where|why|which|how|can|could|may|is|are|do|does|did|will)\b")),
    ("order", re.compile(r"\bplease\b|^(put|send|make|take|write|read|look|check|keep|tell|move|run|use)\b")),
)


def intent(text: str) -> str:
    """Return what the person seems to want: the name of a list in `Answers`."""
    plain = text.strip().lower()
    for name, pattern in INTENTS:
        if pattern.search(plain):
            return name
    return "statement"
