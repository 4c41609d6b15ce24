"""A draft as text: the options that stand with it, and the headers above it in the user's editor."""

from __future__ import annotations

import re
import shlex

from msgspec.structs import replace

from console.state.composer_draft import ComposerDraft, SendOptions

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
