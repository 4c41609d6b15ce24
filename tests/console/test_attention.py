"""What needs attention: counted in the header and the sidebar, grouped by cause, each row acted upon with one key."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from console.cli import main
from console.screens import main_screen
from console.screens.desks import attention_watch
from console.screens.list_screen import ListScreen
from tests.console.screen_text import Seat, opened
from tests.mailboxes import HOUR, NOW, MailFiles, iso

ANN, BOB, DED = "ann-00000001", "bob-00000001", "ded-00000001"
MINUTE = 60


@pytest.fixture
def mail(tmp_path: Path) -> MailFiles:
    mail = MailFiles(tmp_path)
    mail.agent(ANN, activity="waiting: rm -r build", updated=iso(NOW - 300), last_seen=iso(NOW - 300))
    mail.agent(BOB, role="scribe")
    mail.agent(DED, "dead", role="scribe", ended_at=iso(NOW - HOUR))
    mail.message("ask", ANN, "user", "Which colour?", ago=5 * MINUTE, subject="Colour", type="question")
    mail.message("fyi", BOB, "user", "It is blue.", ago=20 * MINUTE, subject="Blue")
    mail.message("left", ANN, BOB, "Read me.", ago=90 * MINUTE, subject="Unread")
    mail.message("leaf", ANN, DED, "What of it?", ago=2 * HOUR, subject="A leaf")
    mail.message("lost", ANN, "nobody", "Who?", ago=HOUR, subject="A lost one")
    return mail


def header(seat: Seat) -> str:
    """Return the header without the words that give way where others need the room."""
    return seat.lines[0].replace(" need ", " ")


def place(seat: Seat) -> str | None:
    """Return the key of the row under the cursor of the list."""
    assert isinstance(seat.app.screen, ListScreen)
    return seat.app.screen.listing.cursor_key


async def test_causes_are_headings_the_persons_own_first_and_rows_show_subjects(mail: MailFiles) -> None:
    async with opened(mail.data, size=(180, 50)) as seat:
        await seat.until(lambda: "6 attention" in header(seat))
        assert "Attention 6" in " ".join(seat.lines[2].split())
        await seat.press("1", "g")
        assert f"{ANN} → {DED}  recipient ended" in seat.text
        assert f"{BOB} has 1 unread message" in seat.text
        await seat.press("p")
        text = [line[1:90].strip() for line in seat.lines if line.startswith("│")]
        assert [line.split("  ")[0].strip("─ ") for line in text if line.startswith("─")] == [
            "Waiting for your permission 1",
            "Questions to you 1",
            "New mail to you 1",
            "Dead letters 1",
            "Unknown recipients 1",
            "Agents that may have stopped reading 1",
        ]
        rows = "\n".join(text)
        assert [f"! {ANN}", "rm -r build"] == [text[at].split("  ")[0] for at in (2, 3)]
        assert "? Colour" in rows
        assert f"\n{BOB} (scribe)\n" in rows
        assert f"{ANN} → {DED}  recipient ended before reading" in rows
        assert f"\n{BOB} has 1 unread message\n" in rows
        assert rows.count("may have stopped reading") == 1, "a row doesn't repeat its heading"
        await seat.press("j")
        assert "Which colour?" in seat.text


async def test_the_footer_names_what_suits_the_row(mail: MailFiles) -> None:
    async with opened(mail.data, size=(180, 50)) as seat:
        await seat.press("p")
        named = {}
        for _ in range(6):
            named[str(place(seat)).split()[0]] = seat.lines[-1]
            await seat.press("j")
        suiting = {
            "y answer": {"permission", "question"},
            "1 answer by number": {"question"},
            "> redirect": {"dead-letter", "unknown-recipient"},
            "R send again": {"dead-letter", "unknown-recipient"},
            "W wake agent": {"permission", "stalled"},
            "A acknowledge": set(named),
        }
        found = {key: {kind for kind, line in named.items() if key in line} for key in suiting}
        assert found == suiting, named
        await seat.press("g", "v")  # a mark decides what is redirected, not the cursor
        while not str(place(seat)).startswith("dead-letter"):
            await seat.press("j")
        assert "> redirect" not in seat.lines[-1]


async def test_a_reply_leads_back_to_the_row_which_shows_it(mail: MailFiles) -> None:
    async with opened(mail.data, size=(120, 40)) as seat:
        await seat.press("p", "j", "r")
        assert len(seat.app.screen_stack) == 1
        assert seat.screen.conversation.cursor_key == "ask"
        await seat.press(*"Green", "ctrl+s")
        await seat.until(lambda: len(seat.app.screen_stack) == 2)
        await seat.sees("✓ Colour")
        assert "Replied: Green" in seat.text
        assert place(seat) == f"new\n{BOB}\nfyi", "the row after it"
        sent = json.loads(mail.mailbox.read_bytes().splitlines()[-1])
        assert (sent["thread"], sent["recipient"], sent["content"]) == ("ask", ANN, "Green")
        await seat.press("r", "escape")
        assert "Needs attention" in seat.lines[1]
        assert place(seat) == f"new\n{BOB}\nfyi", "nothing was sent"
        await seat.press("q", "p")
        await seat.until(lambda: "✓" not in seat.text and "Questions to you" not in seat.text)


async def test_an_answer_settles_its_message_wherever_it_was_written(mail: MailFiles) -> None:
    mail.message("and", BOB, "user", "And yours?", ago=4 * MINUTE, subject="Yours", thread="fyi")
    async with opened(mail.data, size=(160, 50)) as seat:
        await seat.until(lambda: "7 attention" in header(seat))
        assert "3 for you" in seat.lines[0]
        await seat.press("p", "j", "r", *"Green", "ctrl+s")
        await seat.sees("Replied: Green")
        await seat.until(lambda: "6 attention" in header(seat) and "2 for you" in seat.lines[0])
        assert "● Colour" not in seat.text
        mail.message("told", "user", BOB, "Red.", ago=0, subject="Re: Blue", thread="fyi")
        await seat.until(lambda: "5 attention" in header(seat) and "1 for you" in seat.lines[0])
        assert "● Blue" not in seat.text
        assert "● Yours" in seat.text, "what came after it is still new"


async def test_what_was_answered_before_the_console_was_opened_does_not_wait(mail: MailFiles) -> None:
    mail.message("told", "user", ANN, "Green.", ago=60, subject="Re: Colour", thread="ask")
    async with opened(mail.data, size=(160, 50)) as seat:
        await seat.until(lambda: "5 attention" in header(seat))
        await seat.press("p")
        assert "● Blue" in seat.text
        assert "? Colour" not in seat.text
        assert "● Colour" not in seat.text


async def test_rows_are_acknowledged_redirected_and_undone_in_their_place(mail: MailFiles) -> None:
    async with opened(mail.data, size=(120, 50)) as seat:
        await seat.press("p", "j", "j", "A")
        assert "1 row acknowledged · z: undo" in seat.lines[-1]
        assert "✓ Blue" in seat.text
        assert place(seat) == f"dead-letter\n{DED}\nleaf"
        await seat.press("greater_than_sign", "enter")
        await seat.sees(f"Redirected to {BOB} · z: undo")
        assert place(seat) == "unknown-recipient\nnobody\nlost"
        await seat.press("j", "A")
        assert place(seat) == f"stalled\n{BOB}\nleft", "no row follows that is left to do"
        assert seat.text.count("✓ ") >= 3
        assert "3 done" in seat.text
        await seat.press("z")
        assert "2 done" in seat.text
        await seat.press("A", "q")
        await seat.until(lambda: "3 attention" in header(seat))
        await seat.press("p")
        assert "stopped reading" not in seat.text
        assert "Blue" not in seat.text
        mail.message("again", BOB, "user", "Green, then.", ago=0, subject="Green")
        await seat.sees("● Green")


async def test_a_question_that_is_a_dead_letter_is_one_row_which_redirecting_settles(mail: MailFiles) -> None:
    mail.message("which", ANN, DED, "Which leaf?", ago=90 * MINUTE, subject="Which leaf", type="question")
    mail.message("both", ANN, [BOB, DED], "Who has it?", ago=80 * MINUTE, subject="Who", type="question")
    async with opened(mail.data, size=(160, 50)) as seat:
        await seat.until(lambda: "8 attention" in header(seat))
        await seat.press("p")
        for words in ("Unanswered questions", "Which leaf?", "asked ded"):
            assert words not in seat.text, words
        assert seat.text.count(f"{ANN} → {DED}  question · recipient ended before reading") == 2
        for subject in ("Which leaf", "Who"):
            assert sum(f"✕ {subject} " in line for line in seat.lines) == 1, subject
        await seat.press("j", "j", "j")
        for _ in range(2):
            assert str(place(seat)).startswith("dead-letter")
            await seat.press("greater_than_sign", "enter")
            await seat.sees(f"Redirected to {BOB} · z: undo")
        await seat.press("q")
        await seat.until(lambda: "7 attention" in header(seat))
        await seat.press("p")
        assert "? Who " in seat.text, f"{BOB} has still to answer it"
        assert "Which leaf" not in seat.text


async def test_dead_letters_of_one_cause_are_one_row_with_one_redirect(mail: MailFiles) -> None:
    mail.agent("librarian-7", role="librarian")
    for number in range(6):
        kind = "question" if number % 2 else "status"
        mail.message(f"lib-{number}", ANN, "libarian-7", "Where is it?", ago=HOUR + number, subject="Where", type=kind)
    async with opened(mail.data, size=(120, 50)) as seat:
        await seat.until(lambda: "13 attention" in header(seat))
        await seat.press("p", "j", "j", "j", "j", "j")
        assert place(seat) == "group\nlibarian-7\nno agent by this name"
        assert "▸ 6 messages to libarian-7" in seat.text
        assert "no agent by this name; librarian-7?" in seat.text
        assert "? Where" not in seat.text
        await seat.press("enter")
        assert "▾ 6 messages to libarian-7" in seat.text
        assert seat.text.count("? Where") == 6
        await seat.press("j", "greater_than_sign", "enter")
        await seat.sees("Redirected to librarian-7 · z: undo")
        assert "▾ 5 messages to libarian-7" in seat.text
        await seat.press("k", "k", "enter")
        assert "▸ 5 messages to libarian-7" in seat.text
        assert place(seat) == "group\nlibarian-7\nno agent by this name"
        await seat.press("greater_than_sign")
        assert "Redirect 5 messages to" in seat.text
        assert "▸ librarian-7" in seat.text
        await seat.press("enter")
        await seat.sees("Redirected to librarian-7 (5 messages) · z: undo")
        assert place(seat) == "unknown-recipient\nnobody\nlost"
        await seat.press("q")
        await seat.until(lambda: "6 attention" in header(seat))
        redirected = [json.loads(line) for line in mail.mailbox.read_bytes().splitlines()[-6:]]
        assert {it["recipient"] for it in redirected} == {"librarian-7"}
        assert {it["thread"] for it in redirected} == {f"lib-{number}" for number in range(6)}


async def test_a_long_list_is_folded_by_cause_and_opens_or_goes_on_as_rows_are_done(mail: MailFiles) -> None:
    for number in range(40):
        mail.message(
            f"q-{number:02}", ANN, BOB, "Well?", ago=2 * HOUR - number, subject=f"Q{number:02}", type="question"
        )
    async with opened(mail.data, size=(120, 80)) as seat:
        await seat.until(lambda: "46 attention" in header(seat))
        await seat.press("p")
        assert "Unanswered questions 40" in seat.text
        assert [number for number in range(40) if f"Q{number:02} " in seat.text] == [0, 1, 2]
        assert "▸ 37 more" in seat.text
        await seat.press("j", "j", "j", "A")
        assert "✓ Q00" in seat.text
        assert "? Q03" in seat.text, "the next one takes its place"
        assert "▸ 36 more" in seat.text
        await seat.press("j", "j", "j", "A")
        assert "Nothing selected" in seat.lines[-1]
        await seat.press("enter")
        assert place(seat) == f"question\n{ANN}\nq-04"
        assert "? Q20" in seat.text
        assert " more" not in "".join(line[:70] for line in seat.lines)


async def test_a_row_is_put_off_until_a_time_says_so_and_is_back_when_that_is_undone(mail: MailFiles) -> None:
    async with opened(mail.data, size=(120, 50)) as seat:
        await seat.press("p", "G", "k", "s")
        assert "Snooze A lost one" in seat.text
        await seat.press("1")
        await seat.sees("✓ A lost one")
        assert "Snoozed until" in seat.text
        await seat.press("q")
        await seat.until(lambda: "5 attention" in header(seat))
        await seat.press("p")
        assert "A lost one" not in seat.text
        await seat.press("q", "D")
        assert "A lost one" in seat.text
        await seat.press("z", "q", "p")
        await seat.sees("? A lost one")


async def test_what_a_closed_desk_did_is_undone_elsewhere(mail: MailFiles) -> None:
    async with opened(mail.data, size=(120, 50)) as seat:
        await seat.press("p", "j", "j", "j", "greater_than_sign", "enter")
        await seat.sees(f"Redirected to {BOB} · z: undo")
        await seat.press("q")
        await seat.until(lambda: "1 dead letter" in seat.text or "Dead letters          1" in seat.text)
        await seat.press("z", "y")
        await seat.until(lambda: "Dead letters          2" in seat.text)


async def test_the_list_of_a_mailbox_that_grows_keeps_the_place(mail: MailFiles) -> None:
    async with opened(mail.data, size=(40, 12)) as seat:
        await seat.press("p", "j", "j", "j")
        before = seat.app.screen.listing.cursor_key  # type: ignore[attr-defined]
        mail.message("more", BOB, "user", "Well?", ago=0, subject="More", type="question")
        await seat.until(lambda: "Questions to you 2" in seat.text or "─ 7 ─" in seat.text)
        assert seat.app.screen.listing.cursor_key == before  # type: ignore[attr-defined]


@pytest.mark.parametrize("cost", [0.0, 1e9])
async def test_what_only_expired_is_searched_for_as_seldom_as_where_nothing_happens(
    cost: float, mail: MailFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attention_watch, "COST", 0)
    monkeypatch.setattr(attention_watch, "IDLE_COST", cost)
    monkeypatch.setattr(main_screen, "JUMP_SECONDS", float("inf"))
    mail.message("brief", ANN, BOB, "Quick.", ago=0, subject="Brief", type="fyi", ttl_hours=1)

    def is_listed() -> bool:
        return any(it.message_id == "brief" and it.recipient == BOB for it in session.attention.every)

    async with opened(mail.data, size=(120, 40)) as seat:
        session, screen = seat.screen.session, seat.screen
        await seat.until(lambda: screen.parts is not None and session.attention.is_of(session.mailbox))
        session.clock = lambda: NOW + 2 * HOUR
        screen.tick()
        screen.tick()
        await seat.sees("3 dead letters")
        if cost == 0:
            await seat.until(is_listed)
        assert is_listed() == (cost == 0)
        mail.message("more", BOB, "user", "Well?", ago=0, subject="More", type="question")
        await seat.until(is_listed)


async def test_what_needed_attention_then_is_listed_in_the_past_and_cannot_be_acted_upon(mail: MailFiles) -> None:
    async with opened(mail.data, size=(120, 40)) as seat:
        await seat.press("T", "comma", "comma")
        await seat.press("p")
        await seat.until(lambda: "A leaf" in seat.text)
        assert "Colour" not in seat.text
        for key in ("A", "greater_than_sign", "r"):
            await seat.press(key)
            assert "looking at the past" in seat.lines[-1], key


async def test_the_first_start_says_once_how_much_waits_and_the_footer_names_the_key(mail: MailFiles) -> None:
    async with opened(mail.data, size=(80, 24), is_first_start=True) as seat:
        await seat.until(lambda: seat.lines[-1].startswith(" p: 6 need you"))
        await seat.press("g")
        assert "p attention" in seat.lines[-1]
        assert ": palette" in seat.lines[-1]
        mail.message("more", BOB, "user", "Well?", ago=0, subject="More", type="question")
        await seat.until(lambda: "7 attention" in seat.lines[0])
        assert "need you" not in seat.lines[-1]
    async with opened(mail.data, size=(80, 24), is_first_start=True) as seat:
        await seat.until(lambda: "7 attention" in seat.lines[0])
        assert "need you" not in seat.lines[-1]


async def begin_shift(seat: Seat) -> None:
    """Go through what needs attention one row at a time: answer a question, acknowledge new mail."""
    await seat.until(lambda: "6 attention" in header(seat))
    await seat.press("p", "f")
    await seat.sees("One at a time")
    await seat.sees("rm -r build")
    await seat.press("j")
    await seat.sees("Which colour?")
    assert "Blue" not in seat.text
    await seat.press("r", *"Green", "ctrl+s")
    await seat.sees("It is blue.")
    assert "Which colour?" not in seat.text
    await seat.press("A")
    await seat.sees("What of it?")
    assert "4 · 2 done · 0 min" in seat.text


async def test_a_shift_shows_one_row_at_a_time_and_is_handed_over_into_the_journal(mail: MailFiles) -> None:
    async with opened(mail.data, size=(120, 40)) as seat:
        await begin_shift(seat)
        await seat.press("q")
        await seat.sees("End of the shift: 1 answered, 1 acknowledged, 4 left")
        await seat.press("j")
        await seat.until(lambda: seat.notice == "Handed over: in the journal")
        last = json.loads((mail.data / "agent-mailbox-oversight.jsonl").read_text().splitlines()[-1])
        assert (last["action"], last["actor"]) == ("hand-over", "user")
        assert "Colour: replied: Green" in json.dumps(last)
        await seat.press("L")
        await seat.sees("handed over")


async def test_a_shift_is_handed_over_as_a_message_or_not_at_all(mail: MailFiles) -> None:
    async with opened(mail.data, size=(120, 40)) as seat:
        await begin_shift(seat)
        await seat.press("q", "m")
        await seat.until(lambda: seat.screen.composer.is_open)
        assert seat.screen.composer.writing.body.splitlines() == [
            "1 answered, 1 acknowledged, 4 left in 1 min.",
            "",
            "- Colour: replied: Green",
            "- Blue: acknowledged",
        ]
        await seat.press("escape", "p", "f", "f")
        await seat.sees("All rows again")
        await seat.press("f", "q")
        await seat.until(lambda: len(seat.app.screen_stack) == 1)
        assert "End of the shift" not in seat.text, "nothing was done"


async def test_a_quiet_mailbox_says_so(tmp_path: Path) -> None:
    mail = MailFiles(tmp_path)
    mail.agent(ANN)
    async with opened(mail.data) as seat:
        assert "attention" not in seat.lines[0]
        await seat.press("p")
        assert "Nothing needs attention." in seat.text


async def test_the_command_lists_what_the_console_lists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], mail: MailFiles
) -> None:
    monkeypatch.setattr("time.time", lambda: NOW)
    state = Path(os.environ["XDG_STATE_HOME"]) / "signalbox" / "state.db"
    state.parent.mkdir(parents=True)
    async with opened(mail.data, state=state) as seat:
        await seat.press("p", "j", "A")
        await seat.until(lambda: len(seat.app.session.attention.shown) == 5)
        expected = [(it.kind, it.who, it.message_id) for it in seat.app.session.attention.shown]
    assert main(["attention", "--json", "--store", mail.url]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(row["trouble"], row["who"], row["message_id"]) for row in rows] == expected
    assert {"permission", "new"} <= {row["trouble"] for row in rows}
