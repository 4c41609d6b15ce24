"""What is known about an agent: on a page of the console, and by the command `agents`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mailstore.state.views import View
from tests.console.screen_text import opened
from tests.kinds.agentazall.agentazall_mail import DAY, AgentAZAllMail, identity
from tests.mailboxes import MailFiles

NOW = 1_795_300_000.0
ANN = "ann@localhost"
HOSTILE = "I am Ann.\n\x1b]0;owned\x07[bold red]The clerk.[/]"


@pytest.fixture
def mail(tmp_path: Path) -> AgentAZAllMail:
    mail = AgentAZAllMail(tmp_path / "mail")
    mail.message(f"{ANN}/inbox", "m", Subject="A message")
    mail.put(f"{ANN}/{DAY}/who_am_i/identity.txt", HOSTILE.encode())
    mail.put(f"{ANN}/.identity_key", json.dumps({"private_key_hex": identity(3).seed.hex()}).encode()).chmod(0o644)
    return mail


async def test_the_page_shows_what_the_mailbox_says_as_text(mail: AgentAZAllMail, tmp_path: Path) -> None:
    async with opened(f"agentazall:{mail.root}", state=tmp_path / "state.db", now=NOW, size=(120, 40)) as seat:
        await seat.press("1")
        await seat.press("i")
        await seat.until(lambda: seat.notice == "Select an agent first")
        seat.screen.show_view(View("agent", ANN))
        await seat.press("1", "i")
        await seat.sees("╭─ Agent")
        assert f"agent  {ANN}" in seat.text
        assert "who am I  I am Ann." in seat.text
        assert "␛]0;owned␇[bold red]The clerk.[/]" in seat.text
        assert "other users of this machine can read its private key" in seat.text
        assert identity(3).seed.hex() not in seat.text
        await seat.press("i")
        await seat.until(lambda: "╭─ Agent" not in seat.text)


async def test_an_agent_of_another_kind_has_its_roster_entry(tmp_path: Path) -> None:
    mail = MailFiles(tmp_path)
    mail.agent("ann-00000001", role="clerk", tags=["project:ink"])
    mail.message("m", "bob-00000001", "ann-00000001", "Hello.", ago=60)
    async with opened(mail.data, state=tmp_path / "state.db", size=(100, 30)) as seat:
        seat.screen.show_view(View("agent", "ann-00000001"))
        await seat.press("1", "i")
        await seat.sees("role  clerk")
        assert "tags  project:ink" in seat.text
        assert "unread  1" in seat.text


async def test_a_search_finds_what_agents_remember(mail: AgentAZAllMail, tmp_path: Path) -> None:
    mail.put(f"{ANN}/{DAY}/remember/oil.txt", b"Oil is dear.\n\x1b[31mThe lamps need it.")
    mail.put(f"{ANN}/2026-11-19/notes/plan.txt", b"Buy lamps.")
    async with opened(f"agentazall:{mail.root}", state=tmp_path / "state.db", now=NOW, size=(120, 40)) as seat:
        await seat.press("slash", *"lamps")
        await seat.sees("0 messages · 2 in agent notes")
        assert "2 found in agent notes." in seat.text
        await seat.press("enter", "S")
        await seat.sees("2 agent notes")
        assert f"{DAY}  {ANN}  memory: oil" in seat.text
        assert "␛[31mThe lamps need it." in seat.text
        await seat.press("j", "enter")
        await seat.sees("╭─ Note")
        assert "note" in seat.text
        assert "Buy lamps." in seat.text
        await seat.press("escape")
        await seat.sees("2 agent notes")
        await seat.press("S", "escape", "S")
        await seat.sees("3 agent notes")  # without a search, all of them
        await seat.press("q", "slash", *"dear")
        await seat.sees("1 in agent notes")


async def test_a_mailbox_whose_agents_keep_no_notes_says_so(tmp_path: Path) -> None:
    mail = MailFiles(tmp_path)
    mail.message("m", "bob-00000001", "ann-00000001", "Hello.", ago=60)
    async with opened(mail.data, state=tmp_path / "state.db", size=(100, 30)) as seat:
        await seat.press("S")
        await seat.until(lambda: seat.notice == "No agent notes in this mailbox")
        await seat.press("slash", *"Hello")
        await seat.sees("1 message")
        assert "agent notes" not in seat.screen.threads.border_subtitle
