"""Choose labels for several mailboxes."""

from __future__ import annotations

import re
from collections.abc import Iterable

from mailstore.errors import MailError, StoreError
from mailstore.location import without_secrets
from mailstore.records.scope import LABEL, url_of
from mailstore.registry import open_store


def named_together(given: Iterable[str], *, poll: bool = False) -> str:
    """Return the URL of several mailboxes, each given as `URL` or `LABEL=URL`. Raises StoreError.

    The default label is the kind, then the title, then one of these with a number.
    """
    parts: dict[str, str] = {}
    for text in given:
        label, sign, url = text.partition("=")
        if not sign or not LABEL.fullmatch(label):
            label, url = "", text
        if label in parts:
            raise StoreError(f"two mailboxes are called {label!r}", "give each a label of its own: LABEL=URL", "E298")
        names, url = _names(url, poll)
        parts[label or _free(names, parts)] = url
    return url_of(parts)


def _names(url: str, poll: bool) -> tuple[list[str], str]:
    """Return possible labels and the absolute URL; a mailbox that can't be opened keeps the given one."""
    try:
        with open_store(url, poll=poll) as store:
            return [store.kind, *re.split(r"[/\\]", store.title)], store.url
    except MailError:
        return [part for part in re.split(r"[/\\:]", without_secrets(url)) if part][::-1], url


def _free(names: list[str], taken: Iterable[str]) -> str:
    used = set(taken)
    fit = [name for name in (re.sub(r"[^A-Za-z0-9_.-]", "-", name).strip(".-_")[:20] for name in names) if name]
    for name in fit or ["mailbox"]:
        if name not in used and LABEL.fullmatch(name):
            return name
    first = (fit or ["mailbox"])[0]
    return next(label for number in range(2, 1000) if (label := f"{first}-{number}") not in used)
