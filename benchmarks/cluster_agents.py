"""Agents on a cluster, several in a process: they send at a steady pace, read what comes, and say they are there.

Times are those of the system's monotonic clock, which all processes share.
"""

from __future__ import annotations

import multiprocessing
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from multiprocessing.queues import Queue
from threading import Thread
from typing import TYPE_CHECKING, TypeVar

from mailstore.errors import MailError, StoreError
from mailstore.records.draft import Draft, draft
from mailstore.records.roster import Agent, Status
from mailstore.registry import open_store
from mailstore.store import Store

if TYPE_CHECKING:
    from multiprocessing.context import SpawnProcess

Done = TypeVar("Done")
PROCESSES = multiprocessing.get_context("spawn")
READ_EVERY = 10
BEAT_SECONDS = 5.0
AGAIN_SECONDS = 0.2
PATIENCE = 300.0
WORDS = "word " * 90


@dataclass
class Told:
    """What the agents of one process did: acknowledged messages and reads, and what was refused meanwhile."""

    sent: list[tuple[float, str, float]] = field(default_factory=list)
    """When it was acknowledged, its id, and the seconds that the send took."""
    read: list[tuple[str, str]] = field(default_factory=list)
    refused: list[tuple[float, str]] = field(default_factory=list)
    """When a send or another command failed, and why; a send is repeated as a new message."""


def agent_name(number: int) -> str:
    """Return the id of an agent."""
    return f"agent-{number:04d}"


def started(
    url: str, numbers: Sequence[int], each: int, start: float, seconds: float
) -> tuple[SpawnProcess, Queue[Told]]:
    """Start a process of agents that send `each` messages, evenly from `start` on for some seconds."""
    told: Queue[Told] = PROCESSES.Queue()
    process = PROCESSES.Process(target=_process, args=(url, numbers, each, start, seconds, told))
    process.start()
    return process, told


def _process(url: str, numbers: Sequence[int], each: int, start: float, seconds: float, queue: Queue[Told]) -> None:
    told = Told()
    boxes = {number: deque[str]() for number in numbers}
    threads = [Thread(target=_agent, args=(url, number, boxes, each, start, seconds, told)) for number in numbers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    queue.put(told)


def _agent(
    url: str, number: int, boxes: dict[int, deque[str]], each: int, start: float, seconds: float, told: Told
) -> None:
    name, numbers = agent_name(number), list(boxes)
    at = numbers.index(number)
    other = numbers[(at + 1) % len(numbers)]
    beat = 0.0
    with open_store(url) as store:
        for count in range(each):
            # the agents of a process take turns
            due = start + seconds * (count + at / len(numbers)) / each
            time.sleep(max(0.0, due - time.monotonic()))
            entry = draft(
                sender=name, recipients=(agent_name(other),), subject=f"{name} {count}", content=f"{count} {WORDS}"
            )
            boxes[other].append(_repeated(told, lambda entry=entry: _sent(store, entry, told)))
            if count % READ_EVERY == 0 and boxes[number]:
                mail = [boxes[number].popleft() for _ in range(len(boxes[number]))]
                _repeated(told, lambda mail=mail: store.mark_read(name, mail))
                told.read += [(name, message) for message in mail]
            if time.monotonic() - beat > BEAT_SECONDS:
                beat = time.monotonic()
                agent = Agent(session_id=name, status=Status.LIVING, last_seen=time.time())
                _repeated(told, lambda agent=agent: store.update_agent(agent))


def _sent(store: Store, mail: Draft, told: Told) -> str:
    begun = time.monotonic()
    message = store.send(mail)
    ended = time.monotonic()
    told.sent.append((ended, message.id, ended - begun))
    return message.id


def _repeated(told: Told, act: Callable[[], Done]) -> Done:
    """Do something until it succeeds, noting what was refused. Raises StoreError after some minutes."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return act()
        except MailError as error:
            told.refused.append((time.monotonic(), str(error)))
            if time.monotonic() > end:
                raise StoreError("an agent gave up", str(error)) from error
        time.sleep(AGAIN_SECONDS)
