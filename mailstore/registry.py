"""The installed kinds of store, found by their entry points, and the mailbox that a URL or path names."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any

from msgspec import Struct

from mailstore.discovery import found_from
from mailstore.errors import MailboxMissing, MailError, StoreError, UnknownStore
from mailstore.installed_kinds import LAYER, OwnCommand, OwnDemo, StoreKind, installed_kinds, refreshed
from mailstore.location import hide_secrets, path_of, secrets_in, without_secrets
from mailstore.records.scope import KIND as SEVERAL
from mailstore.records.scope import url_of
from mailstore.store import Store

KIND = re.compile(r"[a-z][a-z0-9+-]*")

_complete: dict[str, str] = {}
"""The URLs with secrets that this process was given, by the URLs without them."""


def kinds() -> list[str]:
    """Return the name of every installed kind of store, those of the layer first."""
    return [*LAYER, *installed_kinds()]


def store_class(kind: str) -> type[Store]:
    """Return the class for a kind; raises UnknownStore with the most similar name."""
    kind_or_reason = described(kind)
    return _checked(
        kind, _imported(kind, kind_or_reason.store) if isinstance(kind_or_reason, StoreKind) else kind_or_reason
    )


def described(kind: str) -> object:
    """Return what describes a kind: a StoreKind, or what its package gives instead. Raises UnknownStore.

    The layer's own kinds are found without reading what is installed.
    """
    if kind in LAYER:
        return LAYER[kind]
    installed = installed_kinds().get(kind) or refreshed().get(kind)
    if installed is not None:
        return _imported(kind, installed.target)
    near = get_close_matches(kind, kinds(), n=1)
    hint = f"did you mean {near[0]}?" if near else f"use {', '.join(kinds())}, or install the package that has it"
    raise UnknownStore(f'unknown kind of store "{kind}"', hint, "E279")


def own_commands() -> dict[str, OwnCommand]:
    """Return the commands that kinds have of their own, by name; none of one that can't be loaded."""
    return {command.name: command for kind in _descriptions().values() for command in kind.commands}


def own_demos() -> dict[str, OwnDemo]:
    """Return the places that kinds have for the demonstration, by the kind's name."""
    return {name: kind.demo for name, kind in _descriptions().items() if kind.demo}


def demo_mailbox(demo: OwnDemo, root: Path) -> AbstractContextManager[str]:
    """Make the mailbox of a demonstration in a place of a kind's own; yield its URL. Raises StoreError."""
    made: AbstractContextManager[str] = imported(demo.make)(root)
    return made


def _descriptions() -> dict[str, StoreKind]:
    """Return what describes each kind that packages bring; those that can't be loaded are left out."""
    store_kinds = {}
    for name in installed_kinds():
        with suppress(UnknownStore):
            kind = described(name)
            if isinstance(kind, StoreKind):
                store_kinds[name] = kind
    return store_kinds


def settings_tables() -> dict[str, type[Struct]]:
    """Return the tables of a program's settings that kinds have, by name; none of one that can't be loaded."""
    result: dict[str, type[Struct]] = {}
    for name, kind in _descriptions().items():
        for table, target in kind.tables.items():
            with suppress(UnknownStore):
                model = _imported(name, target)
                if isinstance(model, type) and issubclass(model, Struct):
                    result[table] = model
    return result


def _imported(kind: str, target: str) -> object:
    try:
        return imported(target)
    except Exception as error:  # whatever another package raises must not break the other kinds
        raise UnknownStore(
            f'the kind "{kind}" can\'t be loaded ({error})', "fix or remove its package", "E286"
        ) from error


def imported(target: str) -> Any:
    """Return what "module:object" names."""
    module, _, name = target.partition(":")
    return getattr(import_module(module), name)


def _checked(kind: str, description: object) -> type[Store]:
    if not (isinstance(description, type) and issubclass(description, Store)):
        raise UnknownStore(f'the kind "{kind}" is not a store class', "fix or remove its package", "E282")
    if left_out := sorted(description.__abstractmethods__):
        raise UnknownStore(
            f"the kind {kind!r} does not implement {', '.join(left_out)}", "fix or remove its package", "E283"
        )
    return description


def open_store(url: str | Path, *, poll: bool = False) -> Store:
    """Open the mailbox that `KIND:LOCATION` or a plain path names, or those below the path, reading nothing yet.

    A URL without its secrets opens the mailbox for which this process was given them. Raises UnknownStore for a kind or
    a path that is not recognised, MailboxMissing if nothing is there. No error tells a secret.
    """
    text = complete_url(str(url))
    return _without_showing_secrets(text, lambda: _open(text, poll))


def kind_and_location(text: str) -> tuple[str, str]:
    """Return the kind and the location that a `KIND:LOCATION` names; no kind for a path, or if a file has this name."""
    kind, colon, location = text.partition(":")
    is_url = bool(colon and KIND.fullmatch(kind)) and not os.path.lexists(text)
    return (kind, location) if is_url else ("", text)


