"""What is known of an agent: its identity, what it says of itself, its notes, whose messages its program accepts."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from mailstore.errors import reason_of
from mailstore.files.salvage import UNREADABLE
from mailstore.files.whole import NotAFile, read_whole
from mailstore.kinds.agentazall.day_index import INDEX, texts_in
from mailstore.kinds.agentazall.identity import public_of
from mailstore.kinds.agentazall.ledger import accounts_of
from mailstore.kinds.agentazall.message_file import moment
from mailstore.kinds.agentazall.names import address_of, name_of
from mailstore.kinds.agentazall.pins import Pins
from mailstore.kinds.agentazall.places import DAY, is_agent_name, trees_of
from mailstore.kinds.agentazall.rules import Filter, rules_of
from mailstore.kinds.agentazall.signature import fingerprint_of, is_checkable
from mailstore.kinds.agentazall.tree import TASKS
from mailstore.kit.timestamps import utc
from mailstore.records.details import AgentFact, AgentNote

LARGEST_KEY = 1 << 16
LARGEST_TEXT = 1 << 20
SHOWN_TEXT = 8000
"""Characters of a text that are shown."""
LAST_DAYS = 30
MOST_NOTES = 200
HEX_KEY = re.compile(r"[0-9a-fA-F]{64}")
IDENTITY, AGENT_KEY = ".identity_key", ".agent_key"
KEPT = {"remember": "memory", "notes": "note", TASKS: "task", "who_am_i": "identity"}
"""The folders of a day with texts that are no messages, and what those are."""


def about_agent(root: Path, name: str, pins: Pins) -> list[AgentFact]:
    """Return what is known of an agent by its name; no key is among it. Blocks; bounded, and follows no link."""
    address = address_of(name)
    facts = [AgentFact("address", address)]
    if not _is_name(address):
        return facts
    pin = pins.known(name)
    pinned = pin.fingerprint if pin is not None else ""
    trees = [tree for tree in trees_of(root) if _is_home(root / tree / address)]
    if not trees:
        facts.append(AgentFact("folder", "none here: it is on another machine, or only named"))
        return [*facts, AgentFact("fingerprint", f"{pinned} (of its messages)")] if pinned else facts
    if len(trees) == 1:
        return [*facts, *_told_in(root, trees[0], address, pinned)]
    # an agent has a key and a configuration in each tree
    for tree in trees:
        facts.append(AgentFact("tree", tree))
        facts += _told_in(root, tree, address, pinned)
    return facts


def _is_home(home: Path) -> bool:
    return home.is_dir() and not home.is_symlink()


def _told_in(root: Path, tree: str, address: str, pinned: str) -> Iterator[AgentFact]:
    """Tell what one of the trees of a mailbox holds of an agent."""
    agent = f"{tree}/{address}" if tree else address
    home = root / agent
    days = _days(home)
    yield from _identity(home, agent, pinned)
    yield from _own_key(home, agent)
    yield from _said(home, agent, days, "who_am_i", "identity.txt", "who am I")
    yield from _said(home, agent, days, TASKS, "tasks.txt", "doing")
    yield from _notes(home, agent, days)
    yield from _memories(home, agent, days)
    yield from _said(home, agent, days, "", "index.txt", "index")
    yield from _filter(root / tree, address)
    yield from _accounts(root / tree, address)


def _identity(home: Path, address: str, pinned: str) -> Iterator[AgentFact]:
    source = f"{address}/{IDENTITY}"
    path = home / IDENTITY
    try:
        held = msgspec.json.decode(read_whole(path, LARGEST_KEY), type=dict[str, Any])
        mode = stat.S_IMODE(path.lstat().st_mode)
    except FileNotFoundError:
        if pinned:
            yield AgentFact("fingerprint", f"{pinned} (of its messages)")
        words = (
            f"{IDENTITY} is not here, though messages of it are signed"
            if pinned
            else "none: its messages are not signed"
        )
        yield AgentFact("identity", words, source)
        return
    except (OSError, NotAFile, *UNREADABLE) as error:
        why = reason_of(error) if isinstance(error, (OSError, NotAFile)) else "it is damaged"
        yield AgentFact("identity", f"{IDENTITY} can't be read: {why}", source, is_warning=True)
        return
    key = _public(held)
    if not key:
        yield AgentFact("identity", f"{IDENTITY} has no key in it", source, is_warning=True)
        return
    fingerprint = fingerprint_of(key)
    yield AgentFact("fingerprint", fingerprint, source)
    created = held.get("created")
    since = f", made {created}" if isinstance(created, str) and created else ""
    yield AgentFact("identity", f"its program signs its messages{since}", source)
    if pinned and pinned != fingerprint:
        words = f"its messages were first signed with {pinned}, which is another key than in {IDENTITY}"
        yield AgentFact("key", words, source, is_warning=True)
    claimed = held.get("fingerprint")
    if isinstance(claimed, str) and claimed and claimed.lower() != fingerprint:
        yield AgentFact("key", f"{IDENTITY} claims the fingerprint {claimed}", source, is_warning=True)
    if mode & 0o077:
        words = f"other users of this machine can read its private key (mode {mode:04o}): chmod 600 {source}"
        yield AgentFact("key", words, source, is_warning=True)


def _public(held: dict[str, Any]) -> bytes:
    """Return the public key in an identity file, computed from the private one if it lacks it; empty if neither."""
    public, private = held.get("public_key_hex"), held.get("private_key_hex")
    if isinstance(private, str) and HEX_KEY.fullmatch(private) and is_checkable():
        return public_of(bytes.fromhex(private))
    return bytes.fromhex(public) if isinstance(public, str) and HEX_KEY.fullmatch(public) else b""


def _own_key(home: Path, address: str) -> Iterator[AgentFact]:
    """Tell of the key by which the program recognises the agent's owner, without the key."""
    try:
        held = msgspec.json.decode(read_whole(home / AGENT_KEY, LARGEST_KEY), type=dict[str, Any])
    except FileNotFoundError:
        return
    except (OSError, NotAFile, *UNREADABLE):
        yield AgentFact("owner key", f"{AGENT_KEY} can't be read", f"{address}/{AGENT_KEY}", is_warning=True)
        return
    created = held.get("created")
    words = [f"there since {created}" if isinstance(created, str) and created else "there"]
    if held.get("allow_memory_sharing") is True:
        words.append("other agents may read its memories")
    yield AgentFact("owner key", ", ".join(words), f"{address}/{AGENT_KEY}")


