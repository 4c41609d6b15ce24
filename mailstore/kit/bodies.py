"""Take from a message's body what belongs into its header: `first_line(text)` as a subject, `mentions(text)`."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

MENTION = r"(?<![\w@/.])@([A-Za-z0-9_][\w.:*-]*\w|\w)"
SUBJECT_LENGTH = 80


def first_line(content: str) -> str:
    """Return the first line of a text that is not empty, at most 80 characters of it."""
    text = content.lstrip()
    return text[:SUBJECT_LENGTH].splitlines()[0].rstrip() if text else ""


def mentions(content: str) -> tuple[str, ...]:
    """Return the names after an @, once each, in order."""
    return tuple(dict.fromkeys(_mention().findall(content))) if "@" in content else ()


def _mention() -> re.Pattern[str]:
    global _compiled
    if _compiled is None:
        import re

        _compiled = re.compile(MENTION)
    return _compiled


_compiled: re.Pattern[str] | None = None
