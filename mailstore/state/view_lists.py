"""Open views, kept in order as mail arrives."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from mailstore.columns.lists import MarkedRows, Membership, MessageList, ViewThreads
from mailstore.columns.messages import MessageHead, MessageTable
from mailstore.columns.postings import Postings
from mailstore.columns.reply_forest import ReplyForest
from mailstore.records.address import is_person, role_key
from mailstore.records.roster import Roster
from mailstore.records.scope import label_of
from mailstore.rules.unread import is_for_user
from mailstore.state.views import View

MOST = 8
"""Views that are kept at once; the one that was not asked for longest is forgotten first."""


class ViewLists:
    """The threads of some views, each view made when it is first asked for."""

    def __init__(
        self, messages: MessageTable, forest: ReplyForest, postings: Postings, roster: Roster, user: str
    ) -> None:
        self._messages = messages
        self._forest = forest
        self._postings = postings
        self._roster = roster
        self._user = user
        self._lists: dict[View, ViewThreads] = {}
        self._changes = 0
        """How often messages may have come to belong to other views."""

    def of(self, view: View) -> ViewThreads:
        """Return the threads of a view."""
        listed = self._lists.pop(view, None) or self._make(view)
        self._lists[view] = listed
        return listed

    def _make(self, view: View) -> ViewThreads:
        if len(self._lists) >= MOST:
            del self._lists[next(iter(self._lists))]
        matches, rows = self._belonging(view)
        newest = newest_in_threads(self._messages, self._forest, tuple(rows))
        return ViewThreads(self._messages, matches, newest)

    def _belonging(self, view: View) -> tuple[Callable[[int], bool], Iterable[int]]:
        """Return a predicate for the messages of a view, and the messages that have arrived for which it is true."""
        messages, ids = self._messages, self._messages.ids
        if view.kind == "store":

            def is_in_store(row: int) -> bool:
                return label_of(ids[row]) == view.name

            return is_in_store, filter(is_in_store, messages.rows())
        wanted = self._concerns(view)
        if view.kind == "agent":
            names = self._names_of(view)
            sent = (row for name in names for row in self._postings.sent_by(name))
            rows = (*sent, *self._with_heads(wanted))
            return lambda row: messages.sender(row) in names or wanted(messages.head(row)), rows
        matches = self.is_for_user if view.kind == "for-you" else lambda row: wanted(messages.head(row))
        return matches, filter(matches, (*self._with_heads(wanted), *self._postings.moved_rows))

    def _names_of(self, view: View) -> set[str]:
        """Return the names under which the agent or the role of a view writes or is written to."""
        if view.kind == "role":
            return self._role_names(view.name)
        agent = self._roster.get(view.name)
        if agent is None:
            return {view.name}
        return {view.name, agent.name}.union(*map(self._role_names, agent.roles()))

    def _role_names(self, role: str) -> set[str]:
        """Return the addresses of a role: its bare name may be that of a session or of the user."""
        return {role_key(role, self._roster, self._user), f"role:{role}"}

    def _concerns(self, view: View) -> Callable[[MessageHead], bool]:
        """Return a predicate for the shared fields of the messages of a view."""
        if view.kind in ("agent", "role"):
            names = self._names_of(view)
            return lambda head: not names.isdisjoint(name.removeprefix("agent:") for name in head.recipients)
        kinds: dict[str, Callable[[MessageHead], bool]] = {
            "channel": lambda head: view.name in head.channels(),
            "for-you": lambda head: is_for_user(head, self._roster, self._user),
            "archive": lambda head: head.archived,
            "all": lambda head: True,
            "type": lambda head: view.name in ("", head.type),
        }
        return kinds.get(view.kind, lambda head: False)

    def messages(self, view: View, rows: MarkedRows | None = None) -> MessageList:
        """Return the messages of a view, or those that were found; none of them is looked up yet."""
        changes = self._changes
        sends = self._names_of(view).__contains__ if view.kind == "agent" else None
        members = Membership(self._messages, self._concerns(view), sends) if rows is None else rows
        return MessageList(self._messages, members, lambda: self._changes == changes)

    def _with_heads(self, matching: Callable[[MessageHead], bool]) -> Iterable[int]:
        return (row for head in self._postings.heads(matching) for row in self._postings.with_head(head))

    def is_for_user(self, row: int) -> bool:
        """Return whether a message is addressed to the user or mentions them."""
        return not self.is_own(row) and is_for_user(self._messages.head(row), self._roster, self._user)

    def is_own(self, row: int) -> bool:
        """Return whether the user sent a message."""
        return is_person(self._messages.sender(row), self._roster, self._user)

    # What happens to the threads of all views

    def add(self, root: int, row: int) -> None:
        """List a thread where its new message belongs."""
        for listed in self._lists.values():
            if listed.matches(row):
                listed.touch(root, row)

    def merge(self, absorbed: int, root: int) -> None:
        """Replace a thread that became part of another one."""
        for listed in self._lists.values():
            listed.merge(absorbed, root)

    def archive(self, root: int, row: int) -> None:
        """List a thread among the archived ones after a message of it was archived."""
        if listed := self._lists.get(View("archive")):
            listed.touch(root, row)

    def clear(self) -> None:
        """Forget all views."""
        self._changes += 1
        self._lists.clear()

    def forget_agents(self) -> None:
        """Forget the views of agents and roles, whose names may have changed."""
        self._changes += 1
        for view in [view for view in self._lists if view.kind in ("agent", "role")]:
            del self._lists[view]


MANY = 2000
"""The number of messages from which on numpy is faster than a loop."""


def newest_in_threads(messages: MessageTable, forest: ReplyForest, rows: Collection[int]) -> dict[int, int]:
    """Return the newest of some messages by the root of its thread, the thread with the oldest of them first."""
    if len(rows) >= MANY:
        return _of_many(messages, forest, rows)
    newest: dict[int, int] = {}
    for row in rows:
        root = forest.root(row)
        known = newest.get(root)
        newest[root] = row if known is None else messages.younger(row, known)
    return {root: newest[root] for root in sorted(newest, key=lambda root: messages.age(newest[root]))}


def _of_many(messages: MessageTable, forest: ReplyForest, rows: Collection[int]) -> dict[int, int]:
    import numpy as np

    members = np.fromiter(rows, np.int32, len(rows))
    tops = np.array(forest.ups, np.int32)
    roots = members.copy()
    while len(below := np.flatnonzero(tops[roots] >= 0)):
        roots[below] = tops[roots[below]]
    times = np.array(messages.times)[members]
    order = np.lexsort((times, roots))
    members, roots, times = members[order], roots[order], times[order]
    is_newest = np.append(roots[1:] != roots[:-1], True)
    # of messages of one thread and time, the place decides
    is_rival = np.append(False, (roots[1:] == roots[:-1]) & (times[1:] == times[:-1]))
    for last in np.flatnonzero(is_newest & is_rival).tolist():
        first = last
        while is_rival[first]:
            first -= 1
        members[last] = max(members[first : last + 1].tolist(), key=messages.age)
    members, roots, times = members[is_newest], roots[is_newest], times[is_newest]
    order = np.argsort(times, kind="stable")
    members, roots, times = members[order], roots[order], times[order]
    starts = np.flatnonzero(np.append(True, times[1:] != times[:-1]))
    ends = np.append(starts[1:], len(times))
    for start, end in zip(starts[ends - starts > 1].tolist(), ends[ends - starts > 1].tolist(), strict=True):
        alike = sorted(range(start, end), key=lambda at: messages.age(int(members[at])))
        members[start:end], roots[start:end] = members[alike], roots[alike]
    return dict(zip(roots.tolist(), members.tolist(), strict=True))
