"""A draft as it stands in the composer, and as text: its options beside it, and its headers in the user's editor."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

MOST_NAMES = 2


class SendOptions(Struct, frozen=True):
    """How a message is sent: its type, in how many hours it expires, for how many seconds it is held, when to remind.

    0 hours are no end, and without seconds it is held as the settings say. The user is reminded after so many
    minutes (0: never) if nobody has answered.
    """

    type: str = ""
    ttl_hours: int = 0
    hold_seconds: int | None = None
    remind_minutes: int = 0


class ComposerDraft(Struct, frozen=True):
    """A draft as it stands in the composer; `key` names where it belongs, `action` how it is journalled."""

    key: str
    recipients: str = ""
    subject: str = ""
    body: str = ""
    thread: str | None = None
    action: str = ""
    updated: float = 0.0
    """When it was changed last, in seconds since the epoch."""
    attachments: tuple[str, ...] = ()
    """Paths of the files to send with it."""
    metadata: dict[str, int | str] = {}
    """What its record says besides: which option of a question it takes. Such a reply is never a draft."""
    options: SendOptions = SendOptions()

    @property
    def is_blank(self) -> bool:
        """Say whether nothing worth keeping was written."""
        return not self.body.strip() and not self.attachments


def in_words(body: str) -> str:
    """Return how many words the user wrote, and how many they quote."""
    own = quoted = 0
    for line in body.splitlines():
        if line.startswith(">"):
            quoted += len(line.lstrip("> ").split())
        else:
            own += len(line.split())
    return f"{own} word{'s' * (own != 1)}" + (f", {quoted} quoted" if quoted else "")


def in_files(paths: Sequence[str]) -> list[str]:
    """Return the names of the files that go with a message, or how many they are; nothing if there are none."""
    if len(paths) > MOST_NAMES:
        return [f"{len(paths)} files"]
    return [", ".join(os.path.basename(path) for path in paths)] if paths else []  # noqa: PTH119 - any text


OPTION = re.compile(r"(\w+)\s*:\s*(\S+)")
HOURS = re.compile(r"(\d{1,4})([hdw])")
SECONDS = re.compile(r"(\d{1,4})([sm]?)")
MINUTES = re.compile(r"(\d{1,4})([mhd])")
HOUR, DAY, WEEK = 1, 24, 168
LONGEST_HOLD = 3_600
HEADER = re.compile(r"(to|subject|options|attach):[ \t]*(.*)", re.IGNORECASE)
WRITTEN = {
    "expires": "expires:4h, expires:2d or expires:1w",
    "hold": "hold:30s or hold:5m",
    "remind": "remind:30m, remind:2h or remind:1d",
}
EXAMPLES = "type:question, expires:4h, hold:30s, remind:2h"


def options_text(options: SendOptions) -> str:
    """Return options as they are typed: `type:question, expires:4h`; empty for none."""
    hours, seconds, minutes = options.ttl_hours, options.hold_seconds, options.remind_minutes
    unit, size = next(((u, n) for u, n in (("w", WEEK), ("d", DAY)) if hours and hours % n == 0), ("h", HOUR))
    said = [f"type:{options.type}"] if options.type else []
    said += [f"expires:{hours // size}{unit}"] if hours else []
    said += [] if seconds is None else [f"hold:{seconds}s"]
    unit, size = next(((u, n) for u, n in (("d", 1440), ("h", 60)) if minutes and minutes % n == 0), ("m", 1))
    said += [f"remind:{minutes // size}{unit}"] if minutes else []
    return ", ".join(said)


def read_options(text: str) -> SendOptions:
    """Read options, separated by commas. Raises ValueError that says what is wrong and what to write."""
    options = SendOptions()
    for part in filter(None, (part.strip() for part in text.split(","))):
        match = OPTION.fullmatch(part)
        name, value = (match[1].casefold(), match[2]) if match else ("", "")
        if name == "type":
            options = replace(options, type=value)
        elif name == "expires" and (age := HOURS.fullmatch(value)) and int(age[1]):
            options = replace(options, ttl_hours=int(age[1]) * {"h": HOUR, "d": DAY, "w": WEEK}[age[2]])
        elif name == "hold" and (time := SECONDS.fullmatch(value)):
            seconds = int(time[1]) * (60 if time[2] == "m" else 1)
            if seconds > LONGEST_HOLD:
                raise ValueError(f'"{part}" is over an hour: keep it as a draft instead')
            options = replace(options, hold_seconds=seconds)
        elif name == "remind" and (time := MINUTES.fullmatch(value)) and int(time[1]):
            options = replace(options, remind_minutes=int(time[1]) * {"m": 1, "h": 60, "d": 1440}[time[2]])
        elif name in WRITTEN:
            raise ValueError(f'can\'t read "{part}": write {WRITTEN[name]}')
        else:
            raise ValueError(f'"{part}" is not an option: write {EXAMPLES}')
    return options


def editor_text(draft: ComposerDraft, *, with_files: bool) -> str:
    """Return a draft for an editor: headers, an empty line, the text."""
    lines = [f"To: {draft.recipients}", f"Subject: {draft.subject}", f"Options: {options_text(draft.options)}"]
    lines += [f"Attach: {shlex.join(draft.attachments)}"] if with_files else []
    return "\n".join([*map(str.rstrip, lines), "", draft.body])


def read_editor_text(text: str, draft: ComposerDraft) -> tuple[ComposerDraft, str]:
    """Return a draft as an editor left it, and what is wrong with its headers, which then stay as they were.

    Headers that are missing stay as they were, and so text without any is the body.
    """
    lines = text.removeprefix("\ufeff").splitlines()
    problem, read = "", set[str]()
    while lines and (header := HEADER.fullmatch(lines[0])) and (name := header[1].casefold()) not in read:
        read.add(name)
        del lines[0]
        value = header[2].strip()
        try:
            match name:
                case "to":
                    draft = replace(draft, recipients=value)
                case "subject":
                    draft = replace(draft, subject=value)
                case "options":
                    draft = replace(draft, options=read_options(value))
                case _:
                    draft = replace(draft, attachments=tuple(shlex.split(value)))
        except ValueError as error:
            problem = f"{header[1]}: {error}"
    if read and lines and not lines[0].strip():
        del lines[0]
    return replace(draft, body="\n".join(lines)), problem
