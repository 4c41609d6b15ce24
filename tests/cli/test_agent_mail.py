"""What a person sees of MCP Agent Mail's database, and of its archive alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from console.settings.config import config_folder
from tests.cli.conftest import Run
from tests.kinds.agent_mail.servers import Server
from tests.mailstore.owners import snapshot
from tests.servers.agent_mail import AgentMailServer

REAL = Path(__file__).parents[1] / "fixtures" / "agent-mail"


@pytest.mark.parametrize("path", [REAL, REAL / "storage.sqlite3", REAL / "archive"], ids=["folder", "file", "archive"])
def test_the_threads_of_a_server_are_listed(run: Run, path: Path) -> None:
    before = snapshot(REAL)
    rows = run("threads", "--store", f"agent-mail:{path}", "--json").document
    assert [(row["subject"], row["messages"]) for row in rows] == [("Broadcast", 1), ("Review request: receipts", 2)]
    assert snapshot(REAL) == before


def test_an_agent_s_mail_is_read_with_what_is_still_unread(run: Run) -> None:
    rows = run("read", "--as", "BlueDog", "--json", "--store", REAL).document
    assert [row["subject"] for row in rows] == ["Review request: receipts", "Broadcast"]
    rows = run("read", "--as", "BlueDog", "--unread", "--json", "--store", REAL).document
    assert [row["subject"] for row in rows] == ["Broadcast"]


def test_sending_is_refused_with_the_reason(run: Run) -> None:
    result = run("send", "--from", "user", "--to", "BlueDog", "--body", "x", "--store", REAL)
    assert (result.status != 0, result.out) == (True, "")
    assert "only its server writes there" in result.err


def test_mail_is_sent_and_acknowledged_through_the_server_that_the_settings_name(
    run: Run, tmp_path: Path, agent_mail_server: AgentMailServer
) -> None:
    database = Server(tmp_path / "mail" / "storage.sqlite3")
    database.make()
    number = database.message("GreenLake", ["BlueDog", "HumanOverseer"], subject="Q", body_md="?", ack_required=1)
    database.close()
    words = ("--store", f"agent-mail:{database.path}")
    with agent_mail_server.serving(database.path) as mail:
        secret = tmp_path / "token"
        secret.write_text(mail.token, "utf-8")
        secret.chmod(0o600)
        settings = config_folder()
        settings.mkdir(parents=True)
        (settings / "config.toml").write_text(
            f'[agent_mail]\nurl = "{agent_mail_server.url}"\nsecret_file = "{secret}"\n', "utf-8"
        )
        sent = run("send", "--from", "user", "--to", "BlueDog", "--body", "Hello.", *words)
        assert (sent.status, sent.err) == (0, "")
        marked = run("mark-read", "--as", "user", str(number), "--acknowledge", *words)
        assert marked.out == "Marked 1 as read by user, acknowledged 1\n"
        assert [row["subject"] for row in run("read", "--as", "BlueDog", "--json", *words).document] == ["Q", "Hello."]
        assert mail.token not in run("config", "show").out


def test_acknowledging_says_where_it_is_not_known(run: Run, tmp_path: Path) -> None:
    done = run("mark-read", "--as", "user", "--all", "--acknowledge", "--store", REAL)
    assert done.status == 0
    done = run("mark-read", "--as", "BlueDog", "--all", "--acknowledge", "--store", REAL)
    assert "set url in [agent_mail] of config.toml" in done.err


def test_the_overseer_goes_by_the_name_that_the_server_gives(run: Run) -> None:
    rows = run("read", "--as", "user", "--json", "--store", REAL).document
    assert run("read", "--as", "HumanOverseer", "--json", "--store", REAL).document == rows
