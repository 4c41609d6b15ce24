"""The mailbox of an installed hook, named so that it is found from everywhere."""

from __future__ import annotations

from pathlib import Path

from mailstore.errors import StoreError
from mailstore.location import path_in
from mailstore.records.scope import parts_of, url_of
from mailstore.registry import kind_and_location, open_store


def absolute_url(given: str) -> str:
    """Return a mailbox's URL as its store names it; for one that can't be opened yet, with an absolute path."""
    if parts := parts_of(given):
        return url_of({label: absolute_url(part) for label, part in parts.items()})
    kind, location = kind_and_location(given)
    if kind and path_in(given) is None:
        return given
    path = Path(location).expanduser().absolute()
    url = f"{kind}:{path}" if kind else str(path)
    try:
        with open_store(url) as store:
            return store.url
    except StoreError:
        return url
