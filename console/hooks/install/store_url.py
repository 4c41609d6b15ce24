"""The mailbox of an installed hook, named so that it is found from everywhere."""

from __future__ import annotations

from pathlib import Path

from mailstore.errors import StoreError
from mailstore.location import path_in
from mailstore.records.scope import parts_of, url_of
from mailstore.registry import KIND, open_store

__all__ = ["absolute_url"]


def absolute_url(given: str) -> str:
    """Return a mailbox's URL as its store names it; for one that can't be opened yet, with an absolute path."""
    if parts := parts_of(given):
        return url_of({label: absolute_url(part) for label, part in parts.items()})
    kind, colon, location = given.partition(":")
    is_url = bool(colon and KIND.fullmatch(kind))
    if is_url and path_in(given) is None:
        return given
    path = Path(location if is_url else given).expanduser().absolute()
    url = f"{kind}:{path}" if is_url else str(path)
    try:
        with open_store(url) as store:
            return store.url
    except StoreError:
        return url
