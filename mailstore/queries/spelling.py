"""For a query that finds nothing: the nearest spelling that does occur in the mailbox."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from difflib import SequenceMatcher
from itertools import chain, islice
from typing import Any, TypeVar

from mailstore.errors import QueryError
from mailstore.queries.language.fields import FIELD_NAMES
from mailstore.queries.language.parser import parse
from mailstore.queries.language.tree import Query, Words, sought_in
from mailstore.queries.search import Candidates, looked_up
from mailstore.queries.search_context import SearchContext
from mailstore.records.message import Message
from mailstore.state.mailbox import Mailbox
from mailstore.steps import BackgroundWork, Steps

WORD = re.compile(r"\w+(?:[-_.]\w+)*")
QUOTED = re.compile(r'("[^"]*")')
OR, AND = re.compile(r"\s+(?:or|Or|\|\|?)\s+"), re.compile(r"\s+(?:and|And|&&?)\s+")
NOT = re.compile(r"(^|[\s(])(?:not|Not)\s+(?=[^\s)])")
UNKNOWN_FIELD = re.compile(r"\b([a-z]+):([^\s\"()]+)")
MOST_TERMS = 5
"""Words of a query that are looked at."""
SHORTEST, LONGEST = 3, 40
"""Characters of a word whose spelling is compared."""
SUBJECTS, TEXTS = 20_000, 300
"""How many of the newest subjects and texts the words come from."""
AT_ONCE = 64
"""Messages or words between two steps: less than a millisecond."""
T = TypeVar("T")
Later = Generator[BackgroundWork[Any] | None, None, T]
"""Steps that find nothing on the way and return something at the end."""
LEAST = 0.7
"""How alike two spellings are at least, 1 being equal."""


def respelled(text: str, query: Query, context: SearchContext, candidates: Candidates) -> Steps[str]:
    """Yield the text of a query as it may have been meant: with operators, or words that occur, if there is any."""
    if (other := meant_by(text)) != text and (yield from _finds(parse(other, context.now), context, candidates)):
        yield other
        return
    sought = sought_in(query)
    phrases = [phrase if isinstance(phrase, str) else phrase.word for phrase in (*sought.texts, *sought.subjects)]
    words = list(dict.fromkeys(word for phrase in phrases for word in WORD.findall(phrase)))
    unknown: list[str] = []
    for word in words[:MOST_TERMS]:
        occurs = yield from _occurs(word, context, candidates)
        unknown += [] if occurs else [word]
    names = Counter(_names(context.mailbox))
    strange = [name for name in sought.names[:MOST_TERMS] if not any(known.startswith(name) for known in names)]
    if not unknown and not strange:
        return
    known = names if not unknown else (yield from _vocabulary(context, names))
    result = text
    for word, among in [*((word, known) for word in unknown), *((name, names) for name in strange)]:
        nearest = yield from nearest_spelling(word, among)
        if nearest:
            result = _replaced(result, word, nearest)
    if result != text:
        yield result


def meant_by(text: str) -> str:
    """Return a query with the operators that its words may have been meant as, and without fields that are none."""
    parts = QUOTED.split(text)
    for at in range(0, len(parts), 2):
        words = UNKNOWN_FIELD.sub(lambda match: match[0] if match[1] in FIELD_NAMES else match[2], parts[at])
        parts[at] = NOT.sub(r"\1-", AND.sub(" ", OR.sub(" OR ", words)))
    meant = "".join(parts)
    try:
        parse(meant, 0.0)
    except QueryError:
        return text
    return meant


def _replaced(text: str, word: str, by: str) -> str:
    return re.sub(re.escape(word), lambda _: by, text, count=1, flags=re.IGNORECASE)


def nearest_spelling(word: str, known: Counter[str]) -> Later[str]:
    """Return, after some steps, the known word that is spelled most like a word; empty if none is like it."""
    if not SHORTEST <= len(word) <= LONGEST:
        return ""
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(word)
    best, least = "", (LEAST, 0)
    for at, (other, number) in enumerate(known.items()):
        if at % AT_ONCE == 0:
            yield None
        if abs(len(other) - len(word)) > 2 or other == word:
            continue
        matcher.set_seq1(other)
        if matcher.real_quick_ratio() < least[0] or matcher.quick_ratio() < least[0]:
            continue
        if (likeness := (matcher.ratio(), number)) > least:
            best, least = other, likeness
    return best


def _occurs(word: str, context: SearchContext, candidates: Candidates) -> Later[bool]:
    """Return, after some steps, whether any message has a word."""
    return (yield from _finds(Words(word), context, candidates))


def _finds(query: Query, context: SearchContext, candidates: Candidates) -> Later[bool]:
    with closing(looked_up(query, context, candidates)) as steps:
        for step in steps:
            if isinstance(step, list):
                if step:
                    return True
            else:
                yield step
    return False


def _vocabulary(context: SearchContext, names: Counter[str]) -> Later[Counter[str]]:
    """Return, after some steps, the words of the newest subjects and texts, and all names."""
    counts, newest = Counter(names), context.mailbox.newest()
    subjects: list[str] = []
    recent: list[Message] = []
    for _ in range(0, SUBJECTS, AT_ONCE):
        some = list(islice(newest, AT_ONCE))
        if not some:
            break
        subjects += (message.subject for message in some)
        recent += some[: TEXTS - len(recent)]
        yield None
    reading = BackgroundWork(lambda: Counter(_words(chain(subjects, map(context.text, recent)))))
    yield reading
    counts.update(reading.found())
    return counts


def _words(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        yield from (word for word in WORD.findall(text.casefold()) if SHORTEST <= len(word) <= LONGEST)


def _names(mailbox: Mailbox) -> Iterator[str]:
    roster = mailbox.roster
    for agent in roster:
        yield from (name.casefold() for name in (agent.session_id, agent.name) if name)
    yield from (role.casefold() for role in roster.roles())
    for channel in mailbox.channels():
        tag = channel.tag.casefold()
        yield from (tag, tag.partition(":")[2] or tag)
