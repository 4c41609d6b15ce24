"""Which mailbox a session belongs to. Imports next to nothing, because every hook does, unless it is an unusual one."""

from __future__ import annotations

import os

from console.hooks.state_folder import hooks_folder
from console.hooks.user_settings import configured_store
from mailstore.discovery import found_from

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

HAAK = "haak"
MAILBOX = "agent-mailbox.jsonl"


def mailbox_of(cwd: str, store: str, env: Mapping[str, str]) -> str | None:
    """Return the URL of the mailbox of a session, as `Store.url` says it; None if there is none.

    `store` is what the installed command names, if it does. Else it is chosen as by every other command: by
    $SIGNALBOX_STORE, the settings, or from the session's folder upward.
    """
    if chosen := store or env.get("SIGNALBOX_STORE") or configured_store(env):
        return _named(chosen, cwd, env)
    location = found_from(cwd) if os.path.isabs(cwd) else None  # noqa: PTH117 - pathlib costs more than all of this
    if location is None:
        return None
    return _haak_url(location[1]) if location[0] == HAAK else _opened(":".join(location))


def store_option(mailbox: str, cwd: str, env: Mapping[str, str]) -> str:
    """Return what an agent must give as --store for its commands to find this mailbox; empty if they find it alone."""
    plain = mailbox_of(cwd, "", env)
    return "" if plain is not None and hooks_folder(plain) == hooks_folder(mailbox) else mailbox


def _named(url: str, cwd: str, env: Mapping[str, str]) -> str | None:
    kind, colon, place = url.partition(":")
    if not colon or os.path.lexists(os.path.join(cwd, url)):  # noqa: PTH118
        kind, place = "", url
    if place.startswith("~/"):
        place = f"{env.get('HOME') or os.path.expanduser('~')}{place[1:]}"  # noqa: PTH111
    if kind in ("", HAAK) and not place.startswith(("//", "~")):
        place = os.path.normpath(os.path.join(cwd, place))  # noqa: PTH118
        for path in (place, f"{place}/{MAILBOX}", f"{place}/data/{MAILBOX}"):
            if os.path.basename(path) == MAILBOX and os.path.isfile(path):  # noqa: PTH113, PTH119
                return _haak_url(path)
    is_place = place.startswith("//") or kind == "several" or os.path.isabs(place)  # noqa: PTH117
    place = place if is_place else os.path.join(cwd, place)  # noqa: PTH118
    return _opened(f"{kind}:{place}" if kind else place)


def _haak_url(path: str) -> str:
    folder, name = os.path.split(path)
    return f"{HAAK}:{os.path.realpath(folder)}/{name}"


def _opened(url: str) -> str | None:
    """Return what a mailbox of any kind calls itself, without secrets; None if there is none."""
    from mailstore.installed_kinds import turn_on_site_packages

    turn_on_site_packages()
    from console.settings.server_tables import use_config_file
    from mailstore.errors import MailError
    from mailstore.registry import open_store

    use_config_file()
    try:
        with open_store(url) as store:
            return store.url
    except MailError:
        return None
