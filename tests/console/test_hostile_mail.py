"""What a message hides is neither obeyed when it is answered, nor handed on in the answer."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input, TextArea

from tests.console.screen_text import opened
from tests.mailboxes import MailFiles

HIDDEN = "\x1b]0;owned\x07\u202e"
SHOWN = "␛]0;owned␇⟦U+202E⟧"


@pytest.mark.parametrize("key", ["r", "greater_than_sign", "R"])
async def test_an_answer_takes_over_no_hidden_character(key: str, tmp_path: Path) -> None:
    mail = MailFiles(tmp_path)
    mail.agent("ann-00000001")
    mail.message("m1", "ann-00000001", "user", f"words {HIDDEN} more", subject=f"Subject {HIDDEN}")
    async with opened(mail.data) as seat:
        await seat.open_thread("m1")
        await seat.press(key)
        subject, body = seat.screen.query_one("#subject", Input).value, seat.screen.query_one("#body", TextArea).text
        assert subject == f"Re: Subject {SHOWN}"
        assert body.startswith(f"> words {SHOWN} more") == (key == "greater_than_sign")
        assert not {"\x1b", "\x07", "\u202e"} & set(subject + body)