def recognised_kind(place: Path) -> str:
    """Return the kind of the mailbox at a path; empty if none is recognised."""
    for name in _asked():
        try:
            if store_class(name).recognise(place):
                return name
        except UnknownStore:
            continue
    return ""


def _asked() -> Iterator[str]:
    """Yield the kinds in the order in which they are asked whether a path is theirs."""
    yield from LAYER
    last = []
    for name in installed_kinds():
        try:
            description = described(name)
        except UnknownStore:
            description = None  # said by whoever asks for the class
        if isinstance(description, StoreKind) and description.is_asked_last:
            last.append(name)
        else:
            yield name
    yield from last


def create_store(kind: str, location: str) -> Store:
    """Create an empty mailbox of a kind, or open the one that is there. Raises StoreError; no error shows a secret."""
    store = store_class(kind)
    return _without_showing_secrets(f"{kind}:{location}", lambda: store.create(location))


def _without_showing_secrets(url: str, make: Callable[[], Store]) -> Store:
    """Return the store for a URL, and remember its secrets; an error that it raises shows none of them."""
    try:
        store = make()
    except MailError as error:
        hidden = hide_secrets(error, url)
        raise hidden from hidden.__cause__
    except Exception as error:
        if not secrets_in(url):
            raise
        failed = StoreError(f"{without_secrets(url)} can't be opened", f"{type(error).__name__}: {error}", "E285")
        raise hide_secrets(failed, url) from None
    if (shown := without_secrets(url)) != url:
        _complete[shown] = _complete[store.url] = url
    return store


def complete_url(url: str) -> str:
    """Return a URL with the secrets that this process was given for it. It must not be shown."""
    return _complete.get(url, url)


def is_there(kind: type[Store], location: str) -> bool:
    """Say whether there is a mailbox of a kind at a location, by a quick check. Raises StoreError."""
    if not location.startswith("//"):
        return kind.recognise(path_of(location))
    try:
        _without_showing_secrets(f"{kind.kind}:{location}", lambda: kind.open(location)).close()
    except MailboxMissing:
        return False
    return True


def _open(text: str, poll: bool) -> Store:
    kind, location = kind_and_location(text)
    if kind:
        return store_class(kind).open(location, poll=poll)
    place = path_of(text)
    if not place.exists():
        shown = without_secrets(text)
        raise MailboxMissing(f"no mailbox at {shown}", "create one with signalbox init, or try signalbox demo", "E284")
    broken = ""
    known: list[type[Store]] = []
    parts: dict[str, str] = {}
    for name in _asked():
        try:
            store = store_class(name)
        except UnknownStore as error:
            broken = f"; {error.problem}"
            continue
        if store.recognise(place):
            kind_of = described(name)
            parts = _in_home(place) if isinstance(kind_of, StoreKind) and kind_of.homes else {}
            if len(parts) > 1:
                break
            return store.open(str(place), poll=poll)
        known.append(store)
    if parts := parts or _in_home(place):
        return open_store(_together(parts), poll=poll)
    if parts := {label: f"{it.kind}:{root}" for it in known for label, root in it.roots(place).items()}:
        return store_class(SEVERAL).open(url_of(parts).partition(":")[2], poll=poll)
    raise UnknownStore(
        f"no known kind of mailbox at {text}{broken}", "name its kind as KIND:PATH (see signalbox stores)", "E280"
    )


def home_stores() -> list[Store]:
    """Open the mailboxes in the user's home that may know what sessions have used; they are not read."""
    stores = []
    for url in _in_home(Path.home()).values():
        with suppress(MailError):
            stores.append(open_store(url))
    return stores


def mailbox_for(start: Path) -> str:
    """Return the URL of the mailbox to show in a folder: the nearest known one, else those in the user's home.

    Raises MailboxMissing.
    """
    try:
        return discover(start)
    except MailboxMissing:
        parts = _in_home(Path.home())
        if not parts:
            raise
        return _together(parts)


def _in_home(home: Path) -> dict[str, str]:
    """Return the URLs of the mailboxes that kinds have in a user's home, each by a name that distinguishes it."""
    parts = {}
    for name, kind in _descriptions().items():
        for place in kind.homes:
            with suppress(UnknownStore):
                if is_there(store_class(name), str(home / place)):
                    label = name if len(kind.homes) == 1 else Path(place).name.removeprefix(".")
                    parts[label] = f"{name}:{home / place}"
    return parts


def _together(parts: dict[str, str]) -> str:
    return url_of(parts) if len(parts) > 1 else next(iter(parts.values()))


def discover(start: Path) -> str:
    """Return the URL of the nearest known mailbox in a folder or those above it, or in the main checkout of a worktree.

    Raises MailboxMissing.
    """
    if (location := found_from(os.path.abspath(start))) is not None:  # noqa: PTH100 - resolves no links
        return ":".join(location)
    raise MailboxMissing(
        f"no mailbox in {start}, nor in the folders above it",
        "see a sample with signalbox demo, make one with signalbox init, or name one with --store "
        "(signalbox stores lists the kinds that are known)",
        "E281",
    )
