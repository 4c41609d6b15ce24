"""The command `attachments`: what is attached to a message, and how it is saved."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Run
from tests.console.test_attachments import mail
from tests.kinds.agentazall.agentazall_mail import AgentAZAllMail

__all__ = ["mail"]


def test_the_command_lists_and_saves_them(mail: AgentAZAllMail, tmp_path: Path, run: Run) -> None:
    store = f"agentazall:{mail.root}"
    listed = run("attachments", "m", "--store", store)
    assert "report.txt" in listed.out
    assert "10 bytes" in listed.out
    assert "\x1b" not in listed.out
    target = tmp_path / "target"
    target.mkdir()
    saved = run("attachments", "m", "report.txt", "--save", str(target), "--json", "--store", store).document
    assert [(row["name"], row["saved"]) for row in saved] == [("report.txt", str(target / "report.txt"))]
    assert run("attachments", "m", "--save", str(target), "--store", store).status == 1
    assert len(list(target.iterdir())) == 4
    assert "no file" in run("attachments", "m", "x", "--store", store).err
    assert "is not a folder" in run("attachments", "m", "--save", "/nowhere", "--store", store).err
    assert "No files" in run("attachments", "bare", "--store", store).out
