"""Read the session behind a message: the turn of its transcript that sent or read it, and what was said around."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.visual import Visual

from console.commands.table import BY_ID
from console.panes.facts import FactPage, Row
from console.render.safe import visible, visible_line
from console.render.short_text import clock, plural
from console.screens.agent_terminal import AgentTerminal
from console.screens.mail_screen import MailScreen
from console.screens.menu import Menu, MenuChoice
from console.screens.viewer import Viewer
from mailstore.errors import StoreError
from mailstore.records.details import SessionTurn, Speaker, TranscriptPlace
from mailstore.records.message import Message

LONGEST = 4000
"""Characters of a turn that are shown."""
WHO = {Speaker.USER: "you", Speaker.AGENT: "agent", Speaker.SESSION: "session", Speaker.PROGRAM: "program"}
STYLES = {Speaker.USER: "$accent", Speaker.SESSION: "$warning", Speaker.PROGRAM: "$muted"}
CALL = "▸"


class TranscriptViewer(Viewer):
    """Shows turns, the one that was looked for at the top."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "copy_command", "copy the command that resumes it"),
        Binding("p", "terminal", "go to its terminal"),
    ]

    def __init__(self, place: TranscriptPlace, turns: Sequence[SessionTurn], now: float, keys: str) -> None:
        self._rows = turn_rows(turns, now)
        self._sought = next((at for at, turn in enumerate(turns) if turn.is_sought), len(turns) - 1)
        super().__init__(f"{visible_line(place.agent)} {place.did} it", FactPage(self._rows), keys)
        self.place = place
        self.wants_terminal: Callable[[], None] | None = None

    def on_mount(self) -> None:
        """Go to the turn that was looked for."""
        self.query_one("#viewer").border_subtitle = "y: copy its resume command · p: its terminal · Esc: close"
        self.call_after_refresh(self._go_to_sought)

    def _go_to_sought(self) -> None:
        page = self.page
        before = FactPage(self._rows[: max(0, self._sought)])
        lines = Visual.to_strips(page, before, page.scrollable_content_region.width, None, page.visual_style)
        page.scroll_to(y=len(lines), animate=False)

    def action_copy_command(self) -> None:
        """Copy the command line that continues the session."""
        command = resume_command(self.place)
        self.app.copy_to_clipboard(command)
        self.query_one("#viewer").border_subtitle = f"Copied: {visible_line(command)}"

    def action_terminal(self) -> None:
        """Go to the terminal in which the session runs."""
        if self.wants_terminal is not None:
            self.wants_terminal()
        self.dismiss()


def resume_command(place: TranscriptPlace) -> str:
    """Return the command line that continues a session, in its folder."""
    command = shlex.join(place.resume)
    return f"cd {shlex.quote(place.folder)} && {command}" if place.folder else command


def turn_rows(turns: Sequence[SessionTurn], now: float) -> list[Row]:
    """Return turns as rows, with room for the longest of their times."""
    times = [clock(turn.time, now) if turn.time is not None else "" for turn in turns]
    room = max(map(len, times), default=0)
    return [turn_row(turn, f"{time:>{room}}") for turn, time in zip(turns, times, strict=True)]


def turn_row(turn: SessionTurn, time: str) -> Row:
    """Return a turn as a row: when and who, and what was said, with a line for each call of a tool."""
    mark = "▎" if turn.is_sought else " "
    label = Content.assemble((mark, "$accent"), (f"{time} {WHO[turn.speaker]:<8}", "$muted"))
    text = turn.text[:LONGEST]
    parts: list[tuple[str, str]] = [(visible(text), STYLES.get(turn.speaker, ""))] if text else []
    if len(turn.text) > LONGEST:
        parts.append((f"\n… {plural(len(turn.text) - LONGEST, 'more character')}", "$muted"))
    for tool in turn.tools:
        parts.append((f"{chr(10) if parts else ''}{CALL} {visible_line(tool)}", "$muted"))
    return label, Content.assemble(*parts, "\n")


class Transcripts:
    """Shows the transcripts of a message's sender and readers."""

    def __init__(self, screen: MailScreen) -> None:
        self._screen = screen

    def show(self) -> None:
        """Show the turn that sent or read the message; ask which, where both are here."""
        if (message := self._screen.selected_message()) is not None:
            self._screen.run_task(self._show(message), group="record", exclusive=True)

    async def _show(self, message: Message) -> None:
        screen, session = self._screen, self._screen.session
        try:
            places = await asyncio.to_thread(session.store.transcripts, message)
            if not places:
                screen.tell("No transcript of a session that sent or read it is here")
                return
            chosen = 0
            if len(places) > 1:
                choices = [
                    MenuChoice(str(at), f"{transcript_place.agent} {transcript_place.did} it", transcript_place.file)
                    for at, transcript_place in enumerate(places[:9], 1)
                ]
                answer = await screen.ask_and_wait(Menu("Which session?", choices, screen.text_styles))
                if answer is None:
                    return
                chosen = answer
            place = places[chosen]
            turns = await asyncio.to_thread(session.store.turns, place)
        except StoreError as error:
            screen.report(error)
            return
        keys = BY_ID["transcript"].keys_in(session.keymap)
        viewer = TranscriptViewer(place, turns, session.now(), keys)
        viewer.wants_terminal = lambda: AgentTerminal(screen).go(place.agent)
        screen.ask(viewer, lambda _: None)
