"""Which tasks of a thread were cancelled, and by what: a cancellation is passed on to the tasks below its own."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable
from typing import NamedTuple

from mailstore.records.message import Message, by_age

CANCEL = "cancel"
TASKS = frozenset({"task-assigned", "task_assign"})
DONE = frozenset({"task-done", "task_result"})


class ThreadPlace(NamedTuple):
    """A message in its place in a thread; without one it is a parent that does not exist."""

    id: str
    parent: str | None
    message: Message | None


class TaskStates:
    """The tasks of a thread, which is given in reading order: each is open until it is done or cancelled.

    A cancellation answers a task, or anything below it up to the next task, and is passed on to all tasks below that
    were open then: `cancelled` has the message that cancelled each task, by the task's id.
    """

    def __init__(self, thread: Iterable[ThreadPlace]) -> None:
        self._thread = list(thread)
        self._at = {place.id: at for at, place in enumerate(self._thread)}
        self._ends = list(range(1, len(self._thread) + 1))
        """By place, where the part of the thread below it ends."""
        self._tops: list[int] = []
        """By place, the task that it belongs to; where there is none, itself."""
        self._open: list[int] = []
        self.cancelled: dict[str, Message] = {}
        for at, place in enumerate(self._thread):
            above = self._tops[self._at[place.parent]] if place.parent in self._at else at
            self._tops.append(above if self._is_task(above) and not self._is_task(at) else at)
        for at in reversed(range(len(self._thread))):
            if (parent := self._at.get(self._thread[at].parent or "")) is not None:
                self._ends[parent] = max(self._ends[parent], self._ends[at])
        messages = [place.message for place in self._thread if place.message is not None]
        for message in sorted(messages, key=by_age):
            self._take(message)

    def _is_task(self, at: int) -> bool:
        message = self._thread[at].message
        return message is not None and message.type in TASKS

    def _take(self, message: Message) -> None:
        at = self._at[message.id]
        parent = self._at.get(self._thread[at].parent or "")
        if message.type in TASKS:
            insort(self._open, at)
        elif parent is None:
            return
        elif message.type in DONE and self._is_task(parent):
            del self._open[self._place(parent) : self._place(parent + 1)]
        elif message.type == CANCEL:
            below = self._below(parent)
            self.cancelled.update((self._thread[task].id, message) for task in self._open[below])
            del self._open[below]

    def _below(self, at: int) -> slice:
        top = self._tops[at]
        return slice(self._place(top), self._place(self._ends[top]))

    def _place(self, at: int) -> int:
        return bisect_left(self._open, at)

    def open_below(self, answered: str) -> list[Message]:
        """Return the open tasks that a cancellation in answer to a message would cancel."""
        messages = (self._thread[at].message for at in self._open[self._below(self._at[answered])])
        return [message for message in messages if message is not None]
