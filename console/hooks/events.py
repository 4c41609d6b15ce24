"""What a hook is given and what it answers, whichever program runs it; every hook imports this."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

START, PROMPT, TOOL, STOP, END = "start", "prompt", "tool", "stop", "end"
CHANGED, CWD, WAITING, INTERRUPT = "changed", "cwd", "waiting", "interrupt"
"""The mailbox changed; the agent changed its folder; it waits for a permission; a user interrupted it."""
GATE = "gate"
"""A tool is about to run."""
ASKED = "asked"
"""It waits for a permission that can be given from elsewhere."""

LONGEST_FIELD = 4096
LONGEST_ID = 128
ID_CHARACTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")


class HookEvent:
    """What a program says has happened: `moment` is one of the names above, `native` the program's own.

    `source` is startup, resume, clear, compact or fork at the start, and the reason at the end of a session.
    """

    __slots__ = (
        "agent_id",
        "agent_type",
        "asked",
        "cwd",
        "is_attended",
        "is_continued",
        "is_rung",
        "is_subagent",
        "is_unheard",
        "moment",
        "native",
        "prompt",
        "prompts",
        "session_id",
        "source",
        "takes_prompts",
        "title",
    )

    def __init__(
        self,
        moment: str,
        native: str,
        session_id: str,
        cwd: str,
        *,
        source: str = "",
        agent_type: str = "",
        title: str = "",
        prompt: str = "",
        is_subagent: bool = False,
        is_unheard: bool = False,
        is_continued: bool = False,
        is_rung: bool = False,
        is_attended: bool = False,
        takes_prompts: bool = False,
        asked: tuple[str, dict[str, Any]] | None = None,
    ) -> None:
        self.moment = moment
        self.native = native
        self.session_id = session_id
        self.cwd = cwd
        self.source = source
        self.agent_type = agent_type
        self.title = title
        self.prompt = prompt
        self.is_subagent = is_subagent
        self.agent_id = ""
        """Under which id the session is registered, once that is known."""
        self.prompts: list[str] = []
        """What the plugin is to prompt the session with, as its user."""
        self.takes_prompts = takes_prompts
        """Whether the program's plugin takes prompts from the answer."""
        self.is_unheard = is_unheard
        """Whether the program drops what the hook prints at this event."""
        self.is_continued = is_continued
        """Whether a prompt is not the user's, but one that a hook caused."""
        self.is_rung = is_rung
        """Whether the session's bell changed, and not the mailbox."""
        self.is_attended = is_attended
        """Whether the program's own question is shown at its terminal while the hook waits."""
        self.asked = asked
        """For which tool a permission is asked, and its whole input."""


class Answer:
    """What a hook prints on standard output and standard error, and its exit status."""

    __slots__ = ("err", "out", "status")

    def __init__(self, out: str = "", err: str = "", status: int = 0) -> None:
        self.out = out
        self.err = err
        self.status = status


def text_in(given: dict[str, Any], *names: str) -> str:
    """Return the first of some fields that is a text, truncated if it is very long; empty if none is."""
    for name in names:
        value = given.get(name)
        if isinstance(value, str) and value:
            return value[:LONGEST_FIELD]
    return ""


def tool_in(given: dict[str, Any], name: str, value: str) -> tuple[str, dict[str, Any]]:
    """Return the name of a tool and its input, from the fields of these names."""
    tool_name = given.get(value)
    return text_in(given, name), tool_name if isinstance(tool_name, dict) else {}


def session_in(given: dict[str, Any], *names: str) -> str:
    """Return the session id in the first of some fields; empty if it can't be part of a file's name."""
    value = text_in(given, *names)
    return value if len(value) <= LONGEST_ID and ID_CHARACTERS.issuperset(value) else ""
