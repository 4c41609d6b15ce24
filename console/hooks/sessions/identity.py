"""Who the agent of a session is: its id, role, tags and name, made of what the program and the environment say.

All of it may come from anyone: it is stored, becomes part of commands and addresses, and is shown. So whatever does not
consist of ordinary characters is replaced or left out. Imports next to nothing, because every hook does.
"""

from __future__ import annotations

import os

from console.hooks.user_settings import configured_tags
from mailstore.files.worktree import checkout_at
from mailstore.records.protocol import BROADCAST_NAMES, TAG_NAMESPACES, USER_NAMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from console.hooks.events import HookEvent
    from console.hooks.programs import Program
    from mailstore.files.worktree import Checkout

VARIABLE = "SIGNALBOX_AGENT"
TAIL = 8
"""Characters of a session's id in an agent's: the last ones, because the first ones may be the time."""
LONGEST_TAIL = 48
LONGEST_ID, LONGEST_WORD, LONGEST_NAME = 64, 40, 60
LETTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
WORD_CHARACTERS = LETTERS | frozenset("._-")
ID_CHARACTERS = WORD_CHARACTERS | frozenset(":@+")
NAME_CHARACTERS = ID_CHARACTERS | frozenset(" #(),'!?&=")
NAMESPACES = frozenset({*TAG_NAMESPACES, "role", "agent", "person"})
RESERVED = BROADCAST_NAMES | USER_NAMES
NO_REPOSITORY = "folder"


class AgentIdentity:
    """What a session asks to be; `wanted` is the id that the environment names, `own` are those of the session itself.

    `given` are the fields that were stated explicitly.
    """

    __slots__ = ("given", "name", "own", "role", "tags", "wanted")

    def __init__(
        self, wanted: str, own: tuple[str, ...], role: str, tags: tuple[str, ...], name: str, given: frozenset[str]
    ) -> None:
        self.wanted = wanted
        self.own = own
        self.role = role
        self.tags = tags
        self.name = name
        self.given = given


def identity_of(event: HookEvent, program: Program, env: Mapping[str, str], mailbox: str) -> AgentIdentity:
    """Return who the agent of a session is, but for what other sessions have taken."""
    checkout = _checkout(event.cwd)
    role = _word(env.get("SIGNALBOX_ROLE", "") or event.agent_type)
    stated = env.get("SIGNALBOX_TAGS")
    asked = configured_tags(env) if stated is None else stated.split(",")
    tags = dict.fromkeys((f"project:{_project(checkout, event.cwd, mailbox)}", *filter(None, map(_tag, asked))))
    given = {"role"} if role else set()
    return AgentIdentity(
        env.get(VARIABLE, ""),
        own_ids(program.SHORT, event.session_id),
        "" if role in RESERVED else role,
        tuple(tags),
        shown_name(event.title) or shown_name("" if checkout is None else checkout.branch),
        frozenset(given | ({"name"} if event.title else set())),
    )


def own_ids(short: str, session_id: str) -> tuple[str, ...]:
    """Return the ids that a session may have, the preferred one first: the last characters of its own, or more."""
    tails = dict.fromkeys(session_id[-length:] for length in (TAIL, TAIL + 4, TAIL + 8, LONGEST_TAIL))
    return tuple(f"{short}-{tail}" for tail in tails)


def is_usable_id(text: str) -> bool:
    """Say whether an id can be one: it stands in commands that agents run, and is an address.

    In some kinds of mailbox all ids begin with an `@`.
    """
    return (
        0 < len(text) <= LONGEST_ID
        and ID_CHARACTERS.issuperset(text)
        and text.removeprefix("@")[:1] in LETTERS
        and text not in RESERVED
        and text.partition(":")[0] not in NAMESPACES
    )


def shown_name(text: str) -> str:
    """Return a title or a branch as an agent's name, which is an address too; empty where nothing is left."""
    kept = "".join(char if char in NAME_CHARACTERS else "-" if char == "/" else " " for char in _ascii(text))
    name = " ".join(kept.split())[:LONGEST_NAME].strip()
    return "" if name in RESERVED or name.partition(":")[0] in NAMESPACES else name


def _word(text: str) -> str:
    kept = "".join(char if char in WORD_CHARACTERS else "-" for char in _ascii(text.strip()))
    return kept.strip("-.")[:LONGEST_WORD]


def _tag(text: str) -> str:
    """Return a tag; empty for what is none."""
    namespace, _, rest = text.strip().partition(":")
    return f"{namespace}:{word}" if namespace in (*TAG_NAMESPACES, "role") and (word := _word(rest)) else ""


def _ascii(text: str) -> str:
    """Return a text without accents and without what has no spelling in ASCII."""
    if text.isascii():
        return text
    from unicodedata import normalize

    return normalize("NFKD", text).encode("ascii", "ignore").decode()


def _checkout(cwd: str) -> Checkout | None:
    folder = cwd
    while os.path.isabs(folder):  # noqa: PTH117 - pathlib costs more than all of this
        if (checkout := checkout_at(folder)) is not None:
            return checkout
        above = os.path.dirname(folder)  # noqa: PTH120
        if above == folder:
            break
        folder = above
    return None


def _project(checkout: Checkout | None, cwd: str, mailbox: str) -> str:
    """Return what the project is called: as its repository is, else as the folder of its mailbox is, or its own."""
    place = mailbox.partition(":")[2].rpartition("/data/")[0] or cwd
    name = checkout.repository if checkout is not None else os.path.basename(place)  # noqa: PTH119
    if word := _word(name):
        return word
    if not name:
        return NO_REPOSITORY
    from zlib import crc32

    return f"{NO_REPOSITORY}-{crc32(name.encode('utf-8', 'surrogateescape')):08x}"
