"""Sifting a list: whatever comes while it is sifted, it ends with all that is wanted, the newest first."""

from __future__ import annotations

from collections.abc import Sequence
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from mailstore.records.events import Event
from mailstore.records.message import Message, by_age
from mailstore.rules.retention import EVERYTHING, Retention, retained
from mailstore.state.mailbox import Mailbox
from mailstore.state.thread_filter import FilteredThreads
from mailstore.state.views import View
from tests.mailstore.test_mailbox_order import HOUR, NAMES, NOW, TAGS, events

VIEWS = [
    View("all"),
    View("unread"),
    View("recent"),
    View("for-you"),
    View("channel", TAGS[0]),
    View("agent", NAMES[0]),
]
RULES = [EVERYTHING, Retention(days=2), Retention(messages=3), Retention(days=3, messages=2)]
TEXTS = ["", "m", "m1", "alpha", "SESSION m", "architect", "nobody here"]


def wanted(mailbox: Mailbox, view: View, rule: Retention, text: str, *, only_unread: bool) -> set[str]:
    """Look at every thread, as a list without a filter would have to."""
    roots: Sequence[str] = mailbox.threads(view)
    if view.kind == "recent":
        roots = [mailbox.root_of(key) for key in retained(sorted(mailbox.live(), key=by_age), rule, NOW)]
    found = set[str]()
    for root in roots:
        summary = mailbox.summary(root)
        words = f"{summary.subject} {' '.join(summary.participants)}".casefold()
        if all(word in words for word in text.casefold().split()) and (summary.unseen or not only_unread):
            found.add(root)
    return found


@given(
    events(),
    st.randoms(use_true_random=False),
    st.sampled_from(VIEWS),
    st.sampled_from(RULES),
    st.sampled_from(TEXTS),
    st.booleans(),
)
def test_what_comes_meanwhile_is_sifted_too(
    mail: list[Event], shuffler: object, view: View, rule: Retention, text: str, only_unread: bool
) -> None:
    shuffler.shuffle(mail)  # type: ignore[attr-defined]
    mailbox, half = Mailbox(), len(mail) // 2
    mailbox.fold(mail[:half], NOW)

    def begun() -> FilteredThreads:
        return FilteredThreads(mailbox.thread_filter(view, rule, NOW, text=text, only_unread=only_unread))

    sifted = begun()
    with patch("mailstore.state.thread_filter.AT_ONCE", 1):
        for event in mail[half:]:
            mailbox.fold([event], NOW)
            if not sifted.holds(NOW):
                sifted = begun()
            sifted.settle(0)
            sifted.look(0)
    sifted.finish()
    assert set(sifted) == wanted(mailbox, view, rule, text, only_unread=only_unread or view.kind == "unread")
    assert len(sifted) == len(set(sifted))
    times = [max(it.time for it in mailbox.thread_messages(root)) for root in sifted]
    assert view.kind in ("channel", "for-you", "agent") or times == sorted(times, reverse=True)
    assert list(sifted) == sifted.criteria.roots()


@given(events(), st.sampled_from(TEXTS), st.sampled_from(TEXTS))
def test_more_words_are_looked_for_only_where_fewer_were_found(mail: list[Event], text: str, more: str) -> None:
    mailbox = Mailbox()
    mailbox.fold(mail, NOW)
    wide = FilteredThreads(mailbox.thread_filter(View("all"), EVERYTHING, NOW, text=text))
    with patch("mailstore.state.thread_filter.AT_ONCE", 1):
        wide.look(0)
    criteria = mailbox.thread_filter(View("all"), EVERYTHING, NOW, text=f"{text} {more}")
    assert wide.criteria.is_wider(criteria) or not text
    narrow = FilteredThreads(criteria, wider=wide)
    narrow.finish()
    assert list(narrow) == criteria.roots()


def test_as_time_passes_what_is_retained_no_more_leaves() -> None:
    mailbox = Mailbox()
    mail = [Message(f"m{at}", "ann", ("all",), "", NOW - at * HOUR, f"Subject {at}") for at in range(30)]
    mailbox.fold(mail, NOW)
    sifted = FilteredThreads(mailbox.thread_filter(View("recent"), Retention(days=1), NOW))
    sifted.finish()
    assert len(sifted) == 25
    assert sifted.holds(NOW + 5.5 * HOUR)
    sifted.finish()
    assert list(sifted) == [f"m{at}" for at in range(19)]
