"""What a user carries through to its end, in a terminal: small and large, in all colours and in sixteen, beside few and
many agents."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.conftest import Open
from tests.mailboxes import MailFiles, iso
from tests.terminal import Terminal

ANN, BOB, DED = "ann-00000001", "bob-00000001", "ded-00000001"
MANY = 500
"""Agents."""
SIXTEEN = {"COLORTERM": "", "TERM": "xterm-16color"}


def records(path: Path) -> list[dict[str, Any]]:
    """Return the records of a file that is being written to, without one that is not whole yet."""
    data = path.read_bytes() if path.exists() else b""
    return [json.loads(line) for line in data.split(b"\n")[:-1]]


class Place(NamedTuple):
    """A terminal with the console in it, and the mailbox that it shows."""

    terminal: Terminal
    mail: MailFiles
    waits: bool = True
    """Whether what one key sends is left to be sent when its time to be undone is over."""

    @property
    def last(self) -> dict[str, Any]:
        return records(self.mail.mailbox)[-1]

    @property
    def deeds(self) -> list[str]:
        return [it["action"] for it in records(self.mail.data / "agent-mailbox-oversight.jsonl")]

    def status(self, session_id: str) -> str:
        """Return what the roster says of an agent."""
        return [str(it["status"]) for it in records(self.mail.roster) if it["session_id"] == session_id][-1]

    def counts(self, number: int) -> None:
        """Wait until the header says how many things need attention."""
        if not number:
            self.terminal.wait_for(lambda it: "attention" not in it.lines[0])
            return
        words = (f" {number} attention", f" {number} need attention", f" {number} needs attention")
        self.terminal.wait_for(lambda it: any(each in it.lines[0] for each in words))


def write_mail(folder: Path, agents: int, channels: int) -> MailFiles:
    now = time.time()
    mail = MailFiles(folder, now=now)
    mail.agent(ANN, role="clerk", tags=["project:ink"])
    mail.agent(BOB, role="scribe", tags=["project:ink"])
    mail.agent(DED, "dead", role="scribe", ended_at=iso(now - 3600))
    for number in range(agents - 3):
        mail.agent(f"hand-{number:08}", tags=[f"project:room-{number % channels}"])
    for number in range(channels):
        talk = f"project:room-{number}", f"Words of room {number}."
        mail.message(f"room-{number}", f"hand-{number % (agents - 3):08}", *talk, ago=600 + number)
    mail.message("all-ink", ANN, "project:ink", "The ink has dried.", ago=8000, subject="Dry")
    mail.read("all-ink", BOB, ago=7900)
    mail.message("leaf", ANN, DED, "What of leaf 12?", ago=7200, subject="A leaf")
    text = "Which ink?\n\n1. The black one.\n2. The red one.\n"
    mail.message("ask", ANN, "user", text, ago=7000, subject="The ink", type="question")
    mail.message("when", BOB, "user", "When?", ago=6900, subject="The hour", type="question")
    return mail


def a_question_is_answered_by_number_or_after_all_in_words(place: Place) -> None:
    terminal = place.terminal
    place.counts(3)
    terminal.press("p")
    terminal.wait_for("Questions to you 2")
    terminal.wait_for("1 answer by number")
    terminal.press("f")
    terminal.wait_for("2. The red one.")
    terminal.press("2")
    terminal.wait_for("subject  The hour")
    terminal.wait_for("1 done")
    if place.waits:
        place.counts(2)
        terminal.wait_for(lambda it: place.last.get("thread") == "ask")
        assert place.last["metadata"] == {"choice": 2, "option": "The red one."}
        return
    terminal.press("z")
    terminal.wait_gone("1 done")
    terminal.press("k")
    terminal.wait_for("subject  The ink")
    terminal.press("r")
    terminal.wait_for("reaches ann-00000001")
    terminal.send("The red one.\x13")
    terminal.wait_for("subject  The hour")
    place.counts(2)
    assert (place.last["recipient"], place.last["thread"]) == (ANN, "ask")


def a_question_is_answered_in_words_and_the_shift_handed_over(place: Place) -> None:
    terminal = place.terminal
    terminal.press("r")
    terminal.wait_for("reaches bob-00000001")
    terminal.send("At nine.\x13")
    terminal.wait_for("1 · 2 done")
    place.counts(1)
    assert (place.last["recipient"], place.last["thread"]) == (BOB, "when")
    terminal.press("q")
    terminal.wait_for("End of the shift: 2 answered, 1 left")
    terminal.press("j")
    terminal.wait_for(lambda it: place.deeds == ["hand-over"])
    terminal.wait_for("─ All mail ─")


def what_led_to_an_answer_is_shown_at_its_moment(place: Place) -> None:
    terminal = place.terminal
    terminal.press("/")
    terminal.send("nine")
    terminal.wait_for("1 thread")
    terminal.press("enter", "P")
    terminal.wait_for("What led to it")
    terminal.wait_for("answers it")
    terminal.press("1")
    terminal.wait_for("message ")
    terminal.wait_gone("At nine.")
    terminal.press("T")
    terminal.wait_for("● live")
    terminal.press("escape", "escape")
    terminal.wait_for("─ All mail ─")


def a_dead_letter_is_redirected_taken_back_and_acknowledged(place: Place) -> None:
    terminal = place.terminal
    terminal.press("D")
    terminal.wait_for("could take over  bob-00000001")
    terminal.press(">")
    terminal.wait_for("redirect “A leaf” to bob-00000001")
    terminal.press("enter")
    terminal.wait_for("Redirected to bob-00000001 · z: undo")
    terminal.wait_for("✓ A leaf")
    place.counts(0)
    assert (place.last["recipient"], place.last["thread"], place.last["sender"]) == (BOB, "leaf", "user")
    terminal.press("z")
    terminal.wait_for("bob-00000001 that it is void")
    terminal.press("y")
    terminal.wait_gone("✓ A leaf")
    terminal.wait_for(lambda it: place.deeds == ["hand-over", "redirect", "undo"])
    place.counts(1)
    terminal.press("A")
    terminal.wait_for("Acknowledge this message?")
    terminal.press("y")
    terminal.wait_for("✓ A leaf")
    terminal.wait_for(lambda it: place.deeds == ["hand-over", "redirect", "undo", "acknowledge"])
    terminal.press("q")
    place.counts(0)
    terminal.press("L")
    for word in ("handed over", "redirected", "undone", "acknowledged"):
        terminal.wait_for(word)
    terminal.press("q")
    terminal.wait_gone("undone")


def a_misspelt_recipient_is_stopped_before_it_is_sent(place: Place) -> None:
    terminal, before = place.terminal, place.mail.mailbox.read_bytes()
    terminal.press("c")
    terminal.wait_for("─ Write ─")
    terminal.send("bbo-00000001")
    terminal.wait_for("? no agent named bbo-00000001")
    terminal.wait_for("living · scribe")
    terminal.press("escape")
    terminal.wait_gone("living · scribe")
    terminal.press("tab", "tab")
    terminal.send("The paper is dry.")
    terminal.wait_for("The paper is dry.")
    terminal.press("ctrl+s")
    terminal.wait_for('no agent is named "bbo-00000001"')
    assert place.mail.mailbox.read_bytes() == before
    terminal.press("shift+tab", "shift+tab")
    terminal.send("bob")
    terminal.wait_for("living · scribe")
    terminal.press("enter")
    terminal.wait_for("reaches bob-00000001")
    terminal.press("ctrl+t")
    terminal.wait_for("Options of this message")
    terminal.send("type:request, expires:4h\r")
    terminal.wait_gone("Options of this message")
    terminal.press("ctrl+s")
    terminal.wait_for(lambda it: place.last["content"] == "The paper is dry.")
    assert (place.last["recipient"], place.last["type"], place.last["ttl_hours"]) == (BOB, "request", 4)
    terminal.wait_gone("ctrl+e editor")  # keys that come before belong to what is written


def a_command_is_found_by_another_word(place: Place) -> None:
    terminal = place.terminal
    terminal.press(":")
    terminal.wait_for("─ Commands ─")
    terminal.send("reroute")
    terminal.wait_for("Redirect the messages to another recipient")
    terminal.press("escape")
    terminal.wait_gone("─ Commands ─")


def an_agent_is_frozen_and_taken_back(place: Place) -> None:
    terminal = place.terminal
    terminal.press("/")
    terminal.send("to:bob-00000001")
    terminal.wait_for("4 threads")
    terminal.press("enter", "H")
    terminal.wait_for("bob-00000001 (living)")
    terminal.press("f")
    terminal.wait_for("Freeze bob-00000001?")
    terminal.press("y")
    terminal.wait_for(lambda it: place.status(BOB) == "frozen")
    terminal.wait_for("z: undo")
    terminal.press("z")
    terminal.wait_for("Undo: freeze bob-00000001?")
    terminal.press("y")
    terminal.wait_for(lambda it: place.status(BOB) == "living")
    terminal.press("escape", "escape")
    terminal.wait_for("─ All mail ─")


def what_a_channel_has_read_is_said_by_member(place: Place) -> None:
    terminal = place.terminal
    terminal.press(":")
    terminal.wait_for("─ Commands ─")
    terminal.send("#ink")
    terminal.wait_for("go #ink")
    terminal.press("enter")
    terminal.wait_for("─ #ink · project:ink ─")
    terminal.press("1", "i")
    terminal.wait_for("readers  2, none with unread messages")
    terminal.press("escape")
    terminal.wait_gone("readers  2")


STORIES: list[Callable[[Place], None]] = [
    a_question_is_answered_by_number_or_after_all_in_words,
    a_question_is_answered_in_words_and_the_shift_handed_over,
    what_led_to_an_answer_is_shown_at_its_moment,
    a_dead_letter_is_redirected_taken_back_and_acknowledged,
    a_misspelt_recipient_is_stopped_before_it_is_sent,
    a_command_is_found_by_another_word,
    an_agent_is_frozen_and_taken_back,
    what_a_channel_has_read_is_said_by_member,
]


@pytest.mark.parametrize(
    ("size", "agents", "channels", "colours"),
    [
        ((80, 24), 12, 3, {}),
        ((200, 60), MANY, 200, {}),
        ((80, 24), MANY, 200, SIXTEEN),
    ],
    ids=["small", "large", "sixteen-colours"],
)
def test_stories_end_well(
    size: tuple[int, int],
    agents: int,
    channels: int,
    colours: dict[str, str],
    tmp_path: Path,
    home: Path,
    open_console: Open,
) -> None:
    mail = write_mail(tmp_path / "box", agents, channels)
    (home / ".config" / "signalbox").mkdir(parents=True)
    (home / ".config" / "signalbox" / "config.toml").write_text("[send]\nundo_seconds = 0\n")
    place = Place(open_console(mail.url, size=size, **colours), mail, waits=agents < MANY)
    place.terminal.wait_for("● live")
    for story in STORIES:
        story(place)
    place.terminal.press("ctrl+q")
    assert place.terminal.wait_exit() == 0


def test_a_question_to_an_agent_that_ended_is_one_row_until_it_is_redirected(
    tmp_path: Path, open_console: Open
) -> None:
    mail = write_mail(tmp_path, 4, 1)
    mail.message("which", ANN, DED, "Which?", ago=7100, subject="Which leaf", type="question")
    place = Place(open_console(mail.url, size=(120, 40)), mail)
    terminal = place.terminal
    place.counts(4)
    terminal.press("p")
    terminal.wait_for("question · recipient ended")
    assert sum("Which leaf " in line for line in terminal.lines) == 1
    terminal.press("j", "j")
    terminal.wait_for("could take over  bob-00000001")
    terminal.press(">")
    terminal.wait_for("Redirect this message to")
    terminal.press("enter")
    terminal.wait_for("Redirected to bob-00000001 · z: undo")
    terminal.press("q")
    place.counts(3)
