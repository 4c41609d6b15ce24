"""Holds a mailbox to one thread, where somebody looks for who does not keep to it."""

from __future__ import annotations

import os
from threading import get_ident
from typing import Any

from mailstore.records.roster import Roster
from mailstore.state.mailbox import Mailbox

__all__ = ["OtherThread", "guarded"]

IS_ON = bool(os.environ.get("SIGNALBOX_DEBUG"))


class OtherThread(AssertionError):
    """A thread touched a mailbox that another one folds."""


class _Guarded:
    """Refuses every thread but the one that it belongs to."""

    _owner: int

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if super().__getattribute__("_owner") != get_ident():
            raise OtherThread(f"{type(self).__name__}.{name} from a thread that does not fold it")
        return found


class GuardedRoster(_Guarded, Roster):
    """A roster that belongs to one thread."""


class GuardedMailbox(_Guarded, Mailbox):
    """A mailbox that belongs to one thread, with its roster."""

    def _clear(self) -> None:
        super()._clear()
        _own(self.roster, GuardedRoster)


def guarded(mailbox: Mailbox) -> Mailbox:
    """Return a mailbox that, where that is to be checked, belongs to this thread from now on."""
    if IS_ON:
        _own(mailbox.roster, GuardedRoster)
        _own(mailbox, GuardedMailbox)
    return mailbox


def _own(owned: Any, kind: type) -> None:
    owned._owner = get_ident()
    owned.__class__ = kind
