"""How a message is sent: its type, its end, how long it is held; by a key, and as headers in the person's editor."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from console.state.composer_draft import ComposerDraft, SendOptions
from console.state.draft_text import HEADER, editor_text, options_text, read_editor_text, read_options
from console.state.personal_state import PersonalState
from tests.conftest import Open
from tests.mailboxes import MailFiles

EDITOR = f"""#!{sys.executable}
import os, sys
from pathlib import Path
file, seen = Path(sys.argv[1]), Path(sys.argv[0] + ".seen")
seen.write_text(file.read_text())
headers, _, text = file.read_text().partition("\\n\\n")
headers = ["To: bob-00000001", "Subject: From the editor", "Options: " + os.environ["OPTIONS"]]
file.write_text("\\n".join([*headers, "", text + "To: be written.", ""]))
"""


@pytest.fixture
def mail(tmp_path: Path) -> MailFiles:
    mail = MailFiles(tmp_path / "mail", now=time.time())
    mail.agent("ann-00000001")
    mail.agent("bob-00000001")
    mail.message("ask", "ann-00000001", "user", "Which ink?", ago=90, subject="The ink")
    return mail


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("", SendOptions()),
        (" , ", SendOptions()),
        ("type:question", SendOptions("question")),
        ("Type: question,expires:2d", SendOptions("question", 48)),
        ("expires:1w, hold:5m", SendOptions("", 168, 300)),
        ("hold:0", SendOptions(hold_seconds=0)),
        ("expires:4h, expires:5h", SendOptions(ttl_hours=5)),
        ("remind:90m", SendOptions(remind_minutes=90)),
        ("remind:2d", SendOptions(remind_minutes=2880)),
    ],
)
def test_options_are_read_as_they_are_typed(text: str, options: SendOptions) -> None:
    assert read_options(text) == options
    assert read_options(options_text(options)) == options


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("question", '"question" is not an option: write type:question, expires:4h, hold:30s, remind:2h'),
        ("typ:question", '"typ:question" is not an option'),
        ("type:", '"type:" is not an option'),
        ("type:a b", '"type:a b" is not an option'),
        ("expires:soon", 'can\'t read "expires:soon": write expires:4h, expires:2d or expires:1w'),
        ("expires:0h", 'can\'t read "expires:0h"'),
        ("hold:-1s", 'can\'t read "hold:-1s": write hold:30s or hold:5m'),
        ("remind:0h", 'can\'t read "remind:0h": write remind:30m, remind:2h or remind:1d'),
        ("hold:90m", '"hold:90m" is over an hour: keep it as a draft instead'),
    ],
)
def test_what_is_no_option_says_how_to_write_it(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=r"option|read|hour") as caught:
        read_options(f"type:question, {text}")
    assert str(caught.value).startswith(problem)


LINES = st.text("aB :,'\"#@é灯", max_size=12).map(str.strip)
DRAFTS = st.builds(
    ComposerDraft,
    st.just("new"),
    LINES,
    LINES,
    st.lists(LINES | st.sampled_from(["To: be", "subject:", ""]), max_size=4).map("\n".join),
    attachments=st.lists(st.text("a b'\"\\/", min_size=1), max_size=2).map(tuple),
    options=st.builds(
        SendOptions, st.sampled_from(["", "question"]), st.integers(0, 400), st.none() | st.integers(0, 3600)
    ),
)


@given(DRAFTS)
def test_a_draft_that_the_editor_saves_as_it_was_is_as_it_was(draft: ComposerDraft) -> None:
    written, problem = read_editor_text(editor_text(draft, with_files=True), ComposerDraft("new"))
    assert (written, problem) == (replace(draft, body="\n".join(draft.body.splitlines())), "")


@given(st.text("To: ca\nSubjet:,'\r\t", max_size=40))
def test_whatever_an_editor_saves_its_lines_are_headers_or_text(text: str) -> None:
    written, _ = read_editor_text(text, ComposerDraft("new", "ann"))
    lines = text.splitlines()
    taken = next(at for at in range(len(lines) + 1) if "\n".join(lines[at:]) == written.body)
    assert all(HEADER.fullmatch(line) or not line.strip() for line in lines[:taken])


def test_a_text_without_headers_and_a_header_that_can_not_be_read_change_no_other() -> None:
    draft = ComposerDraft("new", "ann", "Ink", "Old", options=SendOptions("question"))
    assert read_editor_text("Only text.\n\nTo: you.", draft) == (replace(draft, body="Only text.\n\nTo: you."), "")
    written, problem = read_editor_text("Subject: New\nOptions: later\nText", draft)
    assert written == replace(draft, subject="New", body="Text")
    assert problem.startswith('Options: "later" is not an option')


def test_a_type_and_an_end_are_sent_and_stay_with_the_draft(mail: MailFiles, open_console: Open) -> None:
    terminal = open_console(mail.url, size=(100, 30))
    terminal.wait_for("Which ink?")
    terminal.press("c")
    terminal.wait_for("Subject")
    terminal.send("ann-00000001\tInk\tWhich one?")
    terminal.wait_for("2 words")
    terminal.press("ctrl+t")
    terminal.wait_for("Options of this message")
    terminal.send("type:question, expires:soon\r")
    terminal.wait_for('can\'t read "expires:soon"')
    terminal.send("\x7f\x7f\x7f\x7f4h\r")
    terminal.wait_for("type:question, expires:4h")
    terminal.wait_for("expires in 4")
    terminal.press("escape")
    terminal.wait_gone("2 words")
    terminal.press("q")
    terminal.wait_exit()
    terminal = open_console(mail.url, size=(100, 30))
    terminal.wait_for("Which ink?")
    terminal.press("c")
    terminal.wait_for("type:question, expires:4h")
    terminal.press("ctrl+s")
    terminal.wait_for("unread by ann-00000001")
    sent = json.loads(mail.mailbox.read_bytes().splitlines()[-1])
    assert (sent["type"], sent["ttl_hours"], sent["content"]) == ("question", 4, "Which one?")


@pytest.mark.parametrize(
    ("options", "kind", "told"), [("type:status, hold:0", "status", ""), ("later", None, '"later" is not an option')]
)
def test_the_editor_has_the_headers_and_what_it_saves_of_them_is_taken(
    options: str, kind: str | None, told: str, mail: MailFiles, open_console: Open, tmp_path: Path
) -> None:
    editor = tmp_path / "editor"
    editor.write_text(EDITOR)
    editor.chmod(0o755)
    terminal = open_console(mail.url, size=(100, 30), EDITOR=str(editor), OPTIONS=options)
    terminal.wait_for("Which ink?")
    terminal.press("r")
    terminal.wait_for("reaches ann-00000001")
    terminal.send("Blue.")
    terminal.wait_for("1 word")
    terminal.press("ctrl+e")
    terminal.wait_for("reaches bob-00000001")
    seen = (tmp_path / "editor.seen").read_text()
    assert seen == "To: ann-00000001\nSubject: Re: The ink\nOptions:\n\nBlue."
    if told:
        terminal.wait_for(told)
    terminal.press("ctrl+s")
    terminal.wait_for("Sent")
    sent = json.loads(mail.mailbox.read_bytes().splitlines()[-1])
    assert (sent["recipient"], sent["subject"], sent["thread"]) == ("bob-00000001", "From the editor", "ask")
    assert (sent.get("type") or None, sent["content"]) == (kind, "Blue.To: be written.")


def test_a_draft_of_a_console_that_knew_no_options_has_none(tmp_path: Path) -> None:
    state = PersonalState(tmp_path / "state.db")
    state.save_draft("haak:/x", ComposerDraft("new", "ann", "", "Text", options=SendOptions("question", 4, 30)))
    assert state.drafts("haak:/x")["new"].options == SendOptions("question", 4, 30)
    state._db.write("DELETE FROM draft_options WHERE mailbox = ?", [("haak:/x",)])
    assert state.drafts("haak:/x")["new"] == replace(ComposerDraft("new", "ann", "", "Text"), updated=0.0)
    state.close()
