"""MCP Agent Mail in the console: sent, answered and acknowledged through its server; a draft stays where it fails."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.console.screen_text import opened
from tests.kinds.agent_mail.servers import Server
from tests.servers.agent_mail import AgentMailServer
from tests.servers.agent_mail_tools import ServedMail
from tests.servers.bad_http import BadServer

NOW = 1_773_662_500.0
SIZE = (140, 40)


@pytest.fixture
def mail(tmp_path: Path, agent_mail_server: AgentMailServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[ServedMail]:
    database = Server(tmp_path / "mail" / "storage.sqlite3")
    database.make()
    database.message("GreenLake", ["HumanOverseer"], subject="Which branch?", body_md="main?", ack_required=1)
    database.close()
    monkeypatch.setenv("SIGNALBOX_AGENT_MAIL_URL", agent_mail_server.url)
    with agent_mail_server.serving(database.path) as served:
        monkeypatch.setenv("SIGNALBOX_AGENT_MAIL_TOKEN", served.token)
        yield served


async def test_a_message_is_read_acknowledged_and_answered(mail: ServedMail, tmp_path: Path) -> None:
    async with opened(f"agent-mail:{mail.database.path}", state=tmp_path / "state.db", now=NOW, size=SIZE) as seat:
        await seat.sees("unacknowledged:user")
        await seat.press("2", "enter", "I")
        await seat.until(lambda: seat.notice == "Acknowledged: GreenLake can see it")
        await seat.until(lambda: "unacknowledged:user" not in seat.text)
        await seat.press("I")
        await seat.until(lambda: seat.notice == "You have acknowledged this before")
        await seat.press("r")
        await seat.type("The usual one.")
        await seat.press("ctrl+s")
        await seat.until(lambda: seat.notice == "Sent")
        await seat.sees("The usual one.")
    assert mail.calls[-2:] == ["whois", "send_message"]
    assert "acknowledge_message" in mail.calls


async def test_where_the_server_fails_that_is_said_and_the_draft_stays(
    mail: ServedMail, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with BadServer("half") as bad:
        monkeypatch.setenv("SIGNALBOX_AGENT_MAIL_URL", f"http://127.0.0.1:{bad.port}/mcp/")
        async with opened(f"agent-mail:{mail.database.path}", state=tmp_path / "state.db", now=NOW, size=SIZE) as seat:
            await seat.press("2", "enter", "I")
            await seat.sees("Not acknowledged")
            await seat.sees("nothing was acknowledged, as the server at")
            await seat.press("escape", "r")
            await seat.type("Kept.")
            await seat.press("ctrl+s")
            await seat.sees("Not sent")
            assert seat.screen.composer.writing.body == "Kept."
    assert mail.calls == []
