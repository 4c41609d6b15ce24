"""The address filter of a configuration, applied as AgentAZAll does."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from mailstore.stores.agentazall.places import config_at, mailbox_dir

__all__ = ["OPEN", "Filter", "filter_of", "filters_of", "is_blocked"]

MOST_CONFIGS = 100


class Filter(NamedTuple):
    """Which remote senders an agent's program accepts; local mail is never filtered."""

    mode: str = "blacklist"
    blacklist: tuple[str, ...] = ()
    whitelist: tuple[str, ...] = ()


OPEN = Filter()


def is_blocked(rules: Filter, sender: str) -> bool:
    """Return whether a filter rejects a sender, by the raw From header."""
    sender = sender.lower().strip()
    if rules.mode == "off" or not sender:
        return False
    if _matches(rules.blacklist, sender):
        return True
    return rules.mode == "whitelist" and bool(rules.whitelist) and not _matches(rules.whitelist, sender)


def _matches(patterns: Iterable[str], sender: str) -> bool:
    return any(fnmatchcase(sender, pattern.lower()) for pattern in patterns)


def filter_of(config: dict[str, Any]) -> Filter:
    """Return the filter in a configuration; OPEN if there is no valid one."""
    found = config.get("address_filter")
    if not isinstance(found, dict):
        return OPEN
    return Filter(str(found.get("mode", OPEN.mode)), _texts(found.get("blacklist")), _texts(found.get("whitelist")))


def _texts(value: object) -> tuple[str, ...]:
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list) else ()


def filters_of(root: Path) -> dict[str, Filter]:
    """Return the filters of the agents with a configuration beside the mailboxes, by address."""
    found: dict[str, Filter] = {}
    with suppress(OSError):
        for path in islice(sorted(root.parent.parent.glob("config*.json")), MOST_CONFIGS):
            with suppress(OSError):
                config = config_at(path)
                if config is not None and mailbox_dir(config, path) == root:
                    rules = filter_of(config)
                    if rules != OPEN:
                        found[str(config.get("agent_name"))] = rules
    return found
