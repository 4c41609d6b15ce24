"""The options of an installed hook: a person's choices. Read without a parser, which costs more than a hook does."""

from __future__ import annotations

NOTICE, AT_START, EVERYWHERE = "notice", "session-start", "letters"
DELIVER = (NOTICE, AT_START, EVERYWHERE)
FREEZE, BURY = "freeze", "bury"


class RunOptions:
    """What stands after the program's name: an event, if the program doesn't say it, and options.

    Raises ValueError for anything else.
    """

    __slots__ = ("at_end", "can_wake", "deliver", "event", "store")

    def __init__(self, words: list[str]) -> None:
        self.event = self.store = ""
        self.deliver = NOTICE
        self.at_end = FREEZE
        self.can_wake = False
        rest = iter(words)
        for word in rest:
            name, equals, value = word.partition("=")
            if word == "--wake":
                self.can_wake = True
            elif not word.startswith("-") and not self.event:
                self.event = word
            elif name in ("--store", "--deliver", "--at-end"):
                self._set(name, value if equals else next(rest, ""))
            else:
                raise ValueError(f'unknown option "{word}"')

    def _set(self, name: str, value: str) -> None:
        if name == "--store" and value:
            self.store = value
        elif name == "--deliver" and value in DELIVER:
            self.deliver = value
        elif name == "--at-end" and value in (FREEZE, BURY):
            self.at_end = value
        else:
            raise ValueError(f'"{value}" is not a value of {name}')
