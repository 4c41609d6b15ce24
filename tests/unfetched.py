"""A mailbox that gives no text for some messages, as where a server stops answering or a disk fails."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import pytest

from mailstore.errors import ContentGone
from mailstore.haak import HaakStore
from mailstore.records.message import Message

REASON = "the text can't be fetched (127.0.0.1 does not answer)"


def give_no_text_of(monkeypatch: pytest.MonkeyPatch, *lost: str) -> Callable[[], None]:
    """Let a HAAK mailbox give no text for some messages, by their ids, until what is returned is called."""
    contents, content, search_text = HaakStore.contents, HaakStore.content, HaakStore.search_text
    missing = set(lost)

    def given(store: HaakStore, messages: Iterable[Message]) -> Iterator[str | ContentGone]:
        asked = list(messages)
        for message, text in zip(asked, contents(store, asked), strict=True):
            yield ContentGone(REASON, "try again later", "E415") if message.id in missing else text

    def unless_missing(read: Callable[[HaakStore, Message], str]) -> Callable[[HaakStore, Message], str]:
        def text(store: HaakStore, message: Message) -> str:
            if message.id in missing:
                raise ContentGone(REASON, "try again later", "E415")
            return read(store, message)

        return text

    monkeypatch.setattr(HaakStore, "contents", given)
    monkeypatch.setattr(HaakStore, "content", unless_missing(content))
    monkeypatch.setattr(HaakStore, "search_text", unless_missing(search_text))
    return missing.clear
