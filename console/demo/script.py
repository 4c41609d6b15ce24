"""The written conversations of the demo, past and present, and how a line of them becomes a message."""

from __future__ import annotations

import re
from collections.abc import Mapping
from random import Random
from string import Template

import msgspec

from console.demo.cast import read_talk
from mailstore.records.message import Message
from mailstore.records.protocol import TAG_NAMESPACES

PERIOD = re.compile(r"(\d+)([dhm])")
UNIT = {"d": 86_400, "h": 3_600, "m": 60}


class ScriptError(ValueError):
    """A conversation is not written as it should be."""


class ScriptedMessage(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"sender": "from", "answers": "re"}
):
    """One message as it is written down.

    It answers the line before it, or the one with the label `answers`; `after` counts from that one. Of several bodies
    one is chosen. In the past `sender` is a session id, in the present a role, because sessions die. `missed` never
    read it.
    """

    sender: str
    body: str | list[str]
    to: str | list[str] = []
    id: str = ""
    answers: str = ""
    after: str = "0m"
    subject: str = ""
    type: str = ""
    ttl: int | None = None
    missed: list[str] = []

    def recipients(self, speaker: str, above: Message | None) -> tuple[str, ...]:
        """Return whom it goes to: an answer goes to the channel or to the one that it answers."""
        if self.to:
            return (self.to,) if isinstance(self.to, str) else tuple(self.to)
        if above is None:
            raise ScriptError(f"the message of {self.sender} begins a conversation and has no recipient")
        is_channel = above.recipients[0].partition(":")[0] in TAG_NAMESPACES
        return above.recipients if is_channel or above.sender == speaker else (above.sender,)

    def filled(self, rng: Random, above: Message | None, step: int = 0) -> tuple[str, str]:
        """Return its subject and its body; `step` counts the times of a conversation that recurs."""
        known = figures(rng) | {"step": str(step)}
        body = self.body if isinstance(self.body, str) else rng.choice(self.body)
        subject = reply_subject(above) if above is not None and not self.subject else fill(self.subject, known)
        return subject, fill(body.strip("\n"), known)


class Scene(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One conversation, its lines in the order of their writing; in the past how long ago it began, and how often."""

    lines: list[ScriptedMessage]
    ago: str = "0m"
    times: int = 1
    every: str = "0m"


class Script(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file of conversations, and of questions to the user."""

    thread: list[Scene]
    question: list[Scene] = []


def read_script(name: str) -> Script:
    """Return a file of conversations; raises msgspec.ValidationError for a wrong field."""
    return msgspec.convert(read_talk(name), Script)


def seconds(period: str, rng: Random) -> float:
    """Return the seconds of `2h40m`, `3d` or `12m`, or between `12m-80m`; raises ScriptError for anything else."""
    shortest, _, longest = period.partition("-")
    if longest:
        return rng.uniform(seconds(shortest, rng), seconds(longest, rng))
    parts = PERIOD.findall(period)
    if not parts or "".join(number + unit for number, unit in parts) != period:
        raise ScriptError(f"{period!r} can't be read as a period: write 3d, 2h40m or 12m")
    return float(sum(int(number) * UNIT[unit] for number, unit in parts))


def figures(rng: Random) -> dict[str, str]:
    """Return the figures of this moment, which stand as `$names` in the texts."""
    return {
        "leaf": f"{rng.randint(231, 411)}{rng.choice('rv')}",
        "letter": str(rng.randint(5, 64)),
        "n": str(rng.randint(11, 48)),
        "percent": str(rng.randint(12, 97)),
        "minutes": str(rng.randint(4, 19)),
        "few": str(rng.choice((0, 0, 0, 1, 2))),
    }


def fill(text: str, known: Mapping[str, str]) -> str:
    """Put what is known in place of `$names`."""
    return Template(text).safe_substitute(known)


def reply_subject(above: Message) -> str:
    """Return the subject of an answer."""
    return above.subject if above.subject.startswith("Re: ") else f"Re: {above.subject}"
