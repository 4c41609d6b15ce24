"""The options of an installed hook and of commands that run as often, read without argparse, which costs too much."""

from __future__ import annotations

from console.hooks.calls import LIMITS, limits_in
from console.hooks.quick_look import GATE_OPTION

NOTICE, AT_START, EVERYWHERE = "notice", "session-start", "letters"
DELIVERIES = (AT_START, NOTICE, EVERYWHERE)
ENDS = FREEZE, BURY = "freeze", "bury"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection


def options_in(
    words: list[str], valued: Collection[str], flags: Collection[str] = ()
) -> tuple[dict[str, str], list[str]]:
    """Return the options with their values, a flag's being its name, and the other words.

    Raises ValueError for any other option, and for one that lacks its value.
    """
    options: dict[str, str] = {}
    others: list[str] = []
    rest = iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        if word in flags:
            options[word] = word
        elif name in valued:
            options[name] = value if equals else next(rest, "")
            if not options[name] or (not equals and options[name].startswith("-")):
                raise ValueError(f"{name} needs a value")
        elif word.startswith("-"):
            raise ValueError(f'unknown option "{word}"')
        else:
            others.append(word)
    return options, others


class RunOptions:
    """What stands after the program's name: an event, if the program doesn't say it, and options.

    Raises ValueError for anything else.
    """

    __slots__ = ("at_end", "can_wake", "deliver", "event", "has_gate", "limits", "store")

    def __init__(self, words: list[str]) -> None:
        found, events = options_in(words, ("--store", "--deliver", "--at-end", *LIMITS), ("--wake", GATE_OPTION))
        self.event = events[0] if events else ""
        self.store = found.get("--store", "")
        self.deliver = found.get("--deliver", NOTICE)
        self.at_end = found.get("--at-end", FREEZE)
        self.can_wake = "--wake" in found
        self.has_gate = GATE_OPTION in found
        self.limits = limits_in(words)
        if len(events) > 1 or self.deliver not in DELIVERIES or self.at_end not in ENDS:
            raise ValueError(f"options that make no sense: {' '.join(words)}")
