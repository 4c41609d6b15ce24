"""Messages of the user that are on their way to a session as its user's prompt: a file each, until the prompt comes.

Meanwhile nothing announces them, and the event at which the prompt comes makes them read by the one after it. What
doesn't come is mail like any other: it is announced with the next prompt. Imports next to nothing, because hooks do.
"""

from __future__ import annotations

import os
from contextlib import suppress

from console.hooks.provenance import USER, words_digest
from mailstore.files.scan import Unusual, ascii_json, decoded
from mailstore.files.whole import open_binary, open_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LONGEST = 1 << 20
COMPARED = 4000
"""Characters of a prompt by which it is recognised; hooks keep little more of one."""
PATIENCE_SECONDS = 60.0
"""How long a message is left to the program while other prompts come, or after its plugin took it."""
LONGEST_PROMPT = 30_000
"""Characters; what is longer is mail only, since a plugin reads so much of an answer."""
BY_BELL = frozenset({"opencode"})
"""Programs whose plugin takes the prompts from a hook, when the session's bell file changes."""
TAKES_PROMPTS = "takes_prompts"
"""Whether a session's plugin does that, which an older one doesn't; in what registration remembers."""
TEXTS = ("message_id", "words", "prompt")


class UserPrompt:
    """A message on its way: its id, empty until it was sent, the digest of its words, and the prompt.

    `at` is when it was written, in seconds since the epoch; `is_given` says that the plugin has it.
    """

    __slots__ = ("at", "is_given", "message_id", "path", "prompt", "words")

    def __init__(self, path: str, words: str, at: float) -> None:
        self.path = path
        self.words = words
        self.at = at
        self.message_id = self.prompt = ""
        self.is_given = False

    def save(self) -> None:
        """Write it, in place of an earlier state of it. Raises OSError."""
        os.makedirs(os.path.dirname(self.path), mode=0o700, exist_ok=True)  # noqa: PTH103, PTH120
        data = ascii_json({name: getattr(self, name) for name in (*TEXTS, "at", "is_given")}).encode()
        new = f"{self.path}.new"
        fd = open_regular(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW)
        try:
            if os.write(fd, data) < len(data):
                raise OSError(f"{new} could not be written completely")
        finally:
            os.close(fd)
        os.rename(new, self.path)  # noqa: PTH104

    def forget(self) -> None:
        """Remove it: the prompt has come, or will not."""
        with suppress(OSError):
            os.unlink(self.path)  # noqa: PTH108

    def is_of(self, message: Any, text_of: Any) -> bool:
        """Say whether it is a message of the mailbox; `text_of` returns its text."""
        if self.message_id:
            return bool(message.id == self.message_id)
        return self.words == words_digest(message.recipients, message.subject, message.type, text_of(message))

    def has_come(self, prompt: str) -> bool:
        """Say whether a prompt is this one."""
        return bool(self.prompt) and prompt.strip()[:COMPARED] == self.prompt.strip()[:COMPARED]


def new_prompt(folder: str, tool: str, session_id: str, words: str, now: float) -> UserPrompt:
    """Return a prompt for a session, given the folder of its mailbox's hooks; it is not saved yet."""
    return UserPrompt(f"{_beginning(folder, tool, session_id)}{words}-{now:.6f}", words, now)


def prompts_of(folder: str, tool: str, session_id: str) -> list[UserPrompt]:
    """Return the prompts that are on their way to a session, the oldest first."""
    beginning = _beginning(folder, tool, session_id)
    try:
        names = os.listdir(f"{folder}/{USER}")  # noqa: PTH208 - pathlib costs more than all of this
    except OSError:
        return []
    paths = [path for name in names if (path := f"{folder}/{USER}/{name}").startswith(beginning)]
    prompts = [prompt for path in paths if not path.endswith(".new") and (prompt := _read(path)) is not None]
    return sorted(prompts, key=lambda user_prompt: user_prompt.at)


def _beginning(folder: str, tool: str, session_id: str) -> str:
    return f"{folder}/{USER}/{tool}-{session_id}."


def _read(path: str) -> UserPrompt | None:
    try:
        with open_binary(path) as file:
            fields: dict[str, Any] = decoded(file.read(LONGEST))
    except (OSError, Unusual):
        return None
    at, texts = fields.get("at"), [fields.get(name) for name in TEXTS]
    if not isinstance(at, int | float) or not all(isinstance(text, str) for text in texts):
        return None
    prompt = UserPrompt(path, str(texts[1]), at)
    prompt.message_id, prompt.prompt = str(texts[0]), str(texts[2])
    prompt.is_given = fields.get("is_given") is True
    return prompt
