"""A console in a terminal while others write: processes, agents, a second console, a disk that goes away."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from console.demo.history import write_history
from console.demo.run import simulated
from console.state.personal_state import PersonalState
from tests.conftest import Open
from tests.console.touring import Tourist, folded
from tests.mailboxes import MailFiles
from tests.patience import PATIENCE
from tests.terminal import SIGNALBOX, Terminal, environment

LIST = slice(26, 66)
PARCELS = 5
APPEND = "import sys; open(sys.argv[1], 'ab').write(sys.stdin.buffer.read())"
HOSTILE = "\x1b]0;owned\x07\x1b[2J\x1b[31mred \x9b2J \u202eover [bold]b[/bold] [/] [@click=app.quit]here[/] end"


@pytest.fixture
def mail(tmp_path: Path) -> MailFiles:
    mail = MailFiles(tmp_path, now=time.time())
    mail.agent("ann-00000001", role="architect", tags=["project:ink"])
    mail.agent("bob-00000001", role="librarian", tags=["project:ink"])
    for number in range(30):
        mail.message(
            f"m-{number:02}",
            "ann-00000001",
            "bob-00000001",
            f"Body {number:02}.",
            ago=9000 - number,
            subject=f"Subject {number:02}",
        )
    return mail


def from_elsewhere(mail: MailFiles, subject: str, sender: str = "bob-00000001", to: str = "ann-00000001") -> None:
    """Let another process append a message."""
    record = {
        "id": f"id of {subject}",
        "sender": sender,
        "recipient": to,
        "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "subject": subject,
        "content": f"The text of {subject}.",
    }
    line = json.dumps(record).encode() + b"\n"
    subprocess.run([sys.executable, "-c", APPEND, mail.mailbox], input=line, check=True, timeout=PATIENCE)


def under_the_cursor(terminal: Terminal) -> str:
    """Return the first line of the row that is drawn unlike the others."""
    backgrounds = [terminal.cell(LIST.start + 4, y).bg for y in range(2, terminal.size[1] - 2)]
    usual = Counter(backgrounds).most_common(1)[0][0]
    y = next(at for at, background in enumerate(backgrounds) if background != usual)
    return terminal.line(y + 2)


def test_mail_from_another_process_does_not_move_the_selection(mail: MailFiles, open_console: Open) -> None:
    terminal = open_console(mail.url)
    tourist = Tourist(terminal, mail.url)
    tourist.arrive()
    for number in (28, 27, 26):
        terminal.press("j")
        tourist.sees_title(f"Subject {number}")
    for name in ("Arrival one", "Arrival two"):
        from_elsewhere(mail, name)
        terminal.wait_for(name)
    tourist.sees_title("Subject 26")
    assert "Subject 26" in under_the_cursor(terminal)
    terminal.press("j")
    tourist.sees_title("Subject 25")
    terminal.press("G")
    tourist.sees_title("Subject 00")
    top = terminal.line(2)[LIST]
    from_elsewhere(mail, "Arrival three")
    terminal.wait_for("33 messages")
    tourist.sees_title("Subject 00")
    assert "Subject 00" in under_the_cursor(terminal)
    assert terminal.line(2)[LIST] == top
    terminal.press("g")
    terminal.wait_for("Arrival three")


def test_two_consoles_agents_and_a_command_share_a_mailbox(tmp_path: Path, home: Path, open_console: Open) -> None:
    write_history(tmp_path / "data", time.time(), 1)
    url = f"haak:{tmp_path / 'data'}"
    before = folded(url)
    consoles = [open_console(url, size=(160, 40)) for _ in range(2)]
    for terminal in consoles:
        Tourist(terminal, url).arrive()
    with simulated(tmp_path, 1, speed=20.0):
        for number in range(PARCELS):
            subject = f"Parcel {number:02}"
            sightings = [terminal.watch(subject) for terminal in consoles]
            argv = [*SIGNALBOX, "send", "--store", url, "--from", "scribe-2", "--to", "all", "--subject", subject]
            done = subprocess.run(
                [*argv, "--body", f"parcelword{number:02}"],
                env=environment(home),
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
            assert done.returncode == 0, done.stderr
            for sighting in sightings:
                sighting.wait()
            for terminal in consoles:
                terminal.press("g")
    after = folded(url)
    assert len(after) > len(before) + PARCELS, "the agents wrote nothing"
    assert len(after.problems) == len(before.problems)
    for terminal in consoles:
        terminal.wait_for(f"{after.counts().messages} messages")
        tourist = Tourist(terminal, url)
        tourist.open_bar("/")
        for number in range(PARCELS):
            terminal.send(f"parcelword{number:02}")
            tourist.sees_notice(f"1 thread for parcelword{number:02} ")
            terminal.press("ctrl+u")
            terminal.wait_for("search: words")
    lines = (tmp_path / "data" / "agent-mailbox.jsonl").read_bytes()
    for number in range(PARCELS):
        assert lines.count(b'"parcelword%02d"' % number) == 1


def journal(mail: MailFiles) -> list[dict[str, object]]:
    return [json.loads(line) for line in (mail.data / "agent-mailbox-oversight.jsonl").read_bytes().splitlines()]


def test_stepping_in_is_in_the_file_and_in_the_journal(mail: MailFiles, open_console: Open) -> None:
    terminal = open_console(mail.url)
    tourist = Tourist(terminal, mail.url)
    tourist.arrive()
    terminal.press("r")
    terminal.wait_for("Step in → ann-00000001, bob-00000001")
    terminal.wait_for("reaches")
    terminal.send("Keep the old field, please.")
    terminal.wait_for("5 words")
    terminal.press("ctrl+s")
    tourist.sees_notice("Sent, and recorded in the journal")
    terminal.wait_for("31 messages")
    terminal.wait_for("user → ann-00000001, bob-00000001")
    sent = json.loads(mail.mailbox.read_bytes().splitlines()[-1])
    assert (sent["sender"], sent["content"], sent["thread"]) == ("user", "Keep the old field, please.", "m-29")
    assert sorted(sent["recipient"]) == ["ann-00000001", "bob-00000001"]
    (noted,) = journal(mail)
    assert (noted["action"], noted["message_id"], noted["actor"]) == ("intervene", sent["id"], "user")


def test_a_draft_outlives_a_sudden_death(mail: MailFiles, home: Path, open_console: Open) -> None:
    terminal = open_console(mail.url)
    Tourist(terminal, mail.url).arrive()
    terminal.press("r")
    terminal.wait_for("reaches")
    terminal.send("Half a thought")
    terminal.wait_for("3 words")
    kept = PersonalState(home / ".local" / "state" / "signalbox" / "state.db")
    terminal.wait_for(
        lambda _: any(it.body == "Half a thought" for it in kept.drafts(f"haak:{mail.mailbox.resolve()}").values())
    )
    kept.close()
    terminal.signal(signal.SIGKILL)
    assert terminal.wait_exit() == -signal.SIGKILL
    again = open_console(mail.url)
    again.wait_for("1 draft")
    again.wait_for("Half a thought")
    again.wait_for("3 words")
    assert len(mail.mailbox.read_bytes().splitlines()) == 30


def colours(terminal: Terminal) -> set[str]:
    """Return the colours in sight that are no shade of grey, by name or digits."""
    columns, lines = terminal.size
    cells = [terminal.cell(x, y) for y in range(lines) for x in range(columns)]
    shown = {colour for cell in cells for colour in (cell.fg, cell.bg)} - {"default"}
    return {colour for colour in shown if len({colour[:2], colour[2:4], colour[4:]}) > 1}


def test_without_colour_everything_is_told_by_words_and_glyphs(mail: MailFiles, open_console: Open) -> None:
    coloured = open_console(mail.url)
    Tourist(coloured, mail.url).arrive()
    plain = open_console(mail.url, NO_COLOR="1")
    Tourist(plain, mail.url).arrive()
    assert colours(coloured)
    assert colours(plain) == set()
    for words in ("● live", "? ann-00000001", "▌Subject 29", "○ unread by bob-00000001"):
        plain.wait_for(words)


@pytest.mark.parametrize("what", ["the folder", "the file"])
def test_a_mailbox_that_goes_away_and_comes_back(what: str, mail: MailFiles, open_console: Open) -> None:
    terminal = open_console(mail.url)
    Tourist(terminal, mail.url).arrive()
    terminal.wait_for("● live")
    here = mail.data if what == "the folder" else mail.mailbox
    there = here.with_name("away")
    here.rename(there)
    if what == "the folder":
        terminal.wait_for("✕ cut off since")
        terminal.wait_for("Subject 29")
    else:
        terminal.wait_for(" 0 messages")
    there.rename(here)
    terminal.wait_for("● live  30 messages")
    from_elsewhere(mail, "Back again")
    terminal.wait_for("Back again")
    terminal.wait_for("31 messages")


def test_hostile_text_is_shown_and_never_obeyed(mail: MailFiles, open_console: Open) -> None:
    mail.agent("eve\x1b[2J[/]", role="[red]\x07", tags=["project:[bold]\x1b[7m"])
    mail.message("bad\x1b[3J", "eve\x1b[2J[/]", "project:[bold]\x1b[7m", HOSTILE, ago=0, subject=f"Look {HOSTILE}")
    terminal = open_console(mail.url)
    tourist = Tourist(terminal, mail.url)
    tourist.arrive()
    terminal.wait_for("eve␛[2J[/] → #[bold]␛[7m")
    terminal.wait_for("Look ␛]0;owned␇␛[2J␛[31mred ⟦U")
    tourist.look_up("i", "bad␛[3J", "eve␛[2J[/]", "⟦U+202E⟧over [bold]b[/bold] [/]")
    tourist.look_up("o", "[@click=app.quit]here[/]")
    tourist.go("1")
    terminal.press("G")
    terminal.wait_for("eve␛[2J[/]")
    terminal.press("c")
    terminal.wait_for("╭─ Write")
    terminal.press("escape")
    terminal.wait_gone("╭─ Write")
    assert b"\x1b[31mred" not in terminal.raw
    assert "owned" not in terminal.output.title
    assert terminal.output.bells == 0
    assert terminal.output.copied == []
    tourist.quit()
