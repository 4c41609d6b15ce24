"""A thread's shape, told again at the cost of what came since, is what it would be if it were told anew."""

from __future__ import annotations

from random import Random

import pytest

from mailstore.columns.reply_forest import Outline
from mailstore.records.events import Reset
from mailstore.records.message import Message
from mailstore.state.mailbox import Mailbox


def message(number: int, time: float, thread: str | None) -> Message:
    return Message(f"m{number}", "ann", ("bob",), "", time, "Words", thread)


def parent_of(rng: Random, number: int, size: int) -> str | None:
    """Draw what a message answers: nothing, any message, or more often one of the last."""
    draw = rng.random()
    if draw < 0.15 or not number:
        return None
    return f"m{rng.randrange(size)}" if draw < 0.4 else f"m{rng.randrange(max(0, number - 5), number)}"


@pytest.mark.parametrize("seed", range(150))
def test_an_outline_that_grew_is_that_of_the_tree(seed: int) -> None:
    rng = Random(seed)
    size = rng.randint(3, 40)
    mail = [
        message(number, float(number if rng.random() < 0.9 else rng.randrange(size)), parent_of(rng, number, size))
        for number in range(size)
    ]
    if rng.random() < 0.4:
        start = rng.randrange(size)
        mail[start:] = rng.sample(mail[start:], size - start)
    mailbox = Mailbox()
    known: dict[str, Outline | None] = {}
    while mail:
        number = rng.randint(1, 3)
        mailbox.fold(mail[:number], 1e9)
        del mail[:number]
        for root in {mailbox.root_of(key) for key in mailbox.ids()}:
            found = known[root] = mailbox.outline(root, known.get(root))
            tree = mailbox.tree(root)
            assert found is not None
            assert list(zip(found.keys, found.depths, strict=True)) == [(node.id, node.depth) for node in tree]


def test_a_thread_that_did_not_change_has_the_outline_that_it_had() -> None:
    mailbox = Mailbox()
    mailbox.fold([message(0, 1.0, None), message(1, 2.0, "m0")], 9.0)
    found = mailbox.outline("m0")
    mailbox.fold([message(2, 3.0, None)], 9.0)
    assert mailbox.outline("m0", found) is found
    mailbox.fold([Reset("gone"), message(0, 1.0, None)], 9.0)
    assert mailbox.outline("m1", found) is None
    again = mailbox.outline("m0", found)
    assert again is not None
    assert again.keys == ["m0"]
