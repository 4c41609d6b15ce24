"""Cancelled tasks of a thread, compared with a plain reading of the rule, and in the list of threads."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mailstore.records.message import Message, by_age
from mailstore.rules.cancelling import TaskStates, ThreadPlace
from mailstore.state.mailbox import Mailbox

TYPES = ("task-assigned", "task_assign", "task-done", "cancel", "status")


def message(name: str, time: float, parent: str | None, kind: str) -> Message:
    return Message(name, "ann", ("bob",), "", time, "words", thread=parent, type=kind)


@st.composite
def threads(draw: st.DrawFn) -> list[Message]:
    size = draw(st.integers(1, 12))
    parents = [None, *(draw(st.integers(0, at - 1)) for at in range(1, size))]
    return [
        message(f"m{at}", draw(st.integers(0, 9)), None if above is None else f"m{above}", draw(st.sampled_from(TYPES)))
        for at, above in enumerate(parents)
    ]


def expected(thread: list[Message]) -> dict[str, str]:
    """Take every message in order of age, and follow each task upward, as the page says."""
    known = {it.id: it for it in thread}
    found: dict[str, str] = {}
    done: set[str] = set()
    for cancel in sorted(thread, key=by_age):
        if cancel.type == "task-done" and cancel.thread is not None and by_age(known[cancel.thread]) < by_age(cancel):
            done.add(cancel.thread)
        if cancel.type != "cancel" or cancel.thread is None:
            continue
        top: Message | None = known[cancel.thread]
        while (top is not None and not top.type.startswith("task")) or (top is not None and top.type == "task-done"):
            top = known[top.thread] if top.thread is not None else None
        top = top or known[cancel.thread]
        for task in thread:
            above: Message | None = task
            while above is not None and above is not top:
                above = known[above.thread] if above.thread is not None else None
            is_task = task.type in TYPES[:2]
            if above is top and is_task and by_age(task) < by_age(cancel) and task.id not in {*done, *found}:
                found[task.id] = cancel.id
    return found


@given(threads())
def test_tasks_are_cancelled_with_those_above_them(thread: list[Message]) -> None:
    mailbox = Mailbox()
    mailbox.fold([*thread], 0.0)
    wanted = expected(thread)
    found = mailbox.tasks("m0")
    assert {name: cancel.id for name, cancel in found.cancelled.items()} == wanted
    assert mailbox.summary("m0").cancelled == len(wanted)
    by = {it.id: mailbox.cancelled_by(it) for it in thread}
    assert {name: cancel.id for name, cancel in by.items() if cancel is not None} == wanted
    one_by_one = Mailbox()
    for each in thread:
        one_by_one.fold([each], 0.0)
        assert one_by_one.summary("m0").cancelled == len(one_by_one.tasks("m0").cancelled)


def test_a_long_chain_of_tasks_and_cancellations_takes_no_longer_than_its_length() -> None:
    number = 4000
    thread = []
    for at in range(number):
        above = f"t{at - 1}" if at else None
        thread.append(ThreadPlace(f"t{at}", above, message(f"t{at}", 2.0 * at, above, "task-assigned")))
    cancels = [
        ThreadPlace(f"c{at}", f"t{at}", message(f"c{at}", 2.0 * number + at, f"t{at}", "cancel"))
        for at in reversed(range(number))
    ]
    assert len(TaskStates([*thread, *cancels]).cancelled) == number