def notes_in(root: Path, tree: str) -> Iterator[AgentNote]:
    """Yield what the agents of a tree keep beside their mail, of each agent the newest day first. Blocks."""
    try:
        names = sorted(os.listdir(root / tree))  # noqa: PTH208 - names are enough
    except OSError:
        return
    for address in names:
        home = root / tree / address
        if not is_agent_name(address) or not _is_home(home):
            continue
        for day in _days(home):
            time = moment(f"{day} 00:00:00") or 0.0
            for kind, path in _kept(home / day):
                with suppress(OSError):
                    if text := read_whole(path).decode("utf-8", "replace").strip():
                        source = path.relative_to(root).as_posix()
                        yield AgentNote(name_of(address), kind, path.stem, day, time, text, source)


def _kept(day: Path) -> Iterator[tuple[str, Path]]:
    """Yield the texts of a day that are no messages, each after its kind."""
    for folder, kind in KEPT.items():
        with suppress(OSError):
            yield from [(kind, path) for path in texts_in(day / folder)]
    yield "index", day / INDEX


def _said(home: Path, address: str, days: list[str], folder: str, file: str, label: str) -> Iterator[AgentFact]:
    """Yield the newest text of a file that isn't empty, with its day."""
    for day in days[:LAST_DAYS]:
        place = f"{day}/{folder}/{file}" if folder else f"{day}/{file}"
        path = home / place
        if path.parent.is_symlink() or (home / day).is_symlink():
            continue
        try:
            text = read_whole(path, LARGEST_TEXT).decode("utf-8", "replace").strip()
        except (OSError, NotAFile):
            continue
        if text:
            cut = f"{text[:SHOWN_TEXT].rstrip()} …" if len(text) > SHOWN_TEXT else text
            yield AgentFact(label, cut, f"{address}/{place}")
            return


