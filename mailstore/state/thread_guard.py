"""Refuses access to a mailbox from another thread than the one that folds it, where that is to be checked."""

from __future__ import annotations

import os
from collections.abc import Iterator
from threading import get_ident
from typing import Any, cast

from mailstore.records.roster import Roster
from mailstore.state.contents import MailboxContents
from mailstore.state.mailbox import Mailbox

IS_ON = bool(os.environ.get("SIGNALBOX_DEBUG"))


class WrongThread(AssertionError):
    """A thread touched a mailbox that another one folds."""


class _Guard:
    """Stands in for an object, for the thread that made this alone; what the object holds of rosters is guarded too."""

    def __init__(self, target: Any) -> None:
        object.__setattr__(self, "_target", target)
        object.__setattr__(self, "_owner", get_ident())

    def _checked(self, name: str) -> Any:
        if self._owner != get_ident():
            raise WrongThread(f"{type(self._target).__name__}.{name} from a thread that does not fold it")
        return self._target

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._checked(name), name)
        return _Guard(attribute) if isinstance(attribute, Roster) else attribute

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._checked(name), name, value)

    def __len__(self) -> int:
        return len(self._checked("__len__"))

    def __iter__(self) -> Iterator[Any]:
        return iter(self._checked("__iter__"))


def guarded(mailbox: Mailbox) -> Mailbox:
    """Return a mailbox of the same contents that belongs to this thread, where that is to be checked."""
    if not IS_ON:
        return mailbox
    contents = mailbox.contents
    target = contents._target if isinstance(contents, _Guard) else contents
    return Mailbox(mailbox.user, cast(MailboxContents, _Guard(target)))
