"""Our own words in what a model was asked, whoever's name they came in."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tests.agents.model_requests import ModelRequest

OURS = re.compile(r"Signalbox: [^\n]+")


class Notice(NamedTuple):
    """A line of ours: the role of the message and the kind of block it stands in."""

    role: str
    kind: str
    line: str


def notices(request: ModelRequest) -> list[Notice]:
    """Return all that a request holds, in order."""
    return list(_found(request))


def new_notices(requests: Sequence[ModelRequest]) -> list[list[Notice]]:
    """Return for each request of one conversation the notices that the one before did not hold."""
    new: list[list[Notice]] = []
    before: Counter[str] = Counter()
    for request in requests:
        found = notices(request)
        left = before.copy()
        new.append([])
        for notice in found:
            if left[notice.line] > 0:
                left[notice.line] -= 1
            else:
                new[-1].append(notice)
        before = Counter(notice.line for notice in found)
    return new


def _found(request: ModelRequest) -> Iterator[Notice]:
    for place in request.places():
        if place.path.startswith(("messages", "input", "contents")):
            yield from (Notice(place.role, place.kind, line) for line in OURS.findall(place.text))
