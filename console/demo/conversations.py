"""The written conversations of the demo: TOML files beside this module, read into letters with times."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from importlib.resources import files
from random import Random
from uuid import UUID

import msgspec

SPAN = re.compile(r"(\d+)([dhm])")
UNIT = {"d": 86_400, "h": 3_600, "m": 60}
TAGGED = ("project:", "concern:", "domain:")


class ScriptError(ValueError):
    """A conversation is not written as it should be."""


class ScriptedMessage(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"sender": "from", "answers": "re"}
):
    """One letter as it is written down; `after` counts from the letter that it answers."""

    sender: str
    body: str
    to: str | list[str] | None = None
    id: str = ""
    answers: str = ""
    after: str = "0m"
    subject: str = ""
    type: str = ""
    ttl: int | None = None
    missed: list[str] = []


class Scene(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One conversation: how long ago it began, and its letters in the order of their writing."""

    ago: str
    lines: list[ScriptedMessage]


class _Script(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    thread: list[Scene]


class DemoMessage(msgspec.Struct, frozen=True):
    """One message of the demo's past; `time` in seconds since the epoch, `missed` who never read it."""

    id: str
    sender: str
    recipients: tuple[str, ...]
    time: float
    content: str
    subject: str = ""
    thread: str | None = None
    ttl_hours: int | None = None
    type: str = ""
    missed: tuple[str, ...] = ()
    archived: bool = False


def seconds(span: str) -> float:
    """Return the seconds of `2h40m`, `3d`, `12m`; raises ScriptError for anything else."""
    parts = SPAN.findall(span)
    if not parts or "".join(number + unit for number, unit in parts) != span:
        raise ScriptError(f"{span!r} can't be read as a period: write 3d, 2h40m or 12m")
    return float(sum(int(number) * UNIT[unit] for number, unit in parts))


def new_id(rng: Random) -> str:
    """Return a lower-case UUID v4 drawn from `rng`."""
    return str(UUID(int=rng.getrandbits(128), version=4))


def read_talk(name: str) -> str:
    """Return the text of one file of conversations."""
    return (files("console.demo") / "talk" / f"{name}.toml").read_text("utf-8")


def tell(
    names: list[str], now: float, rng: Random, known: dict[str, DemoMessage], *, archived: bool = False
) -> list[DemoMessage]:
    """Return the letters of some files of conversations, in the order in which they are written.

    `known` holds the letters with a label, by label; new ones are added, so that one file can answer another.
    Raises ScriptError for an unknown label, and msgspec.ValidationError for a wrong field.
    """
    played: list[DemoMessage] = []
    for name in names:
        for scene in msgspec.convert(tomllib.loads(read_talk(name)), _Script).thread:
            played.extend(_play(scene, now, rng, known, archived))
    return played


def _play(
    scene: Scene, now: float, rng: Random, known: dict[str, DemoMessage], archived: bool
) -> Iterator[DemoMessage]:
    begun = now - seconds(scene.ago) + rng.uniform(0, 55)
    above: DemoMessage | None = None
    for line in scene.lines:
        if line.answers:
            if line.answers not in known:
                raise ScriptError(f"{line.sender} answers {line.answers!r}, but no letter has that label")
            above = known[line.answers]
        start = begun if above is None or above.archived is not archived else above.time
        letter = DemoMessage(
            id=new_id(rng),
            sender=line.sender,
            recipients=_recipients(line, above),
            time=float(int(start + seconds(line.after) + rng.uniform(0, 20))),
            content=line.body.strip("\n"),
            subject=line.subject or ("" if above is None else _reply_subject(above)),
            thread=None if above is None else above.id,
            ttl_hours=line.ttl,
            type=line.type,
            missed=tuple(line.missed),
            archived=archived,
        )
        if line.id:
            known[line.id] = letter
        above = letter
        yield letter


def _recipients(line: ScriptedMessage, above: DemoMessage | None) -> tuple[str, ...]:
    if line.to is not None:
        return (line.to,) if isinstance(line.to, str) else tuple(line.to)
    if above is None:
        raise ScriptError(f"the letter of {line.sender} begins a conversation and has no recipient")
    if above.sender == line.sender or above.recipients[0].startswith(TAGGED):
        return above.recipients
    return (above.sender,)


def _reply_subject(above: DemoMessage) -> str:
    return above.subject if above.subject.startswith("Re: ") else f"Re: {above.subject}"
