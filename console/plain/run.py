"""Opens a mailbox without a screen and does what is typed, a line at a time."""

from __future__ import annotations

from console.cli.plain import put
from console.plain.commands import PlainDesk, read_line
from console.plain.news import News
from console.render.safe import visible_line
from console.session import Session


def run_plain(session: Session) -> int:
    """Read the mailbox, greet, and take commands until the user leaves; return the exit status."""
    session.mailbox.fold(session.personal.load(), session.now())
    for batch in session.store.scan():
        session.mailbox.fold(batch, session.now())
    session.is_loading = False
    news = News(session.store)
    desk = PlainDesk(session, news, read_line)
    put(visible_line(f"Signalbox on {session.store.title}. Type help for the commands, quit to leave."))
    desk.run("status")
    try:
        while not desk.is_left:
            desk.tell_news()
            line = ask("> ")
            if line is None:
                break
            desk.run(line)
    finally:
        news.close()
    return 0


def ask(prompt: str) -> str | None:
    """Ask for a line; an interrupt gives up what was typed, and no more."""
    try:
        return read_line(prompt)
    except KeyboardInterrupt:
        put("")
        return ""
