"""The kinds of store there are, found by entry points, and the mailbox that a URL or path names."""

from __future__ import annotations

import os
import re
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path

from mailstore.errors import MailboxMissing, StoreError, UnknownStore
from mailstore.records.scope import KIND as SEVERAL
from mailstore.records.scope import url_of
from mailstore.store import Store

KIND = re.compile(r"[a-z][a-z0-9-]*")

__all__ = ["KNOWN_PLACES", "discover", "kinds", "open_store", "store_class"]

GROUP = "mailstore.stores"
KNOWN_PLACES = (
    ("haak", "data/agent-mailbox.jsonl"),
    ("agenties", ".agenties/mailbox.jsonl"),
    ("agentazall", "data/mailboxes"),
    ("neo", ".neo-ai-data/sqlite/memory-core-graph.sqlite"),
)

_OURS = {
    "haak": "mailstore.stores.haak:HaakStore",
    "memory": "mailstore.stores.memory:MemoryStore",
    "agentazall": "mailstore.stores.agentazall:AgentAZAllStore",
    "claude-teams": "mailstore.stores.claude_teams:ClaudeTeamsStore",
    "mapped": "mailstore.stores.mapped:MappedStore",
    "agenties": "mailstore.stores.agenties:AgentiesStore",
    "channels": "mailstore.stores.channels:ChannelsStore",
    "neo": "mailstore.stores.neo:NeoStore",
    "agent-mail": "mailstore.stores.agent_mail:AgentMailStore",
    "several": "mailstore.stores.several:SeveralStore",
}


def kinds() -> list[str]:
    """Return the name of every kind of store that is installed, ours first."""
    from importlib.metadata import entry_points

    return [*_OURS, *sorted(point.name for point in entry_points(group=GROUP) if point.name not in _OURS)]


def store_class(kind: str) -> type[Store]:
    """Return the class for a kind; raises UnknownStore with the nearest name there is.

    Our own kinds are found without a look at what is installed: that look costs more than a hook may.
    """
    if kind in _OURS:
        module, _, name = _OURS[kind].partition(":")
        return _checked(kind, getattr(import_module(module), name))
    from importlib.metadata import entry_points

    for point in entry_points(group=GROUP, name=kind):
        try:
            return _checked(kind, point.load())
        except (ImportError, AttributeError) as error:
            raise UnknownStore(f"the kind {kind!r} can't be loaded: {error}", "mend or remove its package") from error
    near = get_close_matches(kind, kinds(), n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(kinds())}"
    raise UnknownStore(f"no kind of store is called {kind!r}", hint)


def _checked(kind: str, found: object) -> type[Store]:
    if not (isinstance(found, type) and issubclass(found, Store)):
        raise UnknownStore(f"{found!r} is no kind of store", f"the package that offers {kind!r} is broken")
    return found


def open_store(url: str | Path, *, poll: bool = False) -> Store:
    """Open the mailbox that `KIND:PATH` or a plain path names, or those below the path, reading nothing yet.

    Raises UnknownStore for a kind or a path that nothing recognises, MailboxMissing where nothing lies.
    """
    text = str(url)
    kind, colon, rest = text.partition(":")
    if colon and KIND.fullmatch(kind) and not os.path.lexists(text):
        place = Path(rest) if kind == SEVERAL else _place(rest)
        return store_class(kind).open(place, poll=poll)
    place = _place(text)
    if not place.exists():
        raise MailboxMissing(f"there is no mailbox at {text}", "make one with signalbox init, or try signalbox demo")
    broken = ""
    known: list[type[Store]] = []
    for name in kinds():
        try:
            found = store_class(name)
        except UnknownStore as error:
            broken = f"; {error.problem}"
            continue
        if found.recognise(place):
            return found.open(place, poll=poll)
        known.append(found)
    parts = {label: f"{it.kind}:{root}" for it in known for label, root in it.roots(place).items()}
    if parts:
        return store_class(SEVERAL).open(Path(url_of(parts).partition(":")[2]), poll=poll)
    raise UnknownStore(
        f"no known kind of mailbox lies at {text}{broken}", "name its kind: KIND:PATH (see signalbox stores)"
    )


def _place(text: str) -> Path:
    try:
        place = Path(text).expanduser()
        place.exists()
    except RuntimeError as error:
        raise StoreError(f"{text} can't be found", "write the home folder out") from error
    except OSError as error:
        raise StoreError(f"{text[:200]} can't be looked at", (error.strerror or str(error)).lower()) from error
    return place


def discover(start: Path) -> str:
    """Return the URL of the first known mailbox from a folder upward; raises MailboxMissing."""
    for folder in (start, *start.parents):
        for kind, place in KNOWN_PLACES:
            if (folder / place).exists():
                return f"{kind}:{folder / place}"
    looked = ", ".join(place for _, place in KNOWN_PLACES)
    raise MailboxMissing(
        f"no mailbox found from {start} upward (looked for {looked})",
        "begin with signalbox demo or signalbox init, or name one with --store",
    )
