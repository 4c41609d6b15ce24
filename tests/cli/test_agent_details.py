"""`signalbox agents AGENT` and `agents --json`: what a mailbox says of its agents."""

from __future__ import annotations

from tests.cli.conftest import Run
from tests.console.test_agent_details import ANN, mail
from tests.kinds.agentazall.agentazall_mail import AgentAZAllMail, identity

__all__ = ["mail"]


def test_one_agent_is_described(mail: AgentAZAllMail, run: Run) -> None:
    store = f"agentazall:{mail.root}"
    said = run("agents", ANN, "--store", store).out
    assert f"agent        {ANN}" in said
    assert "who am I     I am Ann.\n             ␛]0;owned␇" in said
    assert "⚠ other users" in said
    rows = {row["session_id"]: row for row in run("agents", "--json", "--store", store).document}
    [shown] = [fact for fact in rows[ANN]["facts"] if fact["name"] == "who am I"]
    assert shown["source"].startswith(f"{ANN}/2026-11-20/who_am_i")
    assert any(fact["warning"] for fact in rows[ANN]["facts"])
    assert identity(3).seed.hex() not in said + str(rows)
    assert "is not registered" in run("agents", "nobody", "--store", store).err