def _notes(home: Path, address: str, days: list[str]) -> Iterator[AgentFact]:
    """Yield the names of the agent's notes, each with the newest day that has it."""
    notes: dict[str, str] = {}
    for day in days:
        folder = home / day / "notes"
        for name, size in _files(folder):
            if size and name.endswith(".txt"):
                notes.setdefault(name.removesuffix(".txt"), day)
        if len(notes) >= MOST_NOTES:
            break
    if notes:
        names = [f"{name} ({day})" for name, day in islice(notes.items(), MOST_NOTES)]
        yield AgentFact("notes", "\n".join(names), f"{address}/*/notes")


def _memories(home: Path, address: str, days: list[str]) -> Iterator[AgentFact]:
    """Yield what the agent has stored to remember, the newest day first; of a title, the newest text."""
    memories: set[str] = set()
    for day in days:
        for name, _ in sorted(_files(home / day / "remember")):
            if not name.endswith(".txt") or name in memories or len(memories) >= MOST_NOTES:
                continue
            memories.add(name)
            for fact in _said(home, address, [day], "remember", name, "memory"):
                yield AgentFact("memory", f"{name.removesuffix('.txt')} ({day}): {fact.value}", fact.source)


def _filter(root: Path, address: str) -> Iterator[AgentFact]:
    found = rules_of(root, address)
    if found is None:
        yield AgentFact("filter", "not known: no config.json of it is beside the mailboxes")
        return
    file, rules = found
    yield AgentFact("filter", _in_words(rules), file)


def _accounts(root: Path, address: str) -> Iterator[AgentFact]:
    """Tell which of the agent's accounts on other machines could be reached, as a sync recorded it."""
    for account in accounts_of(root):
        if account.agent != address:
            continue
        since = f"since {_local(account.since)}"
        if account.is_up:
            yield AgentFact("account", f"{account.transport}: reachable {since}, last look {_local(account.looked)}")
            continue
        again = f"; next try {_local(account.next)}" if account.next is not None else ""
        words = f"{account.transport}: cut off {since} ({account.reason}){again}"
        yield AgentFact("account", words, is_warning=True)


def _local(seconds: float) -> str:
    return utc(seconds).astimezone().strftime("%Y-%m-%d %H:%M")


def _in_words(rules: Filter) -> str:
    blocked, allowed = ", ".join(rules.blacklist), ", ".join(rules.whitelist)
    if rules.mode == "off":
        return "off: messages of everybody are accepted"
    refused = f"messages from {blocked} are rejected" if blocked else ""
    if rules.mode == "whitelist" and allowed:
        return f"only messages from {allowed} are accepted{f', and {refused}' if refused else ''}"
    return refused or "messages of everybody are accepted"


def _days(home: Path) -> list[str]:
    """Return the agent's days, newest first."""
    try:
        with os.scandir(home) as entries:
            days = [
                entry.name for entry in entries if DAY.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False)
            ]
    except OSError:
        return []
    return sorted(days, reverse=True)


def _files(folder: Path) -> Iterator[tuple[str, int]]:
    try:
        if folder.is_symlink():
            return
        with os.scandir(folder) as entries:
            for entry in islice(entries, MOST_NOTES):
                if entry.is_file(follow_symlinks=False) and not entry.name.startswith("."):
                    yield entry.name, entry.stat(follow_symlinks=False).st_size
    except OSError:
        return


def _is_name(address: str) -> bool:
    return is_agent_name(address) and not {"/", "\\", "\0"}.intersection(address) and bool(address)
