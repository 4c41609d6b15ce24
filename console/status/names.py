"""The names in a mailbox, for completion, kept beside its numbers: a kind, a value and its description a line."""

from __future__ import annotations

from console.status.numbers import kept_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mailstore.state.mailbox import Mailbox

NAMES = ".names"
MOST_IDS, MOST_NAMES, LONGEST = 200, 2000, 60


def names_in(mailbox: Mailbox) -> str:
    """Return the names as text: of what can't be typed in a shell's line nothing is kept."""
    from itertools import islice

    lines: dict[tuple[str, str], str] = {("agent", "user"): "you"}
    for agent in mailbox.roster:
        lines[("agent", agent.session_id)] = " ".join(
            part for part in (agent.status.value, agent.name, agent.role) if part
        )
        for tag in agent.tags:
            lines[("tag", tag)] = ""
        if agent.role:
            lines[("role", agent.role)] = "role"
    for channel in mailbox.channels():
        lines[("channel", mailbox.label(channel.tag))] = f"channel, {channel.messages} messages"
    for message in islice(mailbox.newest(), MOST_IDS):
        lines[("message", message.id)] = f"{message.sender}: {message.subject}"
        if message.type:
            lines[("type", message.type)] = ""
    kept = [(kind, name, _shown(words)) for (kind, name), words in lines.items() if _is_plain(name)]
    return "".join(f"{kind}\t{name}\t{words}\n" for kind, name, words in kept[: MOST_NAMES + MOST_IDS])


def _is_plain(name: str) -> bool:
    return name.isprintable() and 0 < len(name) <= LONGEST * 4 and not name.startswith("-")


def _shown(words: str) -> str:
    """Return a description without what could control a terminal, and not too long for a line."""
    plain = "".join(char if char.isprintable() and char not in "\\`$%" else " " for char in words[: LONGEST * 4])
    return plain if len(plain) <= LONGEST else f"{plain[: LONGEST - 1]}…"


def load_names(place: str) -> list[tuple[str, str, str]]:
    """Return what a file keeps; nothing if there is none, or it is damaged."""
    lines = [line.split("\t") for line in kept_lines(place + NAMES)]
    return [(line[0], line[1], line[2]) for line in lines if len(line) == 3 and _is_plain(line[1])]
