"""The address filter of a configuration, applied as AgentAZAll does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from mailstore.kinds.agentazall.places import config_at, mailbox_dir, trees_of
from mailstore.kit.patterns import is_match

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
    return any(is_match(sender, pattern.lower()) for pattern in patterns)


def filter_of(config: dict[str, Any]) -> Filter:
    """Return the filter in a configuration; OPEN if there is no valid one."""
    address_filter = config.get("address_filter")
    if not isinstance(address_filter, dict):
        return OPEN
    return Filter(
        str(address_filter.get("mode", OPEN.mode)),
        _texts(address_filter.get("blacklist")),
        _texts(address_filter.get("whitelist")),
    )


def _texts(value: object) -> tuple[str, ...]:
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list) else ()


def filters_of(root: Path) -> dict[str, Filter]:
    """Return the filters of the agents with a configuration beside the mailboxes, by address."""
    return {agent: rules for agent, _, rules in _configured(root) if rules != OPEN}


def rules_of(root: Path, address: str) -> tuple[str, Filter] | None:
    """Return the filter of an agent and the name of the file that holds it; None if it has no configuration here."""
    configured = [(file, rules) for agent, file, rules in _configured(root) if agent == address]
    return configured[-1] if configured else None


def _configured(root: Path) -> Iterator[tuple[str, str, Filter]]:
    """Yield each agent with a configuration beside the mailboxes, the file's name, and its filter."""
    with suppress(OSError):
        for folder in [root / tree for tree in trees_of(root)]:
            for path in islice(sorted(folder.parent.parent.glob("config*.json")), MOST_CONFIGS):
                with suppress(OSError):
                    config = config_at(path)
                    if config is not None and mailbox_dir(config, path) == folder:
                        yield str(config.get("agent_name")), path.name, filter_of(config)
